"""Columns for pairs of features that tell more of the class together than each does alone.

Expected    class rates of a cell if each feature added its own part: independent given the class,
            then corrected by the two-way counts for what both of them say
Estimate    noisy two-way counts, drawn towards the expected rates
Columns     of the pairs whose counts deviate from the expected rates by more than chance and noise
            explain; those first that tell most of the class beyond them
Post-processing of released counts: nothing here sees data.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lumberjack_spark.encoding.joint import PairCodes
from lumberjack_spark.encoding.marginals import Marginals
from lumberjack_spark.encoding.pairs import PairBins
from lumberjack_spark.encoding.places import middles_in_order, place_of_rates, whole_codes
from lumberjack_spark.encoding.smoothing import (
    pairs_of,
    proper_rates,
    shrunk_rates,
    spread_of_odds,
)

MOST_COLUMNS = 4
LEAST_GAIN = 0.05  # information of a pair, as a share of the best feature's
LEAST_DEVIATIONS = 4.0  # of a pair's counts from its expected rates, as _Table.deviations tells


def pair_columns(
    marginals: Marginals, bins: PairBins, counts: np.ndarray, sigma: float
) -> tuple[PairCodes, ...]:
    """Columns of the pairs that tell most, best first; none where nothing stands out.

    Args:
        marginals: released knowledge of each feature.
        bins: cells of the pairs.
        counts: float64[n_cells, n_classes], noisy counts.
        sigma: noise of each of them, in rows.
    """
    shares = marginals.shares
    rates = [_rates_of_groups(marginals, bins, f) for f in range(len(marginals.features))]
    found: list[tuple[float, int, np.ndarray]] = []
    tables = bins.split(counts)
    for place, ((i, j), table) in enumerate(zip(bins.pairs, tables, strict=True)):
        pair = _Table(table, (bins.sizes[i], bins.sizes[j]), sigma)
        expected = pair.with_main_effects(_independent(rates[i], rates[j], shares))
        if pair.deviations(expected) < LEAST_DEVIATIONS:
            continue
        seen = pair.rates(expected, spread_of_odds(shares))
        rows = _positive(pair.rows)
        gain = float(rows @ (seen * np.log(seen / expected)).sum(axis=1) / rows.sum())
        if gain >= LEAST_GAIN * marginals.gains.max():
            found.append((gain, place, seen))
    found.sort(key=lambda candidate: -candidate[0])
    return tuple(
        _column(marginals, bins, place, _positive(tables[place].sum(axis=1)), seen)
        for _, place, seen in found[:MOST_COLUMNS]
    )


def _positive(rows: np.ndarray) -> np.ndarray:
    """Noisy rows of cells as weights: float64[n], > 0."""
    found: np.ndarray = np.maximum(rows, 1e-9 * max(float(rows.sum()), 1.0))
    return found


def _column(
    marginals: Marginals, bins: PairBins, place: int, rows: np.ndarray, rates: np.ndarray
) -> PairCodes:
    """The column of one pair: its cells in the order of their class rates."""
    i, j = bins.pairs[place]
    middles = middles_in_order(rows, place_of_rates(rates, rows, marginals.shares))
    codes = whole_codes(middles).reshape(bins.sizes[i], bins.sizes[j])
    return PairCodes(i, j, (bins.groups[i], bins.groups[j]), codes, len(marginals.features))


def _rates_of_groups(marginals: Marginals, bins: PairBins, feature: int) -> np.ndarray:
    """Class rates of the groups of one feature: float64[n_groups, n_classes]."""
    estimate = marginals.estimates[feature]
    group = bins.groups[feature][marginals.codes[feature]]
    rows = estimate.rows + 1e-9 * max(estimate.rows.sum(), 1.0)
    sums = np.zeros((bins.sizes[feature], estimate.rates.shape[1]))
    np.add.at(sums, group, rows[:, None] * estimate.rates)
    found: np.ndarray = sums / sums.sum(axis=1, keepdims=True)
    return found


def _independent(first: np.ndarray, second: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Class rates of each cell if features were independent given the class: [n, n_classes]."""
    rates = first[:, None] * second[None] / shares
    flat: np.ndarray = (rates / rates.sum(axis=2, keepdims=True)).reshape(-1, len(shares))
    return flat


@dataclass(frozen=True, eq=False)
class _Table:
    """Noisy counts of one pair.

    Attributes:
        counts: float64[n_first * n_second, n_classes].
        shape: n_first, n_second.
        sigma: noise of one count, in rows.
    """

    counts: np.ndarray
    shape: tuple[int, int]
    sigma: float

    @cached_property
    def rows(self) -> np.ndarray:
        """Noisy rows of each cell: float64[n]."""
        found: np.ndarray = self.counts.sum(axis=1)
        return found

    @cached_property
    def trusted(self) -> np.ndarray:
        """Rows that a rate is taken of, no fewer than noise alone may show: float64[n, 1]."""
        least = np.sqrt(self.counts.shape[1]) * max(self.sigma, 1.0)
        found: np.ndarray = np.maximum(self.rows, least)[:, None]
        return found

    def surplus(self, expected: np.ndarray) -> np.ndarray:
        """Counts less those expected: float64[n, n_classes]."""
        found: np.ndarray = self.counts - expected * self.rows[:, None]
        return found

    def variance(self, expected: np.ndarray) -> np.ndarray:
        """Variance of the surplus by chance and noise: float64[n, n_classes]."""
        others = self.counts.shape[1] - 1
        noise = self.sigma**2 * ((1 - expected) ** 2 + others * expected**2)
        found: np.ndarray = self.trusted * expected * (1 - expected) + noise
        return found

    def with_main_effects(self, expected: np.ndarray) -> np.ndarray:
        """Expected rates moved by what each group adds in all its cells: float64[n, n_classes].

        A least squares fit to the counts. Without it two features that say much the same would
        look as if they acted together, since independence counts what they say twice.
        """
        first, _ = self.shape
        precision = self.trusted[:, 0] ** 2 / self.variance(expected).mean(axis=1)
        weights = precision.reshape(self.shape)
        residuals = (self.surplus(expected) / self.trusted).reshape(*self.shape, -1)
        weighted = weights[..., None] * residuals
        of_first, of_second = np.diag(weights.sum(axis=1)), np.diag(weights.sum(axis=0))
        normal = np.block([[of_first, weights], [weights.T, of_second]])
        sums = np.concatenate((weighted.sum(axis=1), weighted.sum(axis=0)))
        effects = np.linalg.lstsq(normal, sums)[0]
        added = effects[:first, None] + effects[None, first:]
        return proper_rates(expected + added.reshape(expected.shape), expected)

    def deviations(self, expected: np.ndarray) -> float:
        """By how many standard deviations cells differ from expected rates more than by chance.

        Squares of the surplus over its variance are 1 on average by chance and noise alone, and
        their mean over the classes of a cell has variance 2 or less.
        """
        squares = (self.surplus(expected) ** 2 / self.variance(expected)).mean(axis=1)
        free = (self.shape[0] - 1) * (self.shape[1] - 1)
        return float((squares.sum() - free) / np.sqrt(2 * max(free, 1)))

    def rates(self, expected: np.ndarray, spread: float) -> np.ndarray:
        """Class rates of the cells: float64[n, n_classes].

        From the whole table to ever smaller blocks, whose deviation from the expected rates is
        drawn towards that of the block around them.
        """
        scale = np.maximum(self.trusted, 1.0)
        levels = [tuple(map(self._shaped, (self.counts, expected * scale, scale, scale**0)))]
        while max(levels[-1][0].shape[:2]) > 1:
            levels.append(tuple(map(_blocks, levels[-1])))
        surplus = np.zeros((1, 1, expected.shape[1]))
        for counts, weighted, weights, cells in levels[::-1]:
            usual = _flat(weighted / weights)
            around = surplus.repeat(2, axis=0).repeat(2, axis=1)[: len(counts), : counts.shape[1]]
            prior = proper_rates(usual + _flat(around), usual)
            rates = shrunk_rates(_flat(counts), prior, self.sigma, cells.ravel(), spread)
            surplus = (rates - usual).reshape(counts.shape)
        return rates

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        """Values of cells as [n_first, n_second, ...]."""
        return values.reshape(*self.shape, -1)


def _flat(values: np.ndarray) -> np.ndarray:
    """Undo _Table._shaped."""
    return values.reshape(-1, values.shape[2])


def _blocks(part: np.ndarray) -> np.ndarray:
    """Sums over blocks of two by two."""
    return pairs_of(pairs_of(part).swapaxes(0, 1)).swapaxes(0, 1)
