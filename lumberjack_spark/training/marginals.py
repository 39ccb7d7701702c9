"""Private marginals: class counts of every cell of every feature or pair, and their noise.

CellCounts         exact counts, of the rows of a task or of all tasks together
count_pairs        blocks of cells -> one small batch of exact counts of pairs (a task)
release_marginals  exact counts -> noisy ones (the driver); exact counts are dropped by its caller

Counts of features are made while rows are read; see reading. Every (cell, class) gets noise, seen
or not.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.noise import NoiseKey, discrete_gaussian

MARGINAL_SCHEMA = pa.schema([("cell", pa.int64()), ("n", pa.int64())])


class CellCounts:
    """Exact counts of every cell by class; the count of (cell, class) is cell * n_classes + class.

    Args:
        bins: the cells: of single features, or of pairs of them.
    """

    def __init__(self, bins: MarginalBins | PairBins) -> None:
        self._bins = bins
        self._counts = np.zeros(int(bins.offsets[-1]) * bins.n_classes, np.int64)

    def add(self, cells: np.ndarray, labels: np.ndarray) -> None:
        """Count rows: cells uint16[d, n], labels int[n] of declared classes."""
        bins, n_classes = self._bins, self._bins.n_classes
        sizes = np.diff(bins.offsets)
        places = bins.in_tables(cells)
        for offset, size, place in zip(bins.offsets, sizes, places, strict=False):
            number = place.astype(np.int64) * n_classes + labels
            first, n = offset * n_classes, size * n_classes
            self._counts[first : first + n] += np.bincount(number, minlength=n)

    def seen(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the counts above 0, ascending, and these counts: int64[m] each."""
        seen = np.flatnonzero(self._counts)
        return seen, self._counts[seen]

    def add_seen(self, batches: Iterable[pa.RecordBatch]) -> np.ndarray:
        """All counts int64[n_cells * n_classes] after adding those of batches (MARGINAL_SCHEMA)."""
        for batch in batches:
            seen, counts = batch.column("cell").to_numpy(), batch.column("n").to_numpy()
            np.add.at(self._counts, seen, counts)
        return self._counts


def count_pairs(
    chunks: Iterable[tuple[np.ndarray, np.ndarray]], bins: PairBins
) -> Iterator[pa.RecordBatch]:
    """Count the rows of one task: one batch (MARGINAL_SCHEMA) of its non-zero counts."""
    counts = CellCounts(bins)
    for cells, labels in chunks:
        counts.add(cells, labels)
    yield pa.RecordBatch.from_arrays(list(map(pa.array, counts.seen())), schema=MARGINAL_SCHEMA)


def release_marginals(
    exact: np.ndarray, bins: MarginalBins | PairBins, sigma: float, key: NoiseKey
) -> np.ndarray:
    """Noisy counts float64[n_cells, n_classes]: of each cell the mean of its table's repeats.

    Args:
        exact: int64[n_cells * n_classes].
        bins: the cells.
        sigma: noise of each repeat, in rows.
        key: the secret of the fit.
    """
    released = []
    for table, (counts, repeats) in enumerate(
        zip(bins.split(exact.reshape(-1, bins.n_classes)), bins.repeats, strict=True)
    ):
        stream, noisy = key.stream(bins.what, table), counts * repeats
        for _ in range(repeats):  # one at a time: many repeats of many cells need no more memory
            noisy += discrete_gaussian(stream, sigma, counts.size).reshape(counts.shape)
        released.append(noisy / repeats)
    return np.concatenate(released)
