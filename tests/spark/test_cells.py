"""Rows are read once, kept as cells as long as a fit needs them, and read again where they must."""

import pytest
from pyspark.sql import DataFrame

from lumberjack_spark.spark.backend import SparkBackend
from lumberjack_spark.spark.columns import select_columns
from lumberjack_spark.training import LocalBackend, fit_forest
from tests.training.tables import KEY, SCHEMA, partitions, random_rows, same_forest
from tests.training.tables import plan_with_marginals as make_plan

pytestmark = pytest.mark.spark

TABLE = random_rows(600)
PARTITIONS = 3


def watched_rows(spark):
    """A table, and how many of its partitions were read so far."""
    rows = select_columns(
        spark.createDataFrame(TABLE).repartition(PARTITIONS), SCHEMA, with_label=True
    )
    reads = spark.sparkContext.accumulator(0)

    def watch(batches):
        reads.add(1)
        yield from batches

    return rows.mapInArrow(watch, rows.schema), reads


def kept(spark):
    """Number of tables that the session caches."""
    return spark.sparkContext._jsc.getPersistentRDDs().size()


def grown(rows, plan):
    return fit_forest(SparkBackend(rows), SCHEMA, plan, seed=11, key=KEY)


def grown_here(plan):
    return fit_forest(LocalBackend(partitions(TABLE, 1)), SCHEMA, plan, seed=11, key=KEY)


def test_rows_are_read_once_and_their_cells_given_back(spark):
    plan, before = make_plan(max_depth=20), kept(spark)
    rows, reads = watched_rows(spark)
    assert same_forest(grown(rows, plan), grown_here(plan))
    assert reads.value == PARTITIONS
    assert kept(spark) == before


def refuse(*args, **kwargs):
    raise NotImplementedError("not on serverless compute")


def test_where_nothing_can_be_kept_rows_are_read_by_each_pass(spark, monkeypatch, caplog):
    plan = make_plan(max_depth=20)
    rows, reads = watched_rows(spark)
    monkeypatch.setattr(type(rows), "persist", refuse)
    monkeypatch.setattr(type(rows), "unpersist", refuse)
    assert isinstance(rows, DataFrame)
    assert same_forest(grown(rows, plan), grown_here(plan))
    assert reads.value == 4 * PARTITIONS
    assert not caplog.records


def test_a_warning_says_that_cells_could_not_be_given_back(spark, monkeypatch, caplog):
    plan, rows = make_plan(), watched_rows(spark)[0]
    unpersist = type(rows).unpersist
    with monkeypatch.context() as broken:
        broken.setattr(type(rows), "unpersist", lambda table: unpersist(table) and refuse())
        assert same_forest(grown(rows, plan), grown_here(plan))
    assert [record.getMessage() for record in caplog.records] == [
        "Cells of rows stay in Spark's cache until the session ends."
    ]


def test_cells_are_given_back_after_a_failure(spark, monkeypatch):
    before, seen = kept(spark), []

    class BrokenKey:
        def stream(self, stage, *ids):
            seen.append(kept(spark))
            raise KeyboardInterrupt

    rows, _ = watched_rows(spark)
    with pytest.raises(KeyboardInterrupt):
        fit_forest(SparkBackend(rows), SCHEMA, make_plan(), seed=11, key=BrokenKey())
    assert seen == [before + 1]
    assert kept(spark) == before
