"""Plans by the paper's accounting: Theorem 6 for the trees, zCDP for leaves and marginals.

Adjacency  add or remove one row.
Units      epsilon in nats; counts in rows.
Source     the paper's Theorem 6, Lemma 9 and Appendix J; basic composition of the parts.
"""

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.bit_tables import gaussian_bit_table
from lumberjack_spark.privacy.plan import (
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
    NoisePlan,
)
from lumberjack_spark.privacy.request import PlanRequest
from lumberjack_spark.privacy.theorem6 import calibrate_theorem6
from lumberjack_spark.privacy.zcdp import exponential_eta, gaussian_sigma, zcdp_rho


def plan_from_theorem6(request: PlanRequest) -> NoisePlan:
    """Plan by basic composition of marginals, trees and leaves.

    The marginals get marginal_share of epsilon and delta; of the rest, the trees get
    structure_fraction and the leaves what remains.

    Raises:
        BudgetError: the request asks for what the paper's accounting does not cover.
    """
    if request.threshold != "gaussian" or request.neighbors != "add_remove":
        raise BudgetError(
            "accountant='theorem6' must go with threshold='gaussian' and neighbors='add_remove', "
            f"got {request.threshold!r} and {request.neighbors!r}; use accountant='exact'"
        )
    rest = 1 - request.marginal_share
    trees = rest * request.structure_fraction
    sigma, gap = calibrate_theorem6(
        trees * request.epsilon, trees * request.delta, request.questions
    )
    part = rest * (1 - request.structure_fraction)
    rho = zcdp_rho(part * request.epsilon, part * request.delta)
    leaves: GaussianLeaves | ExponentialLeaves
    if request.leaf_mode == "proportions":
        leaves = GaussianLeaves(gaussian_sigma(rho, request.num_trees))
    else:
        leaves = ExponentialLeaves(exponential_eta(rho, request.num_trees))
    return NoisePlan(
        bits=gaussian_bit_table(sigma=sigma, gap=gap, minimum_count=request.min_exact_count),
        leaves=leaves,
        marginals=_marginals(request),
        guarantee=request.guarantee,
        certified_delta=request.delta,
        accountant="theorem6",
        num_trees=request.num_trees,
        max_depth=request.max_depth,
        questions=request.questions,
        notes={
            "threshold": "gaussian",
            "sigma": sigma,
            "gap": gap,
            "structure_fraction": request.structure_fraction,
            "marginal_share": request.marginal_share,
            "leaf_rho": rho,
        },
    )


def _marginals(request: PlanRequest) -> GaussianMarginals | None:
    """Marginals paid with their share of epsilon and delta, through zCDP."""
    share = request.marginal_share
    if share == 0:
        return None
    rho = zcdp_rho(share * request.epsilon, share * request.delta)
    return GaussianMarginals(gaussian_sigma(rho, request.histograms), request.histograms)
