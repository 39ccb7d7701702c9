"""Tables of a wanted size for the benchmark: a share of the input's rows, or copies of them.

Larger    copies beyond the first have their numeric columns jittered by up to half a percent of the
          declared range, so that they are no mere duplicates.
Place     every table is written once as Parquet, spread by a hash of its columns, and all systems
          read these files; drawing them again would give other rows.
Rivals    get one vector of doubles and a label index, as their own guides ask; missing numbers and
          undeclared categories are made numbers for them.
"""

import math
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import IntegralType

from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.spark._classic import parallelism
from lumberjack_spark.spark.columns import quoted, select_columns

_JITTER = 0.005  # of the declared range
_SEED = 20_181
_ROWS_A_PARTITION = 1 << 18


@dataclass(frozen=True)
class BenchTable:
    """One table in all the forms that systems take.

    Attributes:
        rows: number of rows.
        partitions: number of partitions.
        path: folder of its Parquet files.
        table: the schema's columns and the label, cached.
    """

    rows: int
    partitions: int
    path: str
    table: DataFrame

    def close(self) -> None:
        """Give the cache back."""
        self.table.unpersist(blocking=True)


def bench_table(
    rows: DataFrame, schema: DataSchema, *, wanted: int, have: int, path: str
) -> BenchTable:
    """A table of about the wanted number of rows, written and cached.

    Args:
        rows: the input.
        schema: its declarations.
        wanted: number of rows to come near.
        have: number of rows of the input.
        path: folder to write to.
    """
    session = rows.sparkSession
    cores = parallelism(session)
    clean = select_columns(rows, schema, with_label=True)
    copies = math.ceil(wanted / have)
    if copies > 1:
        clean = _jittered(clean, schema, copies)
    if wanted < copies * have:
        clean = clean.where(sql.rand(_SEED) < wanted / (copies * have))
    partitions = cores * math.ceil(wanted / (cores * _ROWS_A_PARTITION))
    names = [sql.col(quoted(name)) for name in clean.columns]
    clean.repartition(partitions, *names).write.mode("overwrite").parquet(path)
    return cached_table(session, path, partitions)


def cached_table(session: SparkSession, path: str, partitions: int) -> BenchTable:
    """A written table, read again and cached, one file a partition."""
    table = session.read.parquet(path)
    names = [sql.col(quoted(name)) for name in table.columns]
    table = table.repartition(partitions, *names).cache()
    return BenchTable(table.count(), partitions, path, table)


def vectors(table: DataFrame, schema: DataSchema) -> DataFrame:
    """Columns `features` (vector) and `label` (double) for pyspark.ml."""
    from pyspark.ml.feature import VectorAssembler

    numbers = as_numbers(table, schema)
    names = numbers.columns[:-1]
    made = VectorAssembler(inputCols=names, outputCol="features").transform(numbers)
    return made.select("features", "label")


def as_numbers(table: DataFrame, schema: DataSchema) -> DataFrame:
    """Doubles f0.. and label of the rows with a declared label; nothing is missing."""
    columns = [
        _number(sql.col(quoted(feature.column)), feature.declaration).alias(f"f{i}")
        for i, feature in enumerate(schema.features)
    ]
    label = _position(sql.col(quoted(schema.label)), schema.classes)
    return table.select(*columns, label.cast("double").alias("label")).where("label is not null")


def _number(column: Column, declared: Numeric | Categorical) -> Column:
    """A feature as a double."""
    if isinstance(declared, Numeric):
        number = column.try_cast("double")
        bounded = sql.greatest(sql.lit(declared.min), sql.least(sql.lit(declared.max), number))
        return sql.coalesce(sql.nanvl(bounded, sql.lit(declared.min)), sql.lit(declared.min))
    values = list(declared.values)
    return sql.coalesce(_position(column, values), sql.lit(len(values))).cast("double")


def _position(column: Column, values: Any) -> Column:
    """Index of a value among declared ones, null if it is none of them."""
    places = {str(value).lower() if isinstance(value, bool) else str(value): i
              for i, value in enumerate(values)}  # fmt: skip
    pairs = [sql.lit(part) for pair in places.items() for part in pair]
    return sql.try_element_at(sql.create_map(*pairs), column.cast("string"))


def _jittered(rows: DataFrame, schema: DataSchema, copies: int) -> DataFrame:
    """The rows several times over, the numbers of all but the first copy moved a little."""
    copied = rows.withColumn("__copy", sql.explode(sql.sequence(sql.lit(1), sql.lit(copies))))
    kinds = {field.name: field.dataType for field in rows.schema}
    made = []
    for i, name in enumerate(rows.columns):
        declared = schema.columns.get(name)
        column = sql.col(quoted(name))
        if isinstance(declared, Numeric):
            width = 2 * _JITTER * (declared.max - declared.min)
            whole = isinstance(kinds[name], IntegralType)
            move = (sql.rand(_SEED + i) - 0.5) * (max(width, 3.0) if whole else width)
            moved = sql.round(column + move) if whole else column + move
            inside = sql.greatest(sql.lit(declared.min), sql.least(sql.lit(declared.max), moved))
            kept = sql.when(sql.col("__copy") == 1, column).otherwise(inside)
            column = kept.cast(kinds[name])
        made.append(column.alias(name))
    return copied.select(*made)
