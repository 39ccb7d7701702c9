"""Private marginals: class counts of every cell of every feature or pair, and their noise.

count_marginals    rows -> one small batch of exact counts (a task)
release_marginals  exact counts -> noisy ones (the driver); exact counts are dropped by its caller

Rows without a declared label are left out, as they are in all other passes. Every (cell, class)
gets noise, seen or not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.noise import NoiseKey, discrete_gaussian
from lumberjack_spark.schema import RowReader

MARGINAL_SCHEMA = pa.schema([("cell", pa.int64()), ("n", pa.int64())])
CHUNK_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class MarginalCounting:
    """What counting marginals needs to know; all of it public.

    Attributes:
        reader: row rules of the schema.
        bins: the cells: of single features, or of pairs of them.
    """

    reader: RowReader
    bins: MarginalBins | PairBins

    @property
    def n_counts(self) -> int:
        """Number of (cell, class) pairs; pair cell * n_classes + class."""
        return int(self.bins.offsets[-1]) * self.bins.n_classes


def count_marginals(
    batches: Iterable[pa.RecordBatch], counting: MarginalCounting
) -> Iterator[pa.RecordBatch]:
    """Count the rows of one task: one batch (MARGINAL_SCHEMA) of its non-zero counts.

    Counts of tasks are added up by pair; see add_counts.
    """
    bins = counting.bins
    counts = np.zeros(counting.n_counts, np.int64)
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            piece = batch.slice(start, CHUNK_ROWS)
            labels = counting.reader.labels(piece)
            known = labels >= 0
            cells = bins.cells(counting.reader.features(piece))
            for offset, size, cell in zip(bins.offsets, np.diff(bins.offsets), cells, strict=False):
                pair = cell[known] * bins.n_classes + labels[known]
                first, n_pairs = offset * bins.n_classes, size * bins.n_classes
                counts[first : first + n_pairs] += np.bincount(pair, minlength=n_pairs)
    seen = np.flatnonzero(counts)
    yield pa.RecordBatch.from_arrays(
        [pa.array(seen, pa.int64()), pa.array(counts[seen], pa.int64())], schema=MARGINAL_SCHEMA
    )


def add_counts(batches: Iterable[pa.RecordBatch], counting: MarginalCounting) -> np.ndarray:
    """Exact counts int64[n_counts] of the batches of all tasks, in any order."""
    counts = np.zeros(counting.n_counts, np.int64)
    for batch in batches:
        np.add.at(counts, batch.column("cell").to_numpy(), batch.column("n").to_numpy())
    return counts


def release_marginals(
    exact: np.ndarray, bins: MarginalBins | PairBins, sigma: float, key: NoiseKey
) -> np.ndarray:
    """Noisy counts float64[n_cells, n_classes]: of each cell the mean of its table's repeats.

    Args:
        exact: int64[n_counts].
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
