"""Bit tables: the Gaussian threshold of the paper's Algorithm 2 as integer weights.

Units      counts in rows; weights in units of 2^-64.
Source     the paper's Algorithm 2.
Safe side  none here: the accountant evaluates the integer weights that are used.
"""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.plan import WORD, BitTable

MAXIMUM_ENTRIES = 2**22
# Beyond it a normal tail is below 2^-65, which rounds to no weight at all.
_TAIL = 9.2


def weights_of(
    low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
) -> npt.NDArray[np.uint64]:
    """Integer weights of probabilities given from both ends.

    Args:
        low: float64[n], probabilities of a 1, nondecreasing.
        high: float64[n], the probabilities of a 0, nonincreasing; low + high is about 1.

    Returns:
        uint64[<= n]: round(2^64 low) where low <= 1/2, 2^64 - round(2^64 high) above it;
        entries that round to 0 are made 1 and entries that round to 2^64 are cut off.
    """
    # ldexp is exact, and rint is exact above 2^53, so each weight is off by at most half a unit
    # and the rounding of its double.
    bottom = np.maximum(np.rint(np.ldexp(np.minimum(low, 0.5), 64)), 1.0).astype(np.uint64)
    gap = np.rint(np.ldexp(np.minimum(high, 0.5), 64))
    top = np.uint64(0) - np.maximum(gap, 1.0).astype(np.uint64)
    weights = np.where(low <= 0.5, bottom, top)[(low <= 0.5) | (gap >= 1.0)]
    return np.maximum.accumulate(weights)


def gaussian_bit_table(*, sigma: float, gap: float, minimum_count: int) -> BitTable:
    """Table of P(count + N(0, sigma^2) >= minimum_count + 1 + gap) for counts above minimum_count.

    Args:
        sigma: in rows; > 0.
        gap: Delta, in rows; > 0.
        minimum_count: c0, in rows; >= 0.

    Returns:
        The table; it ends where the probability of a 0 is below 2^-65.

    Raises:
        BudgetError: the table would have more than 4 million entries.
    """
    entries = math.ceil(gap + _TAIL * sigma) + 1
    require_entries(entries)
    distance = (np.arange(entries) - gap) / sigma
    return BitTable(minimum_count, weights_of(ndtr(distance), ndtr(-distance)))


def require_entries(entries: float) -> None:
    """Refuse a table that would be too large to send to workers."""
    if not entries <= MAXIMUM_ENTRIES:
        raise BudgetError(
            f"the threshold must stay below {MAXIMUM_ENTRIES} rows, got a budget that needs more; "
            "raise epsilon or delta, or use fewer trees"
        )


def word_fraction(weights: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Weights as probabilities, each within one relative rounding."""
    return np.ldexp(weights.astype(np.float64), -64)


__all__ = [
    "MAXIMUM_ENTRIES",
    "WORD",
    "gaussian_bit_table",
    "require_entries",
    "weights_of",
    "word_fraction",
]
