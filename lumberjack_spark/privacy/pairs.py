"""Families of probability pairs: what one step of the game may choose from.

Purpose    a query whose count differs releases one bit, with probability P of one outcome in the
           world that the step favours and Q <= P in the other. A family is a finite set of such
           pairs whose convex hull, with (0, 0) and (1, 1), holds every pair that can occur.
Adjacency  "add": the favoured world has one row more. "remove": one row less.
Source     PROOF.md, "A finite family" and "Label choice".
Safe side  outlines contain all pairs: each is a polygon of supporting lines, inflated by more than
           its rounding and checked against every pair.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from lumberjack_spark.privacy.bit_tables import word_fraction
from lumberjack_spark.privacy.plan import BitTable

Direction = Literal["add", "remove"]
Floats = npt.NDArray[np.float64]

# Families up to this size are played pair by pair.
_SMALL = 48
_INFLATION = 1e-12
_CHECK_MARGIN = 1e-13
_LEAST_COMPLEMENT = 0.1
# Cheap pairs are thinned at most this much more than the middle ones.
_LEAST_WEIGHT = 0.0025


@dataclass(frozen=True, eq=False)
class PairFamily:
    """Pairs (Q, P), Q <= P, with both complements, each number within one relative rounding.

    Attributes:
        low: float64[n], Q.
        low_rest: float64[n], 1 - Q.
        high: float64[n], P.
        high_rest: float64[n], 1 - P.
        gain: float64[n], P - Q.
    """

    low: Floats
    low_rest: Floats
    high: Floats
    high_rest: Floats
    gain: Floats

    def same_as(self, other: "PairFamily") -> bool:
        """Whether both hold the same pairs in the same order."""
        return np.array_equal(self.columns(), other.columns())

    def widened(self, error: float) -> "PairFamily":
        """A family that bounds this one if each of its numbers is off by a relative error.

        The value of a step grows with both P and 1 - P and falls with both Q and 1 - Q, each on
        its own, so that raising and lowering them is safe even where sums leave 1.
        """
        less, more = 1 - error, 1 + error
        masses = (self.low * less, self.low_rest * less, self.high * more, self.high_rest * more)
        return PairFamily(*masses, self.gain)

    def joined(self, other: "PairFamily") -> "PairFamily":
        """The pairs of both families, sorted from low to high."""
        mine, theirs = self.columns(), other.columns()
        columns = np.concatenate((mine, theirs), axis=1)
        # The complements decide where the probabilities round to 1.
        order = np.lexsort((-columns[3], -columns[1], columns[2], columns[0]))
        return PairFamily(*columns[:, order])

    def columns(self) -> Floats:
        """float64[5, n]: the five attributes in order."""
        return np.stack((self.low, self.low_rest, self.high, self.high_rest, self.gain))

    def moments(self, order: float) -> Floats:
        """Cost of each pair, sum_b P_b (P_b / Q_b)^order - 1; infinite for infinite loss."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            up = np.log1p(self.gain / self.low)
            down = np.log1p(-self.gain / self.low_rest)
            cost = self.high * np.expm1(order * up) + self.high_rest * np.expm1(order * down)
        return np.where(np.isnan(cost), np.inf, cost)

    def step_mu(self) -> float:
        """Mu of the Gaussian step that the middle pair resembles; 0 if no pair has finite loss."""
        finite = (self.low > 0) & (self.high_rest > 0)
        if not finite.any():
            return 0.0
        middle = np.argmin(np.abs(self.low[finite] - self.high_rest[finite]))
        low, rest = self.low[finite][middle], self.high_rest[finite][middle]
        high, low_rest = self.high[finite][middle], self.low_rest[finite][middle]
        divergence = self.gain[finite][middle] * np.log(high / low * (low_rest / rest))
        return float(np.sqrt(divergence))


def bit_pairs(table: BitTable, direction: Direction) -> PairFamily:
    """All pairs of one query: counts q and q + 1 for every q >= minimum_count.

    In direction "remove" the favoured outcome is the bit 0, so the pair is (1 - p', 1 - p).
    """
    # Arithmetic modulo 2^64 is exact here: differences and complements are below 2^64.
    words = np.concatenate((np.zeros(1, np.uint64), table.weights, np.zeros(1, np.uint64)))
    gain = word_fraction(words[1:] - words[:-1])
    chance = word_fraction(words)
    rest = np.where(words == 0, 1.0, word_fraction(np.uint64(0) - words))
    chance[-1], rest[-1] = 1.0, 0.0
    # A step from 0 to 2^64 wraps around.
    gain[-1] = 1.0 if words[-2] == 0 else gain[-1]
    pairs = np.stack((chance[:-1], rest[:-1], chance[1:], rest[1:], gain))
    if direction == "remove":
        pairs = pairs[[3, 2, 1, 0, 4], ::-1]
    return PairFamily(*pairs[:, pairs[4] > 0])


def outline(family: PairFamily, spacing: float, order: float = 1.0) -> PairFamily:
    """A family of fewer pairs whose hull contains that of the given one.

    Args:
        family: pairs sorted from low to high.
        spacing: distance of the supporting lines, in log odds; smaller is tighter.
        order: order of the moments by which pairs matter, about epsilon / mu^2; a good guess
            gives a tighter outline for as many pairs.

    Returns:
        The vertices of a polygon, or the family itself if that is small or hard to outline.
    """
    if family.low.size <= _SMALL:
        return family
    anchors = _anchors(family, spacing, order)
    if anchors.size > 0.8 * family.low.size:
        return family
    top = float(family.gain.max())
    rising = _chain(family.low, family.gain, anchors, top)
    falling = _chain(family.high_rest, family.gain, anchors[::-1], top)
    if rising is None or falling is None:
        return family
    (low, gain), (rest, mirrored) = rising, (falling[0][::-1], falling[1][::-1])
    lower = np.stack((low, 1 - low, low + gain, 1 - low - gain, gain))
    upper = np.stack((1 - rest - mirrored, rest + mirrored, 1 - rest, rest, mirrored))
    if lower[3].min() < _LEAST_COMPLEMENT or upper[0].min() < _LEAST_COMPLEMENT:
        return family
    # Differences from 1 that stay above 1/10 have a relative error below 3e-15.
    return PairFamily(*np.concatenate((lower, upper), axis=1)).widened(4e-15)


def _anchors(family: PairFamily, spacing: float, order: float) -> npt.NDArray[np.int64]:
    """Indices of pairs about `spacing` apart in log odds, further where a pair costs little.

    Supporting lines d apart in log odds raise the gain by d^2 / 32 of itself where the gain grows
    like sqrt(p (1 - p)). A pair that costs less than the middle one may be raised by more.
    """
    chance = (family.low + family.high) / 2
    rest = (family.low_rest + family.high_rest) / 2
    cost = family.moments(order)
    middle = cost[np.argmin(np.abs(chance - rest))]
    odds = np.log(chance / rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        importance = np.nan_to_num(cost / middle, nan=1.0, posinf=1.0)
    weight = np.sqrt(np.clip(importance, _LEAST_WEIGHT, 1.0))
    travelled = np.cumsum(np.maximum(np.diff(odds, prepend=odds[0]), 0.0) * weight)
    wanted = np.arange(0.0, travelled[-1], spacing)
    found = np.append(np.searchsorted(travelled, wanted), family.low.size - 1)
    return np.unique(found).astype(np.int64)


def _chain(
    position: Floats, gain: Floats, anchors: npt.NDArray[np.int64], top: float
) -> tuple[Floats, Floats] | None:
    """Vertices of the rising half of the polygon, in coordinates (position, gain).

    The first line is the tangent from the pair of infinite loss, so that its mass is not raised.
    Each later one has the slope of an edge of the anchors' own hull and the least intercept that
    leaves no pair above it. A level line at top closes the chain. None if the result cannot be
    seen to contain all pairs.
    """
    infinite = float(gain[position == 0].max(initial=0.0))
    finite = position > 0
    tangent = float(((gain[finite] - infinite) / position[finite]).max(initial=0.0))
    edges = _rising_edges(position[anchors], gain[anchors], tangent * (1 - 1e-6))
    # The highest pair is looked for near its edge; where that was wrong, everywhere.
    for reach, inflation in ((2, _INFLATION), (anchors.size, _INFLATION), (anchors.size, 1e-9)):
        kept = [(tangent, infinite)] if tangent > 0 else []
        for slope, first, last in edges:
            ends = anchors[max(first - reach, 0)], anchors[min(last + reach, anchors.size - 1)]
            near = slice(min(ends), max(ends) + 1)
            kept.append((slope, float((gain[near] - slope * position[near]).max())))
        chain = _crossings([*kept, (0.0, top)], inflation)
        if _contains(*chain, position, gain):
            return chain
    return None


def _crossings(lines: list[tuple[float, float]], inflation: float) -> tuple[Floats, Floats]:
    """Points where consecutive lines (slope, intercept) meet, raised beyond their rounding."""
    slope, intercept = np.array(lines).T
    crossing = np.maximum(np.diff(intercept) / -np.diff(slope), 0.0)
    position = np.concatenate(([0.0], np.maximum.accumulate(crossing)))
    gain = np.minimum(slope * position + intercept, intercept[-1]) * (1 + inflation)
    return position, np.minimum(gain, 1.0 - position)


def _rising_edges(position: Floats, gain: Floats, steepest: float) -> list[tuple[float, int, int]]:
    """Slope and ends of the rising edges of the points' upper hull, below a slope."""
    points = list(zip(position.tolist(), gain.tolist(), strict=True))
    hull: list[int] = []
    for i, point in enumerate(points):
        while len(hull) > 1:
            last = _slope(points[hull[-2]], points[hull[-1]])
            if last > _slope(points[hull[-1]], point) * (1 + 1e-6):
                break
            hull.pop()
        hull.append(i)
    edges = [(_slope(points[i], points[j]), i, j) for i, j in pairwise(hull)]
    return [edge for edge in edges if 0 < edge[0] < steepest]


def _slope(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Slope from a to b; infinite when b is straight above a."""
    return (b[1] - a[1]) / (b[0] - a[0]) if b[0] > a[0] else math.inf


def _contains(vertex: Floats, height: Floats, position: Floats, gain: Floats) -> bool:
    """Whether the chain is above every pair up to its last vertex, with room for rounding."""
    inside = position <= vertex[-1]
    reached = np.interp(position[inside], vertex, height)
    return bool(np.all(reached >= gain[inside] * (1 + _CHECK_MARGIN)))


def logistic_outline(eta: float, spacing: float) -> PairFamily:
    """Polygon around all pairs (s(a), s(a + eta)), a real, s the logistic function.

    The pairs lie on P = cQ / (1 + (c - 1)Q), c = e^eta. With w = 1 / (1 + (c - 1)Q), the tangents
    at w0 and w1 meet at w = (w0 + w1) / 2 in Q and at the harmonic mean of w0, w1 in P.

    Args:
        eta: in nats a row; > 0.
        spacing: distance of tangent points in log odds; > 0.
    """
    reach = 42.0 + eta
    marks, step = [0.0], spacing
    while marks[-1] < reach:
        step = step if marks[-1] < 2 else 1.08 * step
        marks.append(marks[-1] + step)
    center = np.concatenate((-np.array(marks[:0:-1]), marks)) - eta / 2
    growth = np.expm1(eta)
    chance = 1 / (1 + np.exp(-center))
    rest = 1 / (1 + np.exp(center))
    chance[0], rest[0], chance[-1], rest[-1] = 0.0, 1.0, 1.0, 0.0
    # fall = 1 - w and lift = c w - 1, both without cancellation.
    fall = growth * chance / (1 + growth * chance)
    lift = growth * rest / (1 + growth * chance)
    w, f0, f1, y0, y1 = 1 / (1 + growth * chance), fall[:-1], fall[1:], lift[:-1], lift[1:]
    low = (f0 + f1) / ((w[:-1] + w[1:]) * growth)
    low_rest = (y0 + y1) / ((w[:-1] + w[1:]) * growth)
    scale = np.exp(eta) / growth
    high = scale * (w[:-1] * f1 + w[1:] * f0) / (w[:-1] + w[1:])
    high_rest = (y0 + y1 + 2 * y0 * y1) / (2 + y0 + y1) / growth
    gain = np.where(low < 0.5, high - low, low_rest - high_rest)
    return PairFamily(low, low_rest, high, high_rest, gain).widened(2e-14)
