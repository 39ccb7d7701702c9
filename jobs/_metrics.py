"""Figures of scored rows: partial sums of some rows, and what they come to.

Private    no. They are exact figures of the rows given.
Sums       a cell has a number, and values of equal cells add up, whatever the partitioning:
             0 .. K*K-1   rows by true class and predicted class, true * K + predicted
             K*K          sum of -log(probability of the true class), in nats
             after it     rows by (class, whether it is the true one, bin of its probability)
Bins       2^20 of equal width: the area under the curve takes rows of one bin as equals, which
           moves it by less than 1e-5 unless scores crowd within 1e-6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

BINS = 1 << 20
# A true class of probability 0 would cost infinitely much; forests that vote give such.
_LEAST_PROBABILITY = 2.0**-52

Counts = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Metrics:
    """Figures of n rows whose label is declared; None where no row tells.

    Attributes:
        rows: n.
        accuracy: share of rows whose class was predicted.
        majority: share of the most frequent class: the accuracy of always naming it.
        auc: area under the curve; with more than two classes the mean over the classes of
            telling each from the others.
        log_loss: mean of -log(probability of the true class), in nats.
        confusion: int64[K, K], rows by true and predicted class.
    """

    rows: int
    accuracy: float | None
    majority: float | None
    auc: float | None
    log_loss: float | None
    confusion: Counts

    def to_dict(self) -> dict[str, Any]:
        """JSON-able figures, rounded to six digits."""
        shares = {name: getattr(self, name) for name in ("accuracy", "majority", "auc", "log_loss")}
        rounded = {name: None if v is None else round(v, 6) for name, v in shares.items()}
        return {"rows": self.rows, **rounded, "confusion": self.confusion.tolist()}


def partial_metrics(
    labels: npt.NDArray[np.int32], probability: Numbers, predicted: Counts
) -> tuple[Counts, Numbers]:
    """Cells of some rows that are not zero, and their values.

    Args:
        labels: int32[n], true classes; rows with -1 are left out.
        probability: float64[n, K], shares of the classes.
        predicted: int64[n], predicted classes.
    """
    known = labels >= 0
    true, shares = labels[known].astype(np.int64), probability[known]
    n_classes = probability.shape[1]
    loss_cell = n_classes * n_classes
    cells = [true * n_classes + predicted[known]]
    bins = np.minimum((shares * BINS).astype(np.int64), BINS - 1)
    for each in range(n_classes):
        is_true = (true == each).astype(np.int64)
        cells.append(loss_cell + 1 + (each * 2 + is_true) * BINS + bins[:, each])
    found, counts = np.unique(np.concatenate(cells), return_counts=True)
    of_truth = np.maximum(shares[np.arange(len(true)), true], _LEAST_PROBABILITY)
    loss = -np.log(of_truth).sum()
    return np.append(found, loss_cell), np.append(counts.astype(np.float64), loss)


def finish_metrics(cells: Counts, values: Numbers, n_classes: int) -> Metrics:
    """Figures of all rows from their cells.

    Args:
        cells: int64[n], distinct.
        values: float64[n], sums over all rows.
        n_classes: K.
    """
    loss_cell = n_classes * n_classes
    is_count = cells < loss_cell
    confusion: Counts = np.zeros((n_classes, n_classes), np.int64)
    confusion.ravel()[cells[is_count]] = values[is_count].round().astype(np.int64)
    rows = int(confusion.sum())
    if rows == 0:
        return Metrics(0, None, None, None, None, confusion)
    return Metrics(
        rows=rows,
        accuracy=float(np.trace(confusion) / rows),
        majority=float(confusion.sum(axis=1).max() / rows),
        auc=_mean_area(cells - loss_cell - 1, values, n_classes),
        log_loss=float(values[cells == loss_cell].sum() / rows),
        confusion=confusion,
    )


def metrics_text(metrics: Metrics, classes: Sequence[object]) -> str:
    """Figures for people to read."""
    lines = [
        f"  {'accuracy':<16}{_shown(metrics.accuracy)}",
        f"  {'majority share':<16}{_shown(metrics.majority)}",
        f"  {'AUC':<16}{_shown(metrics.auc)}",
        f"  {'log loss':<16}{_shown(metrics.log_loss)}",
        f"  {'rows':<16}{metrics.rows}",
        "  true class (down) by predicted class (across):",
    ]
    names = [str(each) for each in classes]
    width = max(8, *(len(name) for name in names), len(str(metrics.rows))) + 2
    lines.append("  " + "".join(name.rjust(width) for name in ("", *names)))
    for name, counts in zip(names, metrics.confusion.tolist(), strict=True):
        lines.append("  " + name.rjust(width) + "".join(str(n).rjust(width) for n in counts))
    return "\n".join(lines)


def _mean_area(cells: Counts, values: Numbers, n_classes: int) -> float | None:
    """Mean area under the curve over the classes, None if none can be told from others."""
    # Of two classes, one says all: the other's curve is its mirror image.
    wanted = [1] if n_classes == 2 else range(n_classes)
    areas = []
    for each in wanted:
        histograms = np.zeros((2, BINS))
        start = each * 2 * BINS
        here = (cells >= start) & (cells < start + 2 * BINS)
        histograms.ravel()[cells[here] - start] = values[here]
        areas.append(_area(histograms[1], histograms[0]))
    known = [area for area in areas if not math.isnan(area)]
    return sum(known) / len(known) if known else None


def _area(positive: Numbers, negative: Numbers) -> float:
    """Chance that a positive row scores above a negative one, equals counting half."""
    pairs = positive.sum() * negative.sum()
    if pairs == 0:
        return math.nan
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum() / pairs)


def _shown(share: float | None) -> str:
    """A figure with four digits."""
    return "-" if share is None else f"{share:.4f}"
