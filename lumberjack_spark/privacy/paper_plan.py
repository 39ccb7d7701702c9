"""Plans by the paper's accounting: Theorem 6 for the trees, zCDP for leaves and marginals.

Adjacency  add or remove one row.
Units      epsilon in nats; counts in rows.
Source     the paper's Theorem 6, Lemma 9 and Appendix J; basic composition of the parts.
Safe side  the finished release is put through the game as well, and refused if the game disagrees.
"""

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.bit_tables import gaussian_bit_table
from lumberjack_spark.privacy.budget_cap import spendable_epsilon
from lumberjack_spark.privacy.certified import NO_BITS, CertifiedRelease
from lumberjack_spark.privacy.plan import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
)
from lumberjack_spark.privacy.release import Release, release_delta
from lumberjack_spark.privacy.request import PlanRequest
from lumberjack_spark.privacy.theorem6 import calibrate_theorem6
from lumberjack_spark.privacy.zcdp import exponential_eta, gaussian_sigma, zcdp_rho


def plan_theorem6(request: PlanRequest) -> CertifiedRelease:
    """Noise by basic composition of marginals, trees and leaves, checked by the game.

    The marginals get marginal_share of epsilon and delta; of the rest, the trees get
    structure_fraction and the leaves what remains.

    Raises:
        BudgetError: the request asks for what the paper's accounting does not cover, or the game
            does not certify the result.
    """
    if request.threshold != "gaussian" or request.neighbors != "add_remove":
        raise BudgetError(
            "accountant='theorem6' must go with threshold='gaussian' and neighbors='add_remove', "
            f"got {request.threshold!r} and {request.neighbors!r}; use accountant='exact'"
        )
    epsilon = spendable_epsilon(request, lambda epsilon: _noise(request, epsilon))
    trees = (1 - request.marginal_share) * request.structure_fraction
    sigma, gap = calibrate_theorem6(trees * epsilon, trees * request.delta, request.questions)
    table = gaussian_bit_table(sigma=sigma, gap=gap, minimum_count=request.min_exact_count)
    release = _noise(request, epsilon, table)
    delta = release_delta(release, epsilon)
    if not delta <= request.delta:
        raise BudgetError(
            "accountant='theorem6' must agree with the exact game, got a plan that the game does "
            "not certify at this budget; use accountant='exact'"
        )
    notes: dict[str, float | str] = {
        "threshold": "gaussian",
        "sigma": sigma,
        "gap": gap,
        "epsilon_spent": epsilon,
        "structure_fraction": request.structure_fraction,
        "marginal_share": request.marginal_share,
    }
    return CertifiedRelease(release, delta, notes)


def _noise(request: PlanRequest, epsilon: float, bits: BitTable | None = None) -> Release:
    """Leaves and marginals, each paid with its share of epsilon and delta through zCDP."""
    part = (1 - request.marginal_share) * (1 - request.structure_fraction)
    rho = zcdp_rho(part * epsilon, part * request.delta)
    leaves: GaussianLeaves | ExponentialLeaves
    if request.leaf_mode == "proportions":
        leaves = GaussianLeaves(gaussian_sigma(rho, request.num_trees))
    else:
        leaves = ExponentialLeaves(exponential_eta(rho, request.num_trees))
    marginals = None
    share = request.marginal_share
    if share > 0:
        rho = zcdp_rho(share * epsilon, share * request.delta)
        marginals = GaussianMarginals(gaussian_sigma(rho, request.histograms), request.histograms)
    return Release(
        bits=bits or NO_BITS,
        questions=request.questions,
        trees=request.num_trees,
        leaves=leaves,
        marginals=marginals,
        neighbors=request.neighbors,
        classes=request.num_classes,
    )
