"""The passes in this process: for tests, audits and studies, and for tables that fit memory."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lumberjack_spark.training.marginals import MarginalCounting, add_counts, count_marginals
from lumberjack_spark.training.tasks import (
    RUN_SCHEMA,
    Counting,
    Packed,
    Routing,
    count_nodes,
    route_rows,
)


class LocalBackend:
    """Runs the tasks that Spark would run, one after another, on the same code.

    Args:
        partitions: the table as lists of Arrow batches.
    """

    def __init__(self, partitions: Sequence[Sequence[pa.RecordBatch]]) -> None:
        self._partitions = partitions

    def marginals(self, counting: MarginalCounting) -> np.ndarray:
        """Added up over the partitions; see fit.Backend."""
        batches = (
            batch
            for partition in self._partitions
            for batch in count_marginals(partition, counting)
        )
        return add_counts(batches, counting)

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
        """Routed, brought together by tree, counted; see fit.Backend."""
        rows = [
            row
            for partition in self._partitions
            for batch in route_rows(partition, routing)
            for row in batch.to_pylist()
        ]
        rows.sort(key=lambda row: (row["tree"], row["first"], row["second"]))
        # One row a batch: joined, the runs of a large table would not fit one binary array.
        batches = (pa.RecordBatch.from_pylist([row], schema=RUN_SCHEMA) for row in rows)
        for batch in count_nodes(batches, counting):
            yield from zip(
                batch.column("tree").to_pylist(), batch.column("nodes").to_pylist(), strict=True
            )
