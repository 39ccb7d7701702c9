"""Bounds for statistical tests that hold for every sample size.

Each assertion made with FALSE_ALARM fails for a correct implementation with probability at most
1e-9, whatever the seed.
"""

import math

import numpy as np
from scipy.stats import beta

FALSE_ALARM = 1e-9


def dkw_radius(n: int, alpha: float = FALSE_ALARM) -> float:
    """Cdf distance that n true draws exceed with probability <= alpha. Source: Massart 1990."""
    return math.sqrt(math.log(2 / alpha) / (2 * n))


def cdf_distance(draws: np.ndarray, support: np.ndarray, cdf: np.ndarray) -> float:
    """Largest gap between the empirical cdf of integer draws and cdf on the sorted support."""
    empirical = np.searchsorted(np.sort(draws), support, side="right") / draws.size
    return float(np.abs(empirical - cdf).max())


def clopper_pearson(hits: int, n: int, alpha: float = FALSE_ALARM) -> tuple[float, float]:
    """Two-sided interval that misses the true probability with probability <= alpha."""
    low = 0.0 if hits == 0 else float(beta.ppf(alpha / 2, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - alpha / 2, hits + 1, n - hits))
    return low, high
