"""Score columns: sums over features of what each one's code says of a class.

The value of a code is the log odds of a class among its rows, up to a constant of the feature, so
that a score ranks rows as a naive Bayes classifier made from released marginals would. A threshold
on it splits rows by many features at once, where a threshold on a feature's code uses one. Values
are integers, so that every machine gets the same score.
"""

from collections.abc import Sequence

import numpy as np

from lumberjack_spark.encoding.joint import ScoreCodes
from lumberjack_spark.encoding.smoothing import CellEstimate

SCORE_RANGE = 1 << 14  # largest score minus smallest, about
SCORE_STEPS = 512  # distinct codes of a score column


def score_codes(
    estimates: Sequence[CellEstimate],
    codes: Sequence[np.ndarray],
    shares: np.ndarray,
    *,
    label: int,
    use: np.ndarray,
    top: int,
) -> ScoreCodes:
    """Make the score of one class.

    Args:
        estimates: rows and class rates of the cells of each feature.
        codes: code of each cell of each feature, uint16[n_cells].
        shares: float64[n_classes], class shares among all rows.
        label: the class; with two classes, the score of one is that of the other turned around.
        use: bool[d], features that take part.
        top: largest code.
    """
    inputs, odds, rows = [], [], []
    for estimate, code in zip(estimates, codes, strict=True):
        possible, place = np.unique(code, return_inverse=True)
        inputs.append(possible)
        # Rows without weight still say what the rate of their cell is.
        weight = estimate.rows + 1e-9 * max(estimate.rows.sum(), 1.0)
        total = np.bincount(place, weight)
        rate = np.bincount(place, weight * estimate.rates[:, label]) / total
        value = np.log(rate / (1 - rate))
        odds.append(value - value.min())
        rows.append(np.stack((total * (1 - rate), total * rate)))
    spans = np.array([np.ptp(value) for value in odds]) * use
    unit = max(float(spans.sum()), 1e-9) / SCORE_RANGE
    values = [
        np.rint(value * taken / unit).astype(np.int32)
        for value, taken in zip(odds, use, strict=True)
    ]
    others, members = _densities(values, rows)
    share = float(shares[label])
    edges, steps = _steps((1 - share) * others + share * members, top)
    below = np.cumsum(others) - others / 2
    return ScoreCodes(
        tuple(inputs), tuple(values), edges, steps, _weights(values, rows), float(members @ below)
    )


def _densities(
    values: Sequence[np.ndarray], rows: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each score 0, 1, ... among other rows and among those of the class.

    As if features were independent within each of the two, which is what naive Bayes supposes.
    """
    sides = [np.ones(1), np.ones(1)]
    for value, both in zip(values, rows, strict=True):
        if value.any():
            for side in range(2):
                part = np.bincount(value, both[side] / both[side].sum())
                sides[side] = np.convolve(sides[side], part)
    return sides[0], sides[1]


def _steps(density: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges and codes by which a score becomes its rank."""
    ends = np.cumsum(density)
    rank = (ends - density / 2) / ends[-1]
    level = np.minimum((rank * SCORE_STEPS).astype(np.int64), SCORE_STEPS - 1)
    edges = np.flatnonzero(np.diff(level)) + 1
    levels = level[np.concatenate(([0], edges))]
    return edges, np.rint(levels * (top / (SCORE_STEPS - 1))).astype(np.uint16)


def _weights(values: Sequence[np.ndarray], rows: Sequence[np.ndarray]) -> np.ndarray:
    """Share of each feature in the variance of the score."""
    variances = np.array(
        [
            np.average((value - np.average(value, weights=both.sum(0))) ** 2, weights=both.sum(0))
            for value, both in zip(values, rows, strict=True)
        ]
    )
    shares: np.ndarray = variances / max(variances.sum(), 1e-300)
    return shares
