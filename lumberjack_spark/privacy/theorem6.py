"""The paper's Theorem 6: privacy of the trees, each query charged as a whole Gaussian value.

Adjacency  add or remove one row, which is in at most m queries.
Units      sigma and Delta in rows; the threshold is c0 + 1 + Delta.
Source     Theorem 6 of the paper (Lemma 15 at m = k (1 + floor(log2 h))).
Safe side  calibrate_theorem6 returns a pair whose formula is <= delta. The formula itself does not
           hold for every adaptive analyst (PROOF.md, "What the paper's Lemma 15 misses"), so
           every plan made from it is also put through the game.
"""

import math

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_ndtr, ndtri

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.gaussian import gaussian_delta, gaussian_mu


def theorem6_delta(epsilon: float, *, sigma: float, gap: float, questions: int) -> float:
    """The formula of Theorem 6.

    Args:
        epsilon: in nats; > 0.
        sigma: scale of the Gaussian noise, in rows; > 0.
        gap: Delta, distance of the threshold from c0 + 1, in rows; > 0.
        questions: m, queries that one row can be in; >= 1.

    Returns:
        delta in [0, 1]: the largest of the theorem's three expressions.
    """
    changed = np.arange(1, questions + 1, dtype=np.float64)
    log_quiet = float(log_ndtr(gap / sigma))
    mu = np.sqrt(changed) / sigma
    gamma = (questions - changed) * log_quiet
    infinite = -math.expm1(questions * log_quiet)
    mixed = -np.expm1(gamma) + np.exp(gamma) * gaussian_delta(epsilon - gamma, mu)
    removed = gaussian_delta(epsilon + gamma, mu)
    return max(infinite, float(mixed.max()), float(removed.max()))


def _least_gap(sigma: float, epsilon: float, delta: float, questions: int) -> float:
    """Least Delta that Theorem 6 allows at this sigma; infinite if there is none."""

    def excess(ratio: float) -> float:
        gap = ratio * sigma
        return theorem6_delta(epsilon, sigma=sigma, gap=gap, questions=questions) - delta

    # The first expression alone asks for this ratio.
    low = max(0.05, float(-ndtri(-math.expm1(math.log1p(-delta) / questions))))
    high = 37.0
    if excess(high) > 0:
        return math.inf
    if excess(low) <= 0:
        return low * sigma
    ratio = float(brentq(excess, low, high, xtol=1e-10))
    while excess(ratio) > 0:
        ratio += 1e-10
    return ratio * sigma


def calibrate_theorem6(epsilon: float, delta: float, questions: int) -> tuple[float, float]:
    """Sigma and Delta of Theorem 6 with the smallest Delta.

    Args:
        epsilon: in nats, spent on the trees; > 0 and finite.
        delta: spent on the trees; in (0, 1).
        questions: m; >= 1.

    Returns:
        (sigma, Delta), both in rows, with theorem6_delta(...) <= delta.

    Raises:
        BudgetError: no pair satisfies the theorem.

    >>> sigma, gap = calibrate_theorem6(0.75, 0.75e-6, 210)
    >>> round(sigma, 2), round(gap, 1)
    (81.14, 469.6)
    """
    least_sigma = math.sqrt(questions) / gaussian_mu(epsilon, delta)

    def gap_at(log_stretch: float) -> float:
        stretch = 1 + math.exp(log_stretch)
        return _least_gap(least_sigma * stretch, epsilon, delta, questions)

    found = minimize_scalar(
        gap_at, bounds=(math.log(1e-5), math.log(0.5)), method="bounded", options={"xatol": 1e-3}
    )
    sigma = least_sigma * (1 + math.exp(found.x))
    gap = _least_gap(sigma, epsilon, delta, questions)
    if not gap < math.inf:
        raise BudgetError(
            f"epsilon and delta must allow Theorem 6 a threshold, got {epsilon!r} and {delta!r}; "
            "use accountant='exact' or a larger budget"
        )
    return sigma, gap
