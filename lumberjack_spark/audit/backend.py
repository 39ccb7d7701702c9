"""A backend that routes its rows once, so that one table can be fitted thousands of times.

Counting, threshold bits, marking and leaf noise are done anew in each fit, by the same task
functions that Spark runs, with the key of that fit.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins
from lumberjack_spark.training import (
    Counting,
    MarginalCounting,
    Routing,
    add_counts,
    count_marginals,
    count_nodes,
    route_rows,
)
from lumberjack_spark.training.tasks import RUN_SCHEMA


class RoutedBackend:
    """Runs the passes of many fits over one small table; see training.fit.Backend.

    Args:
        batches: the table. All fits must have one schema.
    """

    def __init__(self, batches: Sequence[pa.RecordBatch]) -> None:
        self._batches = batches
        self._marginals: np.ndarray | None = None
        self._runs: dict[tuple[object, ...], list[pa.RecordBatch]] = {}

    def marginals(self, counting: MarginalCounting) -> np.ndarray:
        """Exact counts, made once where the cells are those of all fits."""
        if not isinstance(counting.bins, MarginalBins):  # chosen by noisy marginals
            return self._counted(counting)
        if self._marginals is None:
            self._marginals = self._counted(counting)
        return self._marginals.copy()

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, bytes]]:
        """Node records of a fit, from runs that were made once."""
        for batch in count_nodes(self._runs_of(routing), counting):
            yield from zip(
                batch.column("tree").to_pylist(), batch.column("nodes").to_pylist(), strict=True
            )

    def _counted(self, counting: MarginalCounting) -> np.ndarray:
        """Exact counts of all cells."""
        return add_counts(count_marginals(self._batches, counting), counting)

    def _runs_of(self, routing: Routing) -> list[pa.RecordBatch]:
        """Runs of all trees, made once if the encoder is that of all fits."""
        if routing.encoder.class_shares is not None:  # made from noisy marginals
            return self._routed(routing)
        within = tuple(nodes.tobytes() for nodes in routing.within or ())
        shape = (routing.seed, routing.num_trees, routing.max_depth)
        place = (*shape, routing.within_level, within)
        if place not in self._runs:
            self._runs[place] = self._routed(routing)
        return self._runs[place]

    def _routed(self, routing: Routing) -> list[pa.RecordBatch]:
        """Runs of all trees, sorted by tree and first code."""
        table = pa.Table.from_batches(route_rows(self._batches, routing), RUN_SCHEMA)
        order = [(name, "ascending") for name in ("tree", "first", "second")]
        runs: list[pa.RecordBatch] = table.sort_by(order).combine_chunks().to_batches()
        return runs
