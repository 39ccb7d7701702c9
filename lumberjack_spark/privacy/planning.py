"""From a budget and the shape of a forest to the plan of all its noise.

Adjacency  "add_remove" or "replace_one" rows, see PROOF.md.
Units      epsilon in nats; counts in rows.
Safe side  a plan stores what was evaluated; one that cannot be certified is refused.
"""

from lumberjack_spark.privacy import cache
from lumberjack_spark.privacy.calibration import calibrate
from lumberjack_spark.privacy.paper_plan import plan_theorem6
from lumberjack_spark.privacy.plan import Neighbors, NoisePlan
from lumberjack_spark.privacy.release import DEFAULT_CLASSES
from lumberjack_spark.privacy.request import Accountant, LeafMode, PlanRequest, Threshold


def make_plan(
    *,
    epsilon: float,
    delta: float,
    num_trees: int,
    max_depth: int,
    leaf_mode: LeafMode = "proportions",
    accountant: Accountant = "exact",
    threshold: Threshold = "table",
    min_exact_count: int,
    leaf_share: float,
    marginal_share: float,
    histograms: int = 0,
    structure_fraction: float = 0.75,
    neighbors: Neighbors = "add_remove",
    num_classes: int = DEFAULT_CLASSES,
) -> NoisePlan:
    """Plan the noise of one fit so that its whole release is (epsilon, delta)-DP.

    Args:
        epsilon: in nats; finite and > 0.
        delta: in (0, 1).
        num_trees: k, 1 to 10000.
        max_depth: h, split nodes on a longest path, 1 to 126.
        leaf_mode: "proportions" or "majority".
        accountant: "exact" or "theorem6".
        threshold: "table" or "gaussian"; theorem6 knows "gaussian" only.
        min_exact_count: c0; nodes with so few rows are never kept, and the threshold rises by it.
        leaf_share: part of the spending (about mu^2) of the leaves; exact accountant only.
        marginal_share: part of the marginals; with theorem6, their part of epsilon and delta by
            basic composition. 0 for no marginals.
        histograms: marginals that one row is in a cell of.
        structure_fraction: part of the remaining epsilon and delta for the trees; theorem6 only.
        neighbors: "add_remove" or "replace_one".
        num_classes: number of classes, or more; counts for the rounding of drawn labels.

    Returns:
        The plan.

    Raises:
        BudgetError: an argument is outside its range (NaN is outside every range), or no safe
            plan can be found for the budget.
    """
    request = PlanRequest(
        epsilon=epsilon,
        delta=delta,
        num_trees=num_trees,
        max_depth=max_depth,
        leaf_mode=leaf_mode,
        accountant=accountant,
        threshold=threshold,
        min_exact_count=min_exact_count,
        leaf_share=leaf_share,
        marginal_share=marginal_share,
        histograms=histograms,
        structure_fraction=structure_fraction,
        neighbors=neighbors,
        num_classes=num_classes,
    )
    found = cache.load(request)
    if found is None:
        found = plan_theorem6(request) if accountant == "theorem6" else calibrate(request)
        cache.store(request, found)
    return found.to_plan(request)
