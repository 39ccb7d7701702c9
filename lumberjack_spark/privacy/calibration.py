"""Calibration: the shape of the bits and the largest spending that the game certifies.

Purpose    fix the shares of all stages, choose a design of the bits, then search one number.
Units      epsilon in nats; spending is mu^2.
Source     PROOF.md, "Calibration".
Safe side  a release is accepted only if its own evaluation is within delta.
"""

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.budget_cap import spendable_epsilon
from lumberjack_spark.privacy.certified import CertifiedRelease
from lumberjack_spark.privacy.designs import Design, GaussianDesign, TableDesign, other_noise
from lumberjack_spark.privacy.gaussian import gaussian_mu
from lumberjack_spark.privacy.plan import GaussianLeaves
from lumberjack_spark.privacy.release import COARSE, Release, precision_for
from lumberjack_spark.privacy.request import PlanRequest
from lumberjack_spark.privacy.search import Search

# Part of delta that may be lost to certain detection at the foot of an equal-cost table, and
# orders in units of epsilon / mu^2; thresholds are within 1 % of the best over wide ranges.
_TABLE_FOOT = 0.15
_TABLE_ORDERS = (0.75, 0.92)
# The same part for Gaussian bits, where it matters more: the best is found along these.
_GAUSSIAN_FEET = (0.30, 0.45, 0.62)
_COARSE_TOLERANCE = 0.02
_FINE_TOLERANCE = 0.004
# Beyond so many questions the shape is chosen for a smaller forest.
_LARGE = 700


def calibrate(request: PlanRequest, leaves: GaussianLeaves | None = None) -> CertifiedRelease:
    """Noise of the whole release that spends the budget as the request's shares say.

    Args:
        request: budget, shape, shares, kind of threshold.
        leaves: leaf noise that is fixed from outside; the shares then count for the rest only.

    Raises:
        BudgetError: no safe plan was found.
    """

    def roughly(epsilon: float) -> Release:
        return other_noise(request, gaussian_mu(epsilon, request.delta) ** 2, leaves)

    epsilon = spendable_epsilon(request, roughly)
    search = Search(request, epsilon, leaves)
    design, start = _outset(search)
    tolerance = _FINE_TOLERANCE if request.questions <= _LARGE else _COARSE_TOLERANCE
    found = search.largest(design, start, precision_for(request.questions), tolerance)
    if found is None:
        raise _refusal(request)
    notes = {
        **design.notes(search.bit_square(found.mu), search.steps),
        "epsilon_spent": epsilon,
        "marginal_share": request.marginal_share,
    }
    return CertifiedRelease(found.release, found.delta, notes)


def _refusal(request: PlanRequest) -> BudgetError:
    """The one sentence for a budget without a plan."""
    return BudgetError(
        "the budget must allow a threshold for this forest, got "
        f"epsilon={request.epsilon!r} and delta={request.delta!r} without a safe plan; "
        "raise epsilon or delta, or use fewer trees"
    )


def _outset(search: Search) -> tuple[Design, float]:
    """Design of the bits and a first guess of mu, by coarse games.

    The best mu hardly depends on the number of questions, so that a large forest is looked at
    through a smaller one.
    """
    small = _smaller(search) if search.request.questions > _LARGE else search
    mu = 0.95 * gaussian_mu(search.epsilon, search.request.delta)
    if search.request.threshold == "table":
        order, mu = _best_order(small, mu)
        return _table_design(search, order), mu
    foot, mu = _best_foot(small, mu)
    return _gaussian_design(search, foot), mu


def _smaller(search: Search) -> Search:
    """The same budget for fewer trees."""
    request = search.request
    trees = max(1, _LARGE * request.num_trees // request.questions)
    leaves = search.leaves
    if leaves is not None:
        leaves = GaussianLeaves(leaves.sigma * math.sqrt(trees / request.num_trees))
    return replace(search, request=replace(request, num_trees=trees), leaves=leaves)


def _best_order(search: Search, mu: float) -> tuple[float, float]:
    """Order, in units of epsilon / mu^2, of the shortest equal-cost table; and its mu."""
    best: tuple[int, float, float] | None = None
    for order in _TABLE_ORDERS:
        found = search.largest(_table_design(search, order), mu, COARSE, _COARSE_TOLERANCE)
        if found is None:
            continue
        mu = found.mu
        key = (found.release.bits.certain_count, -mu, order)
        best = key if best is None else min(best, key)
    if best is None:
        raise _refusal(search.request)
    return best[2], -best[1]


def _table_design(search: Search, order: float) -> TableDesign:
    """Equal-cost bits of an order in units of epsilon / mu^2."""
    delta = search.request.delta
    scale = search.epsilon / gaussian_mu(search.epsilon, delta) ** 2
    return TableDesign(order * scale, _TABLE_FOOT * delta / search.steps)


def _best_foot(search: Search, mu: float) -> tuple[float, float]:
    """Foot of the Gaussian bits with the least Delta, by a parabola; and a mu near its own."""
    log_gaps = []
    for foot in _GAUSSIAN_FEET:
        design = _gaussian_design(search, foot)
        found = search.largest(design, mu, COARSE, _COARSE_TOLERANCE / 4)
        if found is None:
            raise _refusal(search.request)
        mu = found.mu
        log_gaps.append(math.log(design.ratio) - math.log(search.bit_square(mu)) / 2)
    log_feet = np.log(_GAUSSIAN_FEET)
    curve, slope, _ = np.polyfit(log_feet, log_gaps, 2)
    least = -slope / (2 * curve) if curve > 0 else log_feet[int(np.argmin(log_gaps))]
    return float(np.exp(np.clip(least, log_feet[0], log_feet[-1]))), mu


def _gaussian_design(search: Search, foot: float) -> GaussianDesign:
    """Gaussian bits whose foot takes this part of delta."""
    bottom = -math.expm1(math.log1p(-foot * search.request.delta) / search.steps)
    return GaussianDesign(max(float(-ndtri(bottom)), 0.01))
