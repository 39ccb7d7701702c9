"""The passes of a fit over Spark partitions.

    rows --mapInArrow--> cells of the marginals --sum--> driver      (when the encoder is private)
    rows --mapInArrow--> runs of path codes --one shuffle, by tree--> --mapInArrow--> node records

DataFrame API only, so that it runs on Spark Connect. One row of the shuffle is a packed block of
codes, not one code; blocks are sorted by tree and first code, so that a task merges them as a
stream. Exact counts exist in tasks and on the driver, and go no further.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lumberjack_spark.spark._classic import parallelism
from lumberjack_spark.spark.key_logging import key_unlogged
from lumberjack_spark.spark.progress import stage
from lumberjack_spark.spark.shuffle_keys import keys_of_partitions
from lumberjack_spark.spark.workers import then_settle
from lumberjack_spark.training import Counting, Routing, count_nodes, route_rows
from lumberjack_spark.training.marginals import MarginalCounting, add_counts, count_marginals
from lumberjack_spark.training.tasks import Packed

_CELL_COLUMNS = "cell long, n long"
_RUN_COLUMNS = "tree int, slot int, first long, second long, run binary"
_NODE_COLUMNS = "tree int, nodes binary"


class SparkBackend:
    """Runs the tasks of a fit over the partitions of a table.

    Args:
        rows: the columns of the schema, as columns.select_columns gives them. It is read once by
            each pass, so it must give the same rows each time.
    """

    def __init__(self, rows: DataFrame) -> None:
        # mapInArrow looks columns up by name, where a dot or a backtick would mean something else.
        self._names = rows.columns
        self._rows = rows.toDF(*(f"c{i}" for i in range(len(self._names))))

    def marginals(self, counting: MarginalCounting) -> np.ndarray:
        """Exact counts of all cells; see training.fit.Backend."""
        names = self._names

        def count_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return then_settle(count_marginals(_renamed(batches, names), counting))

        counted = self._rows.mapInArrow(count_partition, _CELL_COLUMNS)
        totals = counted.groupBy("cell").agg(F.sum("n").alias("n"))
        with stage(f"counting {counting.bins.what}", self._rows.sparkSession):
            table = totals.toArrow()
        return add_counts(table.to_batches(), counting)

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
        """(tree, packed node records); see training.fit.Backend."""
        with key_unlogged(), stage("counting nodes", self._rows.sparkSession):
            table = self._counted(routing, counting).toArrow()
        for batch in table.to_batches():
            for tree, nodes in zip(batch.column("tree"), batch.column("nodes"), strict=True):
                yield tree.as_py(), nodes.as_buffer()  # a view: a model's worth of bytes once

    def _counted(self, routing: Routing, counting: Counting) -> DataFrame:
        """Node records of all trees, a tree in one task."""
        n_tasks = min(routing.num_trees, parallelism(self._rows.sparkSession))
        keys, names = keys_of_partitions(n_tasks), self._names

        def route_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in then_settle(route_rows(_renamed(batches, names), routing)):
                slots = [keys[tree % n_tasks] for tree in batch.column("tree").to_pylist()]
                columns = batch.columns
                columns.insert(1, pa.array(slots, pa.int32()))
                yield pa.RecordBatch.from_arrays(
                    columns, ["tree", "slot", "first", "second", "run"]
                )

        def count_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            # Does not settle: what a worker leaves out of collections must not hold the key.
            yield from count_nodes(batches, counting)

        return (
            self._rows.mapInArrow(route_partition, _RUN_COLUMNS)
            .repartition(n_tasks, F.col("slot"))
            .sortWithinPartitions("tree", "first", "second")
            .mapInArrow(count_partition, _NODE_COLUMNS)
        )


def _renamed(batches: Iterable[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    """The batches with their columns named as in the table."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, names)
