"""Spark grows the very forest that one process grows, under one key, however rows are spread."""

import pyarrow as pa
import pytest

from lumberjack_spark.spark.backend import SparkBackend
from lumberjack_spark.spark.columns import select_columns
from lumberjack_spark.training import LocalBackend, fit_forest
from tests.training.tables import (
    KEY,
    OTHER_KEY,
    SCHEMA,
    partitions,
    plan_with_marginals,
    random_rows,
    real_plan,
    same_forest,
)

pytestmark = pytest.mark.spark

LABELS = ("no", "maybe", "yes", "never", None)
TABLE = random_rows(900, labels=LABELS)


@pytest.fixture(scope="module", params=["plain", "marginals", "majority, two passes, two words"])
def plan(request):
    if request.param == "plain":
        return real_plan()
    if request.param == "marginals":
        return plan_with_marginals()
    return real_plan(leaf_mode="majority", max_depth=70, num_trees=3)


def grown_here(table, plan, key=KEY):
    return fit_forest(LocalBackend(partitions(table, 1)), SCHEMA, plan, seed=11, key=key)


def grown_by_spark(rows, plan):
    backend = SparkBackend(select_columns(rows, SCHEMA, with_label=True))
    return fit_forest(backend, SCHEMA, plan, seed=11, key=KEY)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_spark_grows_the_same_forest_on_any_number_of_partitions(spark, plan, n):
    rows = spark.createDataFrame(TABLE).repartition(n)
    assert rows.rdd.getNumPartitions() == n
    forest = grown_by_spark(rows, plan)
    assert same_forest(forest, grown_here(TABLE, plan))
    assert len(forest.structure.nodes) > 5
    assert not same_forest(forest, grown_here(TABLE, plan, key=OTHER_KEY))


def test_spark_grows_the_same_forest_when_rows_come_sorted_by_label(spark, plan):
    rows = spark.createDataFrame(TABLE).repartitionByRange(3, "bought").sortWithinPartitions("age")
    assert same_forest(grown_by_spark(rows, plan), grown_here(TABLE, plan))


def test_spark_grows_the_same_forest_on_an_empty_table(spark, plan):
    table = random_rows(0)
    rows = spark.createDataFrame(TABLE).where("1 = 0")
    assert same_forest(grown_by_spark(rows, plan), grown_here(table, plan))


def test_spark_grows_the_same_forest_on_3_rows_in_8_partitions(spark, plan):
    table = random_rows(3)
    rows = spark.createDataFrame(table).repartition(8)
    assert same_forest(grown_by_spark(rows, plan), grown_here(table, plan))


@pytest.mark.parametrize("n", [40, pytest.param(1500, marks=pytest.mark.slow)])
def test_spark_grows_the_same_forest_on_tiny_partitions(spark, n):
    plan = real_plan()
    table = pa.concat_tables([TABLE, random_rows(700, seed=5)])
    rows = spark.createDataFrame(table).repartition(n)
    assert same_forest(grown_by_spark(rows, plan), grown_here(table, plan))


def test_spark_grows_the_same_forest_in_small_arrow_batches(spark):
    plan = real_plan()
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(name)
    spark.conf.set(name, "7")
    try:
        forest = grown_by_spark(spark.createDataFrame(TABLE).repartition(2), plan)
    finally:
        spark.conf.set(name, before)
    assert same_forest(forest, grown_here(TABLE, plan))
