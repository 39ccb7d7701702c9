"""Calibration: the largest spending that the game certifies for a budget.

Purpose    fix the shares of all stages and a design of the bits, then search one number.
Units      epsilon in nats; spending is mu^2.
Source     PROOF.md, "Calibration".
Safe side  a release is accepted only if its own evaluation is within delta, so no property of the
           search matters for privacy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.budget_cap import spendable_epsilon
from lumberjack_spark.privacy.certified import CertifiedRelease
from lumberjack_spark.privacy.designs import Design, GaussianDesign, TableDesign, other_noise
from lumberjack_spark.privacy.gaussian import gaussian_mu
from lumberjack_spark.privacy.plan import GaussianLeaves
from lumberjack_spark.privacy.release import (
    COARSE,
    Precision,
    Release,
    precision_for,
    release_delta,
)
from lumberjack_spark.privacy.request import PlanRequest

# Part of delta that may be lost to certain detection at the foot of an equal-cost table, and
# orders in units of epsilon / mu^2; thresholds are within 1 % of the best over wide ranges.
_TABLE_FOOT = 0.15
_TABLE_ORDERS = (0.75, 0.92)
# The same part for Gaussian bits, where it matters more: the best is found along these.
_GAUSSIAN_FEET = (0.30, 0.45, 0.62)
_COARSE_TOLERANCE = 0.02
_FINE_TOLERANCE = 0.004


@dataclass(frozen=True, eq=False)
class _Found:
    """A spending whose release stays within delta."""

    mu: float
    release: Release
    delta: float


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
    search = _Search(request, epsilon, leaves)
    mu = 0.95 * gaussian_mu(epsilon, request.delta)
    if request.threshold == "table":
        design, start = _best_table(search, mu)
    else:
        design, start = _best_gaussian(search, mu)
    found = search.largest(design, start, precision_for(request.questions), _FINE_TOLERANCE)
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


def _best_table(search: "_Search", mu: float) -> tuple[Design, float]:
    """The equal-cost design with the lowest threshold, by coarse games."""
    request = search.request
    scale = search.epsilon / gaussian_mu(search.epsilon, request.delta) ** 2
    best: tuple[int, float, Design] | None = None
    for part in _TABLE_ORDERS:
        design = TableDesign(part * scale, _TABLE_FOOT * request.delta / search.steps)
        found = search.largest(design, mu, COARSE, _COARSE_TOLERANCE)
        if found is None:
            continue
        mu = found.mu
        key = (found.release.bits.certain_count, -found.mu)
        if best is None or key < best[:2]:
            best = (*key, design)
    if best is None:
        raise _refusal(request)
    return best[2], -best[1]


def _best_gaussian(search: "_Search", mu: float) -> tuple[Design, float]:
    """The Gaussian design with the least Delta: minimum of a parabola through coarse games."""
    gaps = []
    for foot in _GAUSSIAN_FEET:
        design = _gaussian_design(search, foot)
        found = search.largest(design, mu, COARSE, _COARSE_TOLERANCE / 4)
        if found is None:
            raise _refusal(search.request)
        mu = found.mu
        gaps.append(design.ratio / math.sqrt(search.bit_square(mu)))
    curve, slope, _ = np.polyfit(np.log(_GAUSSIAN_FEET), np.log(gaps), 2)
    log_foot = -slope / (2 * curve) if curve > 0 else math.log(_GAUSSIAN_FEET[int(np.argmin(gaps))])
    return _gaussian_design(search, min(max(math.exp(log_foot), 0.1), 0.9)), mu


def _gaussian_design(search: "_Search", foot: float) -> GaussianDesign:
    """Gaussian bits whose foot takes this part of delta."""
    bottom = -math.expm1(math.log1p(-foot * search.request.delta) / search.steps)
    return GaussianDesign(max(float(-ndtri(bottom)), 0.01))


class _Search:
    """Searches along one design for the largest mu whose release stays within delta."""

    def __init__(self, request: PlanRequest, epsilon: float, leaves: GaussianLeaves | None) -> None:
        self.request = request
        self.epsilon = epsilon
        self.leaves = leaves
        self.steps = request.questions * (2 if request.neighbors == "replace_one" else 1)

    def bit_square(self, mu: float) -> float:
        """Spending of the bits when the whole spending is mu^2."""
        shares = self.request.marginal_share
        if self.leaves is None:
            shares += self.request.leaf_share
        return (1 - shares) * mu**2

    def release_at(self, design: Design, mu: float) -> Release:
        """The release that spends mu^2 in all."""
        bits = design.bits(self.bit_square(mu), self.steps, self.request.min_exact_count)
        return replace(other_noise(self.request, mu**2, self.leaves), bits=bits)

    def largest(
        self, design: Design, start: float, precision: Precision, tolerance: float
    ) -> _Found | None:
        """Largest mu with ln(delta / requested) in [-tolerance, 0], nearly; None if there is none.

        A secant on the logarithms, kept inside the bracket of what is known to be within delta
        and beyond it.
        """
        best: _Found | None = None

        def excess(mu: float) -> float:
            nonlocal best
            release = self.release_at(design, mu)
            delta = release_delta(release, self.epsilon, precision)
            if delta <= self.request.delta and (best is None or mu > best.mu):
                best = _Found(mu, release, delta)
            return math.log(delta / self.request.delta)

        _climb(excess, start, (self.epsilon / start) ** 2, tolerance)
        return best


def _climb(excess: Callable[[float], float], start: float, slope: float, tolerance: float) -> None:
    """Evaluate an increasing function of mu at ever better points around its last value <= 0."""
    low, high = 0.0, math.inf
    mu, slope, last = start, max(slope, 1.0), None
    for turn in range(30):
        value = excess(mu)
        low, high = (max(low, mu), high) if value <= 0 else (low, min(high, mu))
        if -tolerance <= value <= 0 or high <= low * (1 + 1e-4) or mu < 1e-6 * start:
            return
        if last is not None and mu != last[0]:
            measured = (value - last[1]) / math.log(mu / last[0])
            slope = measured if measured > 0.5 else slope
        last = (mu, value)
        mu *= math.exp(min(max(-(value + tolerance / 2) / slope, -1.0), 0.3))
        if not low < mu < high or (turn > 8 and 0 < low and high < math.inf):
            mu = math.sqrt(low * high) if 0 < low and high < math.inf else mu
