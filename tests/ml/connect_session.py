"""Everything public on a Spark Connect session; run as a program, in a process of its own.

A process holds classic sessions or Connect ones, not both; test_connect runs this file.
"""

import os
import sys
import tempfile
import uuid
from collections.abc import Iterator

import pyarrow as pa

sys.path.insert(0, os.getcwd())
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYTHONPATH"] = os.getcwd()

from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator
from pyspark.ml.feature import StringIndexer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from lumberjack_spark import LumberjackClassificationModel, LumberjackClassifier
from lumberjack_spark.errors import ModelFormatError, SchemaError, SparkFailureError
from lumberjack_spark.spark import shipping
from lumberjack_spark.training import LocalBackend, fit_forest
from tests.small_models import KEY, SCHEMA, small_table


def refused(*args: object, **kwargs: object) -> None:
    """Stand in for what serverless sessions refuse."""
    raise NotImplementedError("no table may be kept")


def watched_rows(rows: DataFrame, folder: str) -> DataFrame:
    """The same rows; a file in the folder tells of each partition that was read."""

    def watch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with open(f"{folder}/{uuid.uuid4().hex}", "w"):
            yield from batches

    return rows.mapInArrow(watch, rows.schema)


def raised(error: type[Exception], call: object) -> str:
    """Message of the error that a call raises."""
    try:
        call()  # type: ignore[operator]
    except error as found:
        return str(found)
    raise AssertionError(f"{error.__name__} was not raised")


def main() -> None:
    """Fit, score, evaluate, save and load."""
    session = SparkSession.builder.remote("local[2]").getOrCreate()
    assert shipping.is_connect(session)
    kind, persist = type(session.range(1)), type(session.range(1)).persist
    for name in ("persist", "cache", "checkpoint", "localCheckpoint"):
        setattr(kind, name, refused)
    table = small_table()
    rows: DataFrame = session.createDataFrame(table).repartition(3, "age")
    estimator = LumberjackClassifier(
        schema=SCHEMA,
        epsilon=50.0,
        delta=1e-6,
        numTrees=5,
        maxDepth=7,
        accountant="theorem6",
        encodingShare=0.2,
        labelIndexCol="labelIndex",
    )
    model = estimator._fit_with_key(rows, KEY)
    local = LocalBackend([table.to_batches()])
    twin = fit_forest(local, SCHEMA, estimator.plan(), seed=0, key=KEY)
    assert (model.forest.leaf_counts == twin.leaf_counts).all()
    with tempfile.TemporaryDirectory() as folder:
        watched = watched_rows(rows, folder)
        for keep, passes in ((refused, 3), (persist, 1)):
            kind.persist = keep
            again = estimator._fit_with_key(watched, KEY)
            assert (again.forest.leaf_counts == twin.leaf_counts).all()
            reads = [os.remove(f"{folder}/{name}") for name in os.listdir(folder)]
            assert len(reads) == 3 * passes, f"{len(reads)} partitions were read"
        kind.persist = refused

    def check(scored: DataFrame) -> None:
        found = scored.toArrow()
        expected = model.predict(found)
        assert found.column("prediction").to_pylist() == expected.prediction.tolist()
        assert found.column("predictedLabel").to_pylist() == expected.label.tolist()

    check(model.transform(rows.drop("income")))
    shipping.MOST_INLINE_BYTES = 0  # the forest travels as a file of the session
    for _ in range(2):
        check(model.transform(rows))
    evaluator = BinaryClassificationEvaluator(labelCol="labelIndex")
    assert evaluator.evaluate(model.transform(rows)) > 0.8
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/model"
        model.save(path)
        model.write().overwrite().save(path)
        check(LumberjackClassificationModel.load(path).transform(rows))
        told = raised(ModelFormatError, lambda: LumberjackClassifier.load(path))
        assert "LumberjackClassificationModel.load" in told
        estimator.save(f"{folder}/estimator")
        estimator.write().overwrite().save(f"{folder}/estimator")
        assert LumberjackClassifier.load(f"{folder}/estimator").getSchema() == SCHEMA
        pipeline = Pipeline(stages=[StringIndexer(inputCol="city", outputCol="x"), estimator])
        pipeline.fit(rows).write().overwrite().save(f"{folder}/pipeline")
        loaded = PipelineModel.load(f"{folder}/pipeline")
        assert "StringIndexer" in loaded.stages[-1].certificate["warnings"][0]
        assert loaded.transform(rows).count() == table.num_rows
        copied = estimator.copy({estimator.materializeDir: f"{folder}/copy"})
        again = copied._fit_with_key(rows, KEY)
        assert (again.forest.leaf_counts == twin.leaf_counts).all()
        left = [f for _, _, files in os.walk(f"{folder}/copy") for f in files if "parquet" in f]
        assert sum(session.read.parquet(f"{folder}/copy/*").count() for _ in left[:1]) == 0
    assert "'city'" in raised(SchemaError, lambda: estimator.fit(rows.drop("city")))
    secret = sql.raise_error(sql.lit("row of Ann"))
    failing = rows.withColumn("age", sql.when(sql.col("age") > 1, secret).otherwise(1))
    assert "Ann" not in raised(SparkFailureError, lambda: estimator.fit(failing))
    session.stop()


if __name__ == "__main__":
    main()
