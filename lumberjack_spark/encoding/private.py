"""An encoder made from noisy marginals, in which a uniform random threshold is a useful split.

Numbers     CUMULATIVE * their rank among rows + the rest * their place within the bounds.
Categories  in the order of their class rates, each in the middle of its share of the rows: one
            threshold then parts them as the best split into two groups would (Breiman et al. 1984,
            section 4.2.2); with more than two classes in the order of the first principal
            component of their rates. Where rates hardly differ, an order would waste splits on
            nothing: such categories are asked about one by one.
Missing     numbers have a slot of their own at the declared end; categories have it in the order.
Scores      sums over features, see scores.
Post-processing of released counts: nothing here sees data.
"""

from collections.abc import Sequence

import numpy as np

from lumberjack_spark.encoding.bins import CategoryBins, FeatureBins, MarginalBins, NumberBins
from lumberjack_spark.encoding.codes import CategoryCodes, FeatureCodes, StepCodes
from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.encoding.scores import ScoreCodes, score_codes
from lumberjack_spark.encoding.smoothing import (
    CellEstimate,
    class_totals,
    estimate_ordered,
    estimate_unordered,
)
from lumberjack_spark.schema import DataSchema, Numeric

TOP_CODE = 4095  # few enough codes that the lookup tables of routing stay in the cache
CUMULATIVE = 0.7
MISSING_GAP = 0.01  # least share of the codes between missing numbers and others
MOST_SCORES = 5  # one over all features, the others over random parts of them
# Of the score over all features: no scores up to the first, all of them from the second on.
SEPARATION = (0.88, 0.94)
SUBSET_SHARE = 0.6
LEAST_GAIN = 0.15  # of categories that are put in order, as a share of the best feature's


def private_encoder(
    schema: DataSchema, bins: MarginalBins, counts: np.ndarray, sigma: float
) -> FeatureEncoder:
    """Encoder made from released counts.

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
    estimates: list[CellEstimate] = []
    codes: list[np.ndarray] = []
    features: list[FeatureCodes]
    for feature, cells, table, noise in zip(
        schema.features, bins.features, tables, sigmas, strict=True
    ):
        estimate = _estimate(cells, table, float(noise), totals)
        missing_high = (
            isinstance(feature.declaration, Numeric) and feature.declaration.missing == "high"
        )
        code = _code(cells, estimate, shares, missing_high=missing_high)
        estimates.append(estimate)
        codes.append(code)
    telling = _tell_classes(estimates, shares)
    features = []
    for f, cells in enumerate(bins.features):
        if isinstance(cells, CategoryBins) and not telling[f]:
            codes[f] = np.arange(cells.size, dtype=np.uint16)
            features.append(CategoryCodes(codes[f], one_of=True))
        else:
            features.append(_feature_codes(cells, codes[f]))
    return FeatureEncoder(tuple(features), _scores(estimates, codes, shares), shares)


def _tell_classes(estimates: Sequence[CellEstimate], shares: np.ndarray) -> np.ndarray:
    """Features whose cells differ enough in class for an order by class to mean something: bool[d].

    What counts is the mutual information of cell and class next to that of the best feature.
    """
    gains = np.array(
        [
            (estimate.rows @ (estimate.rates * np.log(estimate.rates / shares)).sum(axis=1))
            / max(estimate.rows.sum(), 1.0)
            for estimate in estimates
        ]
    )
    telling: np.ndarray = gains >= LEAST_GAIN * gains.max()
    return telling


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
        order = np.argsort(_place_of_rates(estimate, shares), kind="stable")
        middle = np.empty(cells.size)
        middle[order] = _middles(rows[order])
        return _whole(middle)
    edges = np.concatenate(([cells.low], cells.edges, [cells.high]))
    place = ((edges[1:] + edges[:-1]) / 2 - cells.low) / (cells.high - cells.low)
    middle = CUMULATIVE * _middles(rows[:-1]) + (1 - CUMULATIVE) * place
    gap = MISSING_GAP + rows[-1] / rows.sum() / 2
    middle = (1 - gap) * middle
    if missing_high:
        return _whole(np.append(middle, 1.0))
    return _whole(np.append(middle + gap, 0.0))


def _middles(rows: np.ndarray) -> np.ndarray:
    """Middle of each cell's slot when slots are laid side by side over [0, 1]."""
    ends = np.cumsum(rows)
    middles: np.ndarray = (ends - rows / 2) / ends[-1]
    return middles


def _whole(places: np.ndarray) -> np.ndarray:
    """Codes of places in [0, 1]."""
    found: np.ndarray = np.rint(np.clip(places, 0, 1) * TOP_CODE).astype(np.uint16)
    return found


def _place_of_rates(estimate: CellEstimate, shares: np.ndarray) -> np.ndarray:
    """By which cells are put in order: float64[n_cells]."""
    if len(shares) == 2:
        second: np.ndarray = estimate.rates[:, 1]
        return second
    centred = (estimate.rates - shares) / np.sqrt(shares)
    weighted = centred * np.sqrt(estimate.rows)[:, None]
    _, vectors = np.linalg.eigh(weighted.T @ weighted)
    direction = vectors[:, -1]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    # Rounded, so that cells of one pool stay side by side on every machine.
    place: np.ndarray = np.round(centred @ direction, 9)
    return place


def _feature_codes(cells: FeatureBins, code: np.ndarray) -> FeatureCodes:
    """Codes of one feature for clean columns."""
    if isinstance(cells, CategoryBins):
        return CategoryCodes(code, one_of=False)
    values = code[:-1]
    changes = np.flatnonzero(values[1:] != values[:-1])
    steps = np.append(values[changes], values[-1])
    return StepCodes(cells.edges[changes], steps, int(code[-1]))


def _scores(
    estimates: Sequence[CellEstimate], codes: Sequence[np.ndarray], shares: np.ndarray
) -> tuple[ScoreCodes, ...]:
    """Score columns; none for one feature, whose own codes say all there is.

    Where the scores say little, what there is to know lies in how features act together, and more
    scores would only crowd the features out of the splits.
    """
    d = len(estimates)
    if d < 2:
        return ()
    every = np.ones(d, np.bool_)
    labels = [1] if len(shares) == 2 else [int(k) for k in np.argsort(-shares, kind="stable")]
    first = score_codes(estimates, codes, shares, label=labels[0], use=every, top=TOP_CODE)
    low, high = SEPARATION
    wanted = round(MOST_SCORES * min(max((first.separation - low) / (high - low), 0.0), 1.0))
    if wanted == 0:
        return ()
    if len(labels) == 1:
        rest = [(1, _subset(d, index)) for index in range(wanted - 1)]
    else:
        rest = [(label, every) for label in labels[1:wanted]]
    return first, *(
        score_codes(estimates, codes, shares, label=label, use=use, top=TOP_CODE)
        for label, use in rest
    )


def _subset(d: int, index: int) -> np.ndarray:
    """A fixed part of the features that looks random: bool[d], never empty."""
    mixed = (np.arange(d) + 1) * 0x9E3779B1 * (2 * index + 3) % 2**32
    use: np.ndarray = mixed < SUBSET_SHARE * 2**32
    return use if use.any() else np.ones(d, np.bool_)
