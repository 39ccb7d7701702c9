"""The passes in this process: for tests, audits and studies, and for tables that fit memory."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.training.marginals import CellCounts, count_pairs
from lumberjack_spark.training.reading import Reading, read_blocks, read_rows
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

    @contextmanager
    def read(self, reading: Reading) -> Iterator["LocalCells"]:
        """The rows as cells; see fit.Backend."""
        yield LocalCells([list(read_rows(part, reading)) for part in self._partitions], reading)


class LocalCells:
    """Passes over rows that were read; see fit.CellTable.

    Args:
        partitions: what read_rows gave for each partition.
        reading: what it was asked.
    """

    def __init__(self, partitions: Sequence[Sequence[pa.RecordBatch]], reading: Reading) -> None:
        self._partitions = partitions
        self._n_features = len(reading.reader.schema.features)

    def chunks(self) -> Iterator[Iterator[tuple[np.ndarray, np.ndarray]]]:
        """Of each partition its chunks of cells and labels."""
        for part in self._partitions:
            blocks = (batch.filter(batch.column("block").is_valid()) for batch in part)
            yield read_blocks(blocks, self._n_features)

    def marginals(self, bins: MarginalBins) -> np.ndarray:
        """Added up over the partitions; see fit.CellTable."""
        return CellCounts(bins).add_seen(
            batch.filter(batch.column("cell").is_valid())
            for part in self._partitions
            for batch in part
        )

    def pairs(self, bins: PairBins) -> np.ndarray:
        """Added up over the partitions; see fit.CellTable."""
        return CellCounts(bins).add_seen(
            batch for chunks in self.chunks() for batch in count_pairs(chunks, bins)
        )

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
        """Routed, brought together by tree, counted; see fit.CellTable."""
        rows = [
            row
            for chunks in self.chunks()
            for batch in route_rows(chunks, routing)
            for row in batch.to_pylist()
        ]
        rows.sort(key=lambda row: (row["tree"], row["first"], row["second"]))
        # One row a batch: joined, the runs of a large table would not fit one binary array.
        batches = (pa.RecordBatch.from_pylist([row], schema=RUN_SCHEMA) for row in rows)
        for batch in count_nodes(batches, counting):
            yield from zip(
                batch.column("tree").to_pylist(), batch.column("nodes").to_pylist(), strict=True
            )
