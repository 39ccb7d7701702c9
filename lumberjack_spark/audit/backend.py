"""A backend that routes its rows once, so that one table can be fitted thousands of times.

Counting, threshold bits, marking and leaf noise are done anew in each fit, by the same task
functions that Spark runs, with the key of that fit.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.training import (
    Counting,
    LocalBackend,
    LocalCells,
    Reading,
    Routing,
    count_nodes,
    route_rows,
)
from lumberjack_spark.training.tasks import RUN_SCHEMA


class RoutedBackend:
    """Lets many fits share what is exact; see training.fit.Backend.

    Args:
        batches: a small table. All fits must have one schema.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch]) -> None:
        self._table = LocalBackend([batches])
        self._cells: dict[type, RoutedCells] = {}

    @contextmanager
    def read(self, reading: Reading) -> Iterator["RoutedCells"]:
        """The rows as cells, read in the first fit."""
        kind = type(reading.cells)
        if kind not in self._cells:
            with self._table.read(reading) as cells:
                self._cells[kind] = RoutedCells(cells)
        yield self._cells[kind]


class RoutedCells:
    """Runs the passes of many fits; see training.fit.CellTable."""

    def __init__(self, cells: LocalCells) -> None:
        self._cells = cells
        self._marginals: np.ndarray | None = None
        self._runs: dict[tuple[object, ...], list[pa.RecordBatch]] = {}

    def marginals(self, bins: MarginalBins) -> np.ndarray:
        """Exact counts of cells, made once."""
        if self._marginals is None:
            self._marginals = self._cells.marginals(bins)
        return self._marginals.copy()

    def pairs(self, bins: PairBins) -> np.ndarray:
        """Exact counts of pairs, which were chosen by noisy marginals."""
        return self._cells.pairs(bins)

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, bytes]]:
        """Node records of a fit, from runs that were made once."""
        for batch in count_nodes(self._runs_of(routing), counting):
            yield from zip(
                batch.column("tree").to_pylist(), batch.column("nodes").to_pylist(), strict=True
            )

    def _runs_of(self, routing: Routing) -> list[pa.RecordBatch]:
        """Runs of all trees, made once if the encoder is that of all fits."""
        if routing.encoder.codes is not None:  # made from noisy marginals
            return self._routed(routing)
        within = tuple(nodes.tobytes() for nodes in routing.within or ())
        shape = (routing.seed, routing.num_trees, routing.max_depth)
        place = (*shape, routing.within_level, within)
        if place not in self._runs:
            self._runs[place] = self._routed(routing)
        return self._runs[place]

    def _routed(self, routing: Routing) -> list[pa.RecordBatch]:
        """Runs of all trees, sorted by tree and first code."""
        (chunks,) = self._cells.chunks()
        table = pa.Table.from_batches(route_rows(chunks, routing), RUN_SCHEMA)
        order = [(name, "ascending") for name in ("tree", "first", "second")]
        runs: list[pa.RecordBatch] = table.sort_by(order).combine_chunks().to_batches()
        return runs
