"""The passes of a fit over Spark partitions.

    rows  --mapInArrow--> blocks of cells, kept, and counts of cells --sum--> driver
    cells --mapInArrow--> counts of pairs --sum--> driver             (when the encoder is private)
    cells --mapInArrow--> runs of path codes --one shuffle, by tree--> --mapInArrow--> node records

DataFrame API only, so that it runs on Spark Connect. One row of the shuffle is a packed block of
codes, not one code; blocks are sorted by tree and first code, so that a task merges them as a
stream. Exact counts exist in tasks, in what Spark keeps while the fit runs, and on the driver, and
go no further.
"""

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.spark._classic import parallelism
from lumberjack_spark.spark.key_logging import key_unlogged
from lumberjack_spark.spark.progress import LOGGER, stage
from lumberjack_spark.spark.shuffle_keys import keys_of_partitions
from lumberjack_spark.spark.workers import then_settle
from lumberjack_spark.training import (
    CellCounts,
    Counting,
    Reading,
    Routing,
    count_nodes,
    count_pairs,
    read_blocks,
    read_rows,
    route_rows,
)
from lumberjack_spark.training.tasks import Packed

_READ_COLUMNS = "block binary, cell long, n long"
_CELL_COLUMNS = "cell long, n long"
_RUN_COLUMNS = "tree int, slot int, first long, second long, run binary"
_NODE_COLUMNS = "tree int, nodes binary"


class SparkBackend:
    """Runs the tasks of a fit over the partitions of a table.

    Args:
        rows: the columns of the schema, as columns.select_columns gives them. Where cells cannot
            be kept, or are lost with an executor, rows are read again and must be the same.
    """

    def __init__(self, rows: DataFrame) -> None:
        # mapInArrow looks columns up by name, where a dot or a backtick would mean something else.
        self._names = rows.columns
        self._rows = rows.toDF(*(f"c{i}" for i in range(len(self._names))))

    @contextmanager
    def read(self, reading: Reading) -> Iterator["SparkCells"]:
        """The rows as cells, cached where the session can do that; see training.fit.Backend."""
        names = self._names
        # Spark Connect pickles the function anew for each pass and knows what it keeps by the
        # bytes: work on this side must not change them, as it would by filling cached properties.
        own = copy.deepcopy(reading)

        def read_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return then_settle(read_rows(_renamed(batches, names), own))

        cells = self._rows.mapInArrow(read_partition, _READ_COLUMNS)
        with _kept(cells):
            yield SparkCells(cells, reading)


class SparkCells:
    """Passes over rows that were read; see training.fit.CellTable.

    Args:
        cells: what read_rows gives (READ_SCHEMA).
        reading: what it was asked.
    """

    def __init__(self, cells: DataFrame, reading: Reading) -> None:
        self._blocks = cells.where("block IS NOT NULL").select("block")
        self._counts = cells.where("cell IS NOT NULL").select("cell", "n")
        self._n_features = len(reading.reader.schema.features)
        self._session = cells.sparkSession

    def marginals(self, bins: MarginalBins) -> np.ndarray:
        """Exact counts of all cells; see training.fit.CellTable."""
        return self._summed(self._counts, "reading rows", CellCounts(bins))

    def pairs(self, bins: PairBins) -> np.ndarray:
        """Exact counts of all pairs; see training.fit.CellTable."""
        n_features = self._n_features

        def count_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return then_settle(count_pairs(read_blocks(batches, n_features), bins))

        counted = self._blocks.mapInArrow(count_partition, _CELL_COLUMNS)
        return self._summed(counted, "counting pairs", CellCounts(bins))

    def _summed(self, counted: DataFrame, what: str, counts: CellCounts) -> np.ndarray:
        """Counts of all tasks together."""
        with stage(what, self._session):
            table = counted.groupBy("cell").agg(F.sum("n").alias("n")).toArrow()
        return counts.add_seen(table.to_batches())

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
        """(tree, packed node records); see training.fit.CellTable."""
        with key_unlogged(), stage("counting nodes", self._session):
            table = self._counted(routing, counting).toArrow()
        for batch in table.to_batches():
            for tree, nodes in zip(batch.column("tree"), batch.column("nodes"), strict=True):
                yield tree.as_py(), nodes.as_buffer()  # a view: a model's worth of bytes once

    def _counted(self, routing: Routing, counting: Counting) -> DataFrame:
        """Node records of all trees, a tree in one task."""
        n_tasks = min(routing.num_trees, parallelism(self._session))
        keys, n_features = keys_of_partitions(n_tasks), self._n_features

        def route_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in then_settle(route_rows(read_blocks(batches, n_features), routing)):
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
            self._blocks.mapInArrow(route_partition, _RUN_COLUMNS)
            .repartition(n_tasks, F.col("slot"))
            .sortWithinPartitions("tree", "first", "second")
            .mapInArrow(count_partition, _NODE_COLUMNS)
        )


@contextmanager
def _kept(table: DataFrame) -> Iterator[None]:
    """Cache a table inside the block, where the session can do that."""
    kept = True
    try:
        table.persist()
    except Exception:  # serverless sessions refuse, each in its own way
        kept = False
    try:
        yield
    finally:
        try:
            if kept:
                table.unpersist()
        except Exception:  # must not hide what went wrong before; says nothing of rows
            LOGGER.warning("Cells of rows stay in Spark's cache until the session ends.")


def _renamed(batches: Iterable[pa.RecordBatch], names: list[str]) -> Iterator[pa.RecordBatch]:
    """The batches with their columns named as in the table."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays(batch.columns, names)
