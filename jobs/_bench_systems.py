"""The systems that the benchmark compares: each fits and scores one table, again and again.

A round is a list of figures, one entry a step ("fit", "transform"). Scoring writes all columns to
Spark's "noop" sink, so that every score is computed and nothing is kept.
"""

import importlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Protocol

import pyarrow as pa
from pyspark.ml import Transformer
from pyspark.ml.classification import RandomForestClassifier
from pyspark.sql import DataFrame, SparkSession

from jobs._bench_child import extra_trees, warm_numbers
from jobs._bench_processes import measured
from jobs._bench_report import LARGE, OURS, SKLEARN, SPARK
from jobs._bench_tables import BenchTable, as_numbers, vectors
from lumberjack_spark.ml import LumberjackClassifier
from lumberjack_spark.schema import DataSchema

Figures = dict[str, Any]
_BYTES = ("shuffle_bytes", "spilled_bytes", "result_bytes")


class System(Protocol):
    """One competitor on one table."""

    name: str
    depth: int

    def round(self, *, scoring: bool) -> Iterator[Figures]:
        """Fit, and score if asked to; one entry a step."""

    def close(self) -> None:
        """Give memory back."""


class Ours:
    """Our forest.

    Args:
        estimator: with trees and depth set.
        table: the rows.
    """

    name = OURS

    def __init__(self, estimator: LumberjackClassifier, table: BenchTable) -> None:
        self.depth = estimator.getMaxDepth()
        self._estimator = estimator
        self._table = table

    def round(self, *, scoring: bool) -> Iterator[Figures]:
        """See System."""
        session = self._table.table.sparkSession
        wake_workers(self._table.table)
        last = last_stage(session)
        fit = measured(lambda: self._estimator.fit(self._table.table))
        bits = self._estimator.plan().bits
        yield {
            "step": "fit",
            **fit.to_dict(),
            **work_of_stages(session, last),
            "nodes": fit.result.totalNumNodes,
            "threshold": bits.threshold,
            "min_exact_count": bits.minimum_count,
            "classes": fit.result.numClasses,
            "columns": fit.result.forest.encoder.n_columns,
            "partitions": self._table.partitions,
        }
        if scoring:
            scored = measured(lambda: score(fit.result, self._table.table))
            yield {"step": "transform", **scored.to_dict()}

    def close(self) -> None:
        """See System."""


class SparkForest:
    """RandomForestClassifier of pyspark.ml, on cached vectors."""

    name = SPARK

    def __init__(self, table: BenchTable, schema: DataSchema, *, trees: int, depth: int) -> None:
        self.depth = depth
        self._numbers = vectors(table.table, schema).cache()
        self._numbers.count()
        self._estimator = RandomForestClassifier(
            numTrees=trees, maxDepth=depth, seed=1, featuresCol="features", labelCol="label"
        )

    def round(self, *, scoring: bool) -> Iterator[Figures]:
        """See System."""
        fit = measured(lambda: self._estimator.fit(self._numbers))
        yield {"step": "fit", **fit.to_dict(), "nodes": fit.result.totalNumNodes}
        if scoring:
            scored = measured(lambda: score(fit.result, self._numbers))
            yield {"step": "transform", **scored.to_dict()}

    def close(self) -> None:
        """See System."""
        self._numbers.unpersist(blocking=True)


class LargeSparkForest(SparkForest):
    """RandomForestClassifier of pyspark.ml with as many nodes as ours, about; only scored.

    Fitted once, on a tenth of the rows: on all of them so deep a forest would take too long.
    """

    name = LARGE

    def __init__(self, table: BenchTable, schema: DataSchema, *, trees: int, depth: int) -> None:
        super().__init__(table, schema, trees=trees, depth=depth)
        self._model = self._estimator.fit(self._numbers.sample(fraction=0.1, seed=1))

    def round(self, *, scoring: bool) -> Iterator[Figures]:
        """See System."""
        if scoring:
            scored = measured(lambda: score(self._model, self._numbers))
            yield {"step": "transform", **scored.to_dict(), "nodes": self._model.totalNumNodes}


class ExtraTrees:
    """ExtraTreesClassifier of scikit-learn on all cores, in the child process."""

    name = SKLEARN

    def __init__(
        self,
        table: BenchTable,
        schema: DataSchema,
        child: ProcessPoolExecutor,
        *,
        trees: int,
        depth: int,
    ) -> None:
        self.depth = depth
        self._child, self._trees = child, trees
        self._path = f"{table.path}-numbers"
        as_numbers(table.table, schema).write.mode("overwrite").parquet(self._path)
        child.submit(warm_numbers, self._path).result()

    def round(self, *, scoring: bool) -> Iterator[Figures]:
        """See System."""
        work = self._child.submit(
            extra_trees, self._path, trees=self._trees, depth=self.depth, scoring=scoring
        )
        for step, figures in work.result().items():
            yield {"step": step, **figures}

    def close(self) -> None:
        """See System."""


def score(model: Transformer, rows: DataFrame) -> None:
    """Compute all scores of a table and drop them."""
    model.transform(rows).write.format("noop").mode("overwrite").save()


def wake_workers(rows: DataFrame) -> None:
    """Have Python workers ready: Spark ends those that were idle for a minute of others' work."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        importlib.import_module("lumberjack_spark.training")  # as a fit's tasks do
        n = sum(batch.num_rows for batch in batches)
        yield pa.RecordBatch.from_arrays([pa.array([n])], ["n"])

    rows.mapInArrow(count, "n long").toArrow()


def last_stage(session: SparkSession) -> int:
    """Number of the newest stage; -1 where Spark does not tell."""
    return max((stage["id"] for stage in _stages(session)), default=-1)


def work_of_stages(session: SparkSession, last: int) -> Mapping[str, float | None]:
    """What the stages after `last` did; None where Spark does not tell, as on Connect.

    Returns:
        Bytes written for shuffles, spilled, and sent to the driver; seconds of all tasks together
        by the clock, apart for those that read the table and those that read a shuffle.
    """
    stages = [stage for stage in _stages(session) if stage["id"] > last]
    if not stages:
        return dict.fromkeys((*_BYTES, "map_task_s", "reduce_task_s"))
    found: dict[str, float | None] = {name: sum(s[name] for s in stages) for name in _BYTES}
    for name, reads in (("map_task_s", False), ("reduce_task_s", True)):
        seconds = sum(s["run_s"] for s in stages if s["reads_shuffle"] == reads)
        found[name] = round(seconds, 3)
    return found


def _stages(session: SparkSession) -> list[dict[str, Any]]:
    """Figures of all stages that Spark's status store still knows."""
    try:
        context: Any = session.sparkContext
        store = context._jsc.sc().statusStore()
        no_quantiles = context._gateway.new_array(context._jvm.double, 0)
        stages = store.stageList(None, False, False, no_quantiles, None).iterator()
        found = []
        while stages.hasNext():
            stage = stages.next()
            found.append(
                {
                    "id": stage.stageId(),
                    "shuffle_bytes": stage.shuffleWriteBytes(),
                    "spilled_bytes": stage.diskBytesSpilled(),
                    "result_bytes": stage.resultSize(),
                    "reads_shuffle": stage.shuffleReadBytes() > 0,
                    "run_s": stage.executorRunTime() / 1000,
                }
            )
    except Exception:  # no classic session, or a store of another form: figures are left out
        return []
    return found
