"""Columns named in a schema: any name, any vector, unsuitable tables named before any job."""

import pytest
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import types as spark_types
from pyspark.sql.types import StructField, StructType

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, DataSchema, Numeric, Vector
from lumberjack_spark.spark.columns import quoted, select_columns, type_mistakes

NAMES = ["a.b", "a b", "a,b", "tick`s", "[x]", "Income:USD", 'it\'s "q"', "所得", "a.`b`.c"]
LABEL = {"label": "y", "classes": ["no", "yes"]}
PAIR = Vector({"p": Numeric(0, 3), "q": Numeric(0, 3)})


def table(**kinds: spark_types.DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in kinds.items()])


def test_a_quoted_name_is_one_identifier():
    assert quoted("a`.b") == "`a``.b`"


def test_unsuitable_types_are_named_all_at_once():
    schema = DataSchema({"a": Numeric(0, 1), "b": PAIR, "c": Categorical(["x"])}, **LABEL)
    fields = table(
        a=spark_types.TimestampType(),
        b=spark_types.ArrayType(spark_types.DateType()),
        c=spark_types.StructType([]),
    )
    mistakes = type_mistakes(fields, schema, with_label=True)
    assert len(mistakes) == 4
    assert ["'a'" in mistakes[0], "'b'" in mistakes[1], "'c'" in mistakes[2]] == [True] * 3
    assert "got type timestamp" in mistakes[0]
    assert "'y' is missing" in mistakes[3]


@pytest.mark.parametrize(
    "kind",
    [
        spark_types.BooleanType(),
        spark_types.ByteType(),
        spark_types.LongType(),
        spark_types.FloatType(),
        spark_types.DecimalType(38, 18),
        spark_types.StringType(),
        spark_types.VarcharType(8),
        spark_types.NullType(),
    ],
)
def test_numbers_booleans_and_texts_serve(kind):
    schema = DataSchema({"a": Numeric(0, 1), "b": PAIR}, **LABEL)
    fields = table(a=kind, b=spark_types.ArrayType(kind))
    assert type_mistakes(fields, schema, with_label=False) == []


def test_a_vector_serves_slots_and_nothing_else():
    fields = table(a=VectorUDT())
    assert type_mistakes(fields, DataSchema({"a": PAIR}, **LABEL), with_label=False) == []
    (mistake,) = type_mistakes(fields, DataSchema({"a": Numeric(0, 1)}, **LABEL), with_label=False)
    assert "slots" in mistake


def test_the_label_column_is_judged_only_where_it_is_needed():
    schema = DataSchema({"a": Numeric(0, 1)}, **LABEL)
    fields = table(a=spark_types.LongType(), y=spark_types.DateType())
    assert type_mistakes(fields, schema, with_label=False) == []
    assert len(type_mistakes(fields, schema, with_label=True)) == 1


@pytest.mark.spark
def test_a_column_may_have_any_name(spark):
    from pyspark.sql import functions as sql

    struct = sql.struct(sql.lit(-1).alias("b"), sql.struct(sql.lit(-1).alias("c")).alias("`b`"))
    numbers = [(sql.lit(i)).alias(name) for i, name in enumerate(NAMES)]
    df = spark.range(1).select(struct.alias("a"), *numbers, sql.lit("no").alias("y"))
    schema = DataSchema({name: Numeric(0, 9) for name in reversed(NAMES)}, **LABEL)
    rows = select_columns(df, schema, with_label=True, extra=["a"])
    assert rows.columns == [*reversed(NAMES), "y", "a"]
    (row,) = rows.toArrow().to_pylist()
    assert [row[name] for name in NAMES] == list(range(len(NAMES)))


@pytest.mark.spark
def test_sparse_dense_and_absent_vectors_become_arrays(spark):
    rows = [
        (Vectors.dense(0.0, 3.0),),
        (Vectors.sparse(2, [(1, 3.0)]),),
        (Vectors.sparse(2, [(0, 0.0), (1, 3.0)]),),
        (None,),
    ]
    df = spark.createDataFrame(rows, StructType([StructField("f", VectorUDT())]))
    schema = DataSchema({"f": PAIR}, **LABEL)
    found = select_columns(df, schema, with_label=False).toArrow().column("f").to_pylist()
    assert found == [[0.0, 3.0]] * 3 + [None]


@pytest.mark.spark
def test_names_that_spark_cannot_tell_apart_are_refused(spark):
    from pyspark.sql import functions as sql

    df = spark.range(1).select(sql.lit(1).alias("F"), sql.lit(1).alias("f"))
    twice = spark.range(1).select(sql.lit(1).alias("f"), sql.lit(1).alias("f"))
    schema = DataSchema({"f": Numeric(0, 1)}, **LABEL)
    with pytest.raises(SchemaError, match="more than case"):
        select_columns(df, schema, with_label=False)
    with pytest.raises(SchemaError, match="'f' must be in the table once"):
        select_columns(twice, schema, with_label=False)
