"""What released marginals say of each feature: rows, class rates and code of every cell.

Numbers     CUMULATIVE * their rank among rows + the rest * their place within the bounds.
Categories  in the order of their class rates, each in the middle of its share of the rows. Where
            rates hardly differ, an order would waste splits on nothing: such categories are asked
            about one by one.
Missing     numbers have a slot of their own at the declared end; categories have it in the order.
Post-processing of released counts: nothing here sees data.
"""

from dataclasses import dataclass

import numpy as np

from lumberjack_spark.encoding.bins import CategoryBins, FeatureBins, MarginalBins, NumberBins
from lumberjack_spark.encoding.codes import CategoryCodes, FeatureCodes, StepCodes
from lumberjack_spark.encoding.places import (
    middles,
    middles_in_order,
    place_of_rates,
    whole_codes,
)
from lumberjack_spark.encoding.smoothing import (
    CellEstimate,
    class_totals,
    estimate_ordered,
    estimate_unordered,
)
from lumberjack_spark.schema import DataSchema, Numeric

CUMULATIVE = 0.7
MISSING_GAP = 0.01  # least share of the codes between missing numbers and others
LEAST_GAIN = 0.15  # of categories that are put in order, as a share of the best feature's


@dataclass(frozen=True, eq=False)
class Marginals:
    """Released knowledge of every feature, in schema order.

    Attributes:
        estimates: rows and class rates of the cells of each feature.
        codes: code of each cell of each feature, uint16[n_cells].
        features: the codes as functions of clean values.
        shares: float64[n_classes], class shares of all rows, positive.
        gains: float64[d], mutual information of cell and class, in nats.
    """

    estimates: tuple[CellEstimate, ...]
    codes: tuple[np.ndarray, ...]
    features: tuple[FeatureCodes, ...]
    shares: np.ndarray
    gains: np.ndarray


def read_marginals(
    schema: DataSchema, bins: MarginalBins, counts: np.ndarray, sigma: float
) -> Marginals:
    """Knowledge from released counts.

    Args:
        schema: the declarations.
        bins: cells of the counts.
        counts: float64[n_cells, n_classes], of each cell the mean of its feature's noisy counts.
        sigma: noise of each of them before the mean was taken, in rows.
    """
    tables = bins.split(counts)
    sigmas = sigma / np.sqrt(bins.repeats)
    totals = class_totals(tables, sigmas)
    shares = totals / totals.sum()
    estimates = [
        _estimate(cells, table, float(noise), totals)
        for cells, table, noise in zip(bins.features, tables, sigmas, strict=True)
    ]
    gains = np.array([_gain(estimate, shares) for estimate in estimates])
    codes: list[np.ndarray] = []
    features: list[FeatureCodes] = []
    for feature, cells, estimate, gain in zip(
        schema.features, bins.features, estimates, gains, strict=True
    ):
        if isinstance(cells, CategoryBins) and gain < LEAST_GAIN * gains.max():
            code = np.arange(cells.size, dtype=np.uint16)
            features.append(CategoryCodes(code, one_of=True))
        else:
            declared = feature.declaration
            missing_high = isinstance(declared, Numeric) and declared.missing == "high"
            code = _code(cells, estimate, shares, missing_high=missing_high)
            features.append(_feature_codes(cells, code))
        codes.append(code)
    return Marginals(tuple(estimates), tuple(codes), tuple(features), shares, gains)


def _gain(estimate: CellEstimate, shares: np.ndarray) -> float:
    """Mutual information of cell and class."""
    by_cell = (estimate.rates * np.log(estimate.rates / shares)).sum(axis=1)
    return float(estimate.rows @ by_cell / max(estimate.rows.sum(), 1.0))


def _estimate(
    cells: FeatureBins, table: np.ndarray, sigma: float, totals: np.ndarray
) -> CellEstimate:
    """Rows and class rates of the cells of one feature."""
    if isinstance(cells, CategoryBins):
        return estimate_unordered(table, sigma, totals)
    widths = np.ones(cells.size - 1)
    if isinstance(cells, NumberBins):
        widths = np.diff(np.concatenate(([cells.low], cells.edges, [cells.high])))
    values = estimate_ordered(table[:-1], widths, sigma, totals)
    missing = estimate_unordered(table[-1:], sigma, totals)
    return CellEstimate(
        np.append(values.rows, missing.rows), np.concatenate((values.rates, missing.rates))
    )


def _code(
    cells: FeatureBins, estimate: CellEstimate, shares: np.ndarray, *, missing_high: bool
) -> np.ndarray:
    """Code of each cell: uint16[n_cells]."""
    rows = estimate.rows + 1e-9 * max(estimate.rows.sum(), 1.0)
    if not isinstance(cells, NumberBins):
        place = place_of_rates(estimate.rates, estimate.rows, shares)
        return whole_codes(middles_in_order(rows, place))
    edges = np.concatenate(([cells.low], cells.edges, [cells.high]))
    place = ((edges[1:] + edges[:-1]) / 2 - cells.low) / (cells.high - cells.low)
    middle = CUMULATIVE * middles(rows[:-1]) + (1 - CUMULATIVE) * place
    gap = MISSING_GAP + rows[-1] / rows.sum() / 2
    middle = (1 - gap) * middle
    if missing_high:
        return whole_codes(np.append(middle, 1.0))
    return whole_codes(np.append(middle + gap, 0.0))


def _feature_codes(cells: FeatureBins, code: np.ndarray) -> FeatureCodes:
    """Codes of one feature for clean columns."""
    if isinstance(cells, CategoryBins):
        return CategoryCodes(code, one_of=False)
    values = code[:-1]
    changes = np.flatnonzero(values[1:] != values[:-1])
    steps = np.append(values[changes], values[-1])
    return StepCodes(cells.edges[changes], steps, int(code[-1]))
