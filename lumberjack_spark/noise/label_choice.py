"""The exponential mechanism over classes: one word picks one label.

Label c is drawn with probability proportional to exp(eta * count_c).
Units      eta per row; counts are rows.
Weights    exp(-eta * (largest count - count_c)) in units of 2^-63, as the product of two entries of
           integer tables (multiples of a power of two, and the rest); then shifted right by
           g = ceil(log2 K), so that the sum over K classes fits a word.
Draw       t = floor(word * total / 2^64); the label is the c with cumulative(c-1) <= t <
           cumulative(c).  All integers, exact.
Error      a weight is off by at most 2 + 2^g units of 2^-63 relative to the largest, which is
           exact; K - 1 of them, and K - 1 boundaries of the draw by 2^-64 each, give a total
           variation of at most (K - 1) (2^(g+1) + 5) 2^-64 per draw, never above K^2 * 2^-61.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.noise.fixed_point import exp_minus_multiples, multiply_high
from lumberjack_spark.noise.stream import WordStream

SMALLEST_ETA = 1e-9
_WEIGHT_BITS = 63
_VANISHING_EXPONENT = Fraction(89, 2)
_BLOCK_CELLS = 1 << 17


@dataclass(frozen=True, eq=False)
class WeightTable:
    """Integer weights exp(-eta * gap) of every gap between a count and the largest.

    Attributes:
        largest_gap: the last gap with a weight; wider gaps weigh less than 2^-64, which is 0.
        fine_bits: number of low bits of a gap that index `fine`.
        fine: uint64[2^fine_bits], exp(-eta j) in units of 2^-63.
        coarse: uint64[...], exp(-eta j 2^fine_bits) in units of 2^-63.
    """

    largest_gap: int
    fine_bits: int
    fine: NDArray[np.uint64]
    coarse: NDArray[np.uint64]

    def weigh(self, gaps: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return exp(-eta * gap) in units of 2^-63 for gaps >= 0, off by at most two units."""
        inside = np.minimum(gaps, self.largest_gap)
        coarse = self.coarse[inside >> self.fine_bits]
        fine = self.fine[inside & ((1 << self.fine_bits) - 1)]
        weights = multiply_high(coarse, fine, shift=_WEIGHT_BITS)
        weights[gaps > self.largest_gap] = 0
        return weights


def choose_labels(stream: WordStream, counts: NDArray[np.int64], eta: float) -> NDArray[np.int64]:
    """Draw one label for each leaf by the exponential mechanism.

    Args:
        stream: source of words, one for each leaf.
        counts: int64[n, K], exact class counts, >= 0; K in 1..2^20.
        eta: factor of a count in the exponent, per row, 1e-9 <= eta < inf.

    Returns:
        int64[n], class indices 0..K-1.

    Raises:
        ValueError: eta or the shape of counts is outside its range.
    """
    if counts.ndim != 2 or not 1 <= counts.shape[1] <= 1 << 20:
        raise ValueError(f"counts must be int64[n, K] with 1 <= K <= 2^20, got {counts.shape}")
    table = weight_table(eta)
    words = stream.take(counts.shape[0])
    labels = np.empty(counts.shape[0], np.int64)
    block = max(1, _BLOCK_CELLS // counts.shape[1])
    for start in range(0, counts.shape[0], block):
        part = slice(start, start + block)
        labels[part] = _choose(words[part], counts[part], table)
    return labels


def label_choice_total_variation(num_classes: int) -> float:
    """Bound on the total variation between one draw and the exponential mechanism.

    Args:
        num_classes: K, 1..2^20.

    >>> label_choice_total_variation(2) < 1e-18
    True
    """
    if not 1 <= num_classes <= 1 << 20:
        raise ValueError(f"num_classes must be in 1..2^20, got {num_classes!r}")
    return (num_classes - 1) * (2.0 ** (_shift(num_classes) + 1) + 5) * 2.0**-64


@lru_cache(maxsize=32)
def weight_table(eta: float) -> WeightTable:
    """Return the weights of one eta, 1e-9 <= eta < inf; built once a process.

    Raises:
        ValueError: eta is outside its range. NaN is outside.
    """
    if not SMALLEST_ETA <= eta < float("inf"):
        raise ValueError(f"eta must be finite and >= {SMALLEST_ETA:g}, got {eta!r}")
    rate = Fraction(eta)
    largest_gap = int(_VANISHING_EXPONENT / rate)
    fine_bits = (largest_gap.bit_length() + 1) // 2
    coarse_size = (largest_gap >> fine_bits) + 1
    return WeightTable(
        largest_gap,
        fine_bits,
        exp_minus_multiples(rate, 1 << fine_bits, bits=_WEIGHT_BITS),
        exp_minus_multiples(rate * (1 << fine_bits), coarse_size, bits=_WEIGHT_BITS),
    )


def _choose(
    words: NDArray[np.uint64], counts: NDArray[np.int64], table: WeightTable
) -> NDArray[np.int64]:
    """Choose labels for one block of leaves, one word each."""
    gaps = counts.max(axis=1, keepdims=True) - counts
    weights = table.weigh(gaps) >> np.uint64(_shift(counts.shape[1]))
    cumulative = np.cumsum(weights, axis=1, dtype=np.uint64)
    targets = multiply_high(words, cumulative[:, -1], shift=64)
    labels: NDArray[np.int64] = (cumulative <= targets[:, None]).sum(axis=1, dtype=np.int64)
    return labels


def _shift(num_classes: int) -> int:
    """Return ceil(log2 K)."""
    return (num_classes - 1).bit_length()
