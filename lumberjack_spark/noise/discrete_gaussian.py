"""Discrete Gaussian noise N_Z(0, sigma^2) by inversion from integer tables.

P(X = x) is proportional to exp(-x^2 / (2 sigma^2)) on the integers.
Units      sigma in counts.
Table      one word w gives the x with F(x-1) <= w / 2^64 < F(x); F is the distribution function
           rounded to units of 2^-64, so no floating-point number decides anything.
Error      total variation per draw <= (entries + 2) * 2^-65: the entries + 1 boundaries of F are
           off by half a unit each, tails beyond the table included, and both entries of a boundary
           feel it, which the factor 1/2 of total variation undoes; one more half unit covers
           arithmetic errors (below 2^-100 a boundary).  Over all accepted sigma this is at most
           (20 sigma + 12) * 2^-65; the accountant adds it to delta.
Large sigma  X = fine + step * coarse, with independent fine ~ N_Z(0, v1), coarse ~ N_Z(0, v2) and
           v1 + step^2 v2 = sigma^2 exactly.  Completing the square,
           P(X = x) = exp(-x^2/(2 sigma^2)) * theta(x) up to a constant, where theta(x) sums
           exp(-(s - a)^2/(2 t)) over the integers s, for some a = a(x) and t = v1 v2 / sigma^2.
           By Poisson summation theta is constant up to a relative 2.1 exp(-2 pi^2 t), and t > 8.9
           makes that less than 2^-200 (Micciancio & Walter 2017, section 4, by hand).  The two
           tables need about 66 sqrt(sigma) entries together, where one would need 19 sigma.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.noise.fixed_point import FRACTION_BITS, exp_minus
from lumberjack_spark.noise.stream import WordStream

LARGEST_SIGMA = 1e9
ONE_TABLE_SIGMA = 2048.0
_NEGLIGIBLE_BITS = 100
_UNIT = 2.0**-65


@dataclass(frozen=True, eq=False)
class DiscreteGaussianTable:
    """Inversion table of one discrete Gaussian.

    Attributes:
        reach: largest noise the table can give; the smallest is -reach.
        thresholds: uint64[2 reach], P(X <= x) in units of 2^-64 for x = -reach..reach-1, rounded to
            nearest, read-only; P(X <= reach) = 1 is a rule, since 2^64 does not fit a word.
    """

    reach: int
    thresholds: NDArray[np.uint64]

    def __post_init__(self) -> None:
        if self.thresholds.shape != (2 * self.reach,):
            raise ValueError(f"thresholds must be uint64[2 reach], got {self.thresholds.shape}")
        self.thresholds.setflags(write=False)

    @property
    def total_variation(self) -> float:
        """Bound on the total variation between one draw and the discrete Gaussian."""
        return (2 * self.reach + 3) * _UNIT

    def invert(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Turn uniform words into noise: uint64[n] -> int64[n]."""
        return np.searchsorted(self.thresholds, words, side="right").astype(np.int64) - self.reach


@dataclass(frozen=True, eq=False)
class DiscreteGaussianSampler:
    """Draws discrete Gaussian noise of one sigma.

    Attributes:
        tables: one table, or the fine and the coarse one.
        step: what a unit of the coarse table is worth; unused with one table.
    """

    tables: tuple[DiscreteGaussianTable, ...]
    step: int = 1

    @property
    def total_variation(self) -> float:
        """Bound on the total variation between one draw and the discrete Gaussian."""
        return sum(table.total_variation for table in self.tables)

    def draw(self, stream: WordStream, size: int) -> NDArray[np.int64]:
        """Draw int64[size]; drawing a and then b gives the noise of drawing a + b."""
        words = stream.take(size * len(self.tables)).reshape(size, len(self.tables))
        noise = self.tables[0].invert(words[:, 0])
        if len(self.tables) == 2:
            noise += self.step * self.tables[1].invert(words[:, 1])
        return noise


def discrete_gaussian(stream: WordStream, sigma: float, size: int) -> NDArray[np.int64]:
    """Draw discrete Gaussian noise.

    Args:
        stream: source of words; one word a draw, two above sigma = 2048.
        sigma: parameter of N_Z(0, sigma^2), in counts, 0 < sigma <= 1e9.
        size: number of draws, >= 0.

    Returns:
        int64[size].

    Raises:
        ValueError: sigma or size is outside its range.
    """
    return discrete_gaussian_sampler(sigma).draw(stream, size)


@lru_cache(maxsize=32)
def discrete_gaussian_sampler(sigma: float) -> DiscreteGaussianSampler:
    """Return the sampler of one sigma, 0 < sigma <= 1e9; its tables are built once a process.

    Raises:
        ValueError: sigma is outside its range. NaN is outside.

    >>> discrete_gaussian_sampler(30.0).total_variation < 2e-17
    True
    """
    if not 0 < sigma <= LARGEST_SIGMA:
        raise ValueError(f"sigma must be > 0 and <= {LARGEST_SIGMA:g}, got {sigma!r}")
    variance = Fraction(sigma) ** 2
    if sigma <= ONE_TABLE_SIGMA:
        return DiscreteGaussianSampler((build_table(variance),))
    step = isqrt(int(sigma) // 3)
    # 9 step^2 <= fine variance < 10 step^2, hence t > 9 (1 - 10 step^2 / sigma^2) > 8.9.
    coarse = Fraction(int(variance / step**2) - 9)
    fine = variance - step**2 * coarse
    return DiscreteGaussianSampler((build_table(fine), build_table(coarse)), step)


def build_table(variance: Fraction) -> DiscreteGaussianTable:
    """Return the table of N_Z(0, variance), variance > 0; about 25 sigma integer products."""
    # p(x+1) = p(x) r(x) and r(x+1) = r(x) e^(-1/variance), starting at r(0) = e^(-1/(2 variance)).
    power, ratio = 1 << FRACTION_BITS, exp_minus(1 / (2 * variance))
    shrink = exp_minus(1 / variance)
    powers = []
    while power >> (FRACTION_BITS - _NEGLIGIBLE_BITS):
        powers.append(power)
        power = power * ratio >> FRACTION_BITS
        ratio = ratio * shrink >> FRACTION_BITS
    total = 2 * sum(powers) - powers[0]
    upper_tail, tails = 0, []
    for power in reversed(powers[1:]):
        upper_tail += power
        rounded = ((upper_tail << 65) // total + 1) >> 1
        if rounded:
            tails.append(rounded)
    # tails: P(X >= x) for x = reach..1, which is P(X <= -x) by symmetry.
    above = [(1 << 64) - tail for tail in reversed(tails)]
    return DiscreteGaussianTable(len(tails), np.array(tails + above, np.uint64))
