"""The columns of a table that a schema names, ready to leave the JVM, and nothing else.

Purpose    vector columns become arrays, sparse and dense ones alike; all mistakes of the table are
           named before any job runs.
Names      any text that Spark allows: a column `a.b` is not field b of a struct a.
Imports    pyspark.sql; works on Spark Connect.
"""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql import types as spark_types
from pyspark.sql.types import DataType, StructType, UserDefinedType

from lumberjack_spark.schema import DataSchema, SchemaMistakesError
from lumberjack_spark.schema.mistakes import raise_mistakes

_ARROW_TYPES: dict[type[DataType], pa.DataType] = {
    spark_types.BooleanType: pa.bool_(),
    spark_types.ByteType: pa.int8(),
    spark_types.ShortType: pa.int16(),
    spark_types.IntegerType: pa.int32(),
    spark_types.LongType: pa.int64(),
    spark_types.FloatType: pa.float32(),
    spark_types.DoubleType: pa.float64(),
    spark_types.StringType: pa.string(),
    spark_types.CharType: pa.string(),
    spark_types.VarcharType: pa.string(),
    spark_types.NullType: pa.null(),
}


def quoted(name: str) -> str:
    """A column's name as one identifier of Spark SQL.

    >>> quoted("a.b"), quoted("tick`")
    ('`a.b`', '`tick```')
    """
    return "`" + name.replace("`", "``") + "`"


def select_columns(
    df: DataFrame, schema: DataSchema, *, with_label: bool, extra: Sequence[str] = ()
) -> DataFrame:
    """The schema's columns of a table in schema order, then the label, then extra ones.

    Args:
        df: any table, classic or Connect; no job is run.
        schema: the declarations.
        with_label: whether the label column is needed too.
        extra: further columns, kept as they are.

    Returns:
        A table of these columns alone, under their own names; vectors as arrays of doubles.

    Raises:
        SchemaError: names every column that is missing, ambiguous or of an unsuitable type.
    """
    fields = df.schema
    columns = schema_columns(df, fields, schema, with_label=with_label)
    wanted = [*schema.columns, *([schema.label] if with_label else [])]
    more = [name for name in dict.fromkeys(extra) if name not in wanted]
    raise_mistakes(
        [
            f"extra: column {name!r} must be in the table, got columns without it"
            for name in more
            if name not in fields.names
        ]
    )
    return df.select(*columns, *(sql.col(quoted(name)) for name in more))


def schema_columns(
    df: DataFrame, fields: StructType, schema: DataSchema, *, with_label: bool
) -> list[Column]:
    """Expressions over df for the columns that a schema names, vectors as arrays.

    Args:
        df: the table.
        fields: df.schema, which is a remote call on Spark Connect and so is read once.
        schema: the declarations.
        with_label: whether the label column is needed too; it comes last.

    Raises:
        SchemaError: as select_columns.
    """
    wanted = [*schema.columns, *([schema.label] if with_label else [])]
    raise_mistakes(
        [
            *_name_mistakes(df, fields.names, wanted),
            *type_mistakes(fields, schema, with_label=with_label),
        ]
    )
    return [_expression(name, fields[name].dataType) for name in wanted]


def _expression(name: str, kind: DataType) -> Column:
    """One column as a type that Arrow carries."""
    column = sql.col(quoted(name))
    if _is_vector(kind):
        from pyspark.ml.functions import vector_to_array

        # vector_to_array raises on null, which would tell of a row.
        return sql.when(column.isNotNull(), vector_to_array(column)).alias(name)
    if isinstance(kind, spark_types.NullType):
        return column.cast("string").alias(name)
    if isinstance(kind, spark_types.ArrayType) and isinstance(
        kind.elementType, spark_types.NullType
    ):
        return column.cast("array<string>").alias(name)
    return column.alias(name)


def _name_mistakes(df: DataFrame, names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Names that Spark could not tell apart."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    alike = {name: folded.get(name.casefold(), []) for name in wanted}
    mistakes = [
        f"column {name!r} must be in the table once, got it {same.count(name)} times"
        for name, same in alike.items()
        if same.count(name) > 1
    ]
    by_case = [
        f"column {name!r} must differ from others by more than case, got {same}: rename one or "
        "set spark.sql.caseSensitive"
        for name, same in alike.items()
        if len(same) > 1 and same.count(name) == 1
    ]
    if by_case and df.sparkSession.conf.get("spark.sql.caseSensitive", "false") != "true":
        mistakes += by_case
    return mistakes


def type_mistakes(fields: StructType, schema: DataSchema, *, with_label: bool) -> list[str]:
    """Columns that a table lacks or has in an unsuitable type, one line each."""
    mistakes: list[str] = []
    kinds: dict[str, pa.DataType] = {}
    for field in fields:
        name, arrow = field.name, _arrow_type(field.dataType)
        is_label = with_label and name == schema.label
        if arrow is None and (is_label or name in schema.columns):
            where = "label" if is_label else f"features[{name!r}]"
            got = _type_name(field.dataType)
            rule = "must hold numbers, booleans or texts"
            mistakes.append(f"{where}: column {name!r} {rule}, got type {got}: cast it first")
            # Stands for a type that serves, so that this column is named once.
            arrow = pa.list_(pa.string()) if _wants_list(schema, name) else pa.string()
        kinds[name] = pa.null() if arrow is None else arrow
    try:
        schema.check_columns(kinds, with_label=with_label)
    except SchemaMistakesError as error:
        mistakes += error.mistakes
    return mistakes


def _wants_list(schema: DataSchema, name: str) -> bool:
    """Whether a column is declared as the source of several features."""
    return any(feature.column == name and feature.slot is not None for feature in schema.features)


def _arrow_type(kind: DataType) -> pa.DataType | None:
    """Arrow type in which a column travels, None if the schema cannot use it in any."""
    if _is_vector(kind):
        return pa.list_(pa.float64())
    if isinstance(kind, spark_types.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, spark_types.ArrayType):
        inner = _arrow_type(kind.elementType)
        return None if inner is None or _is_vector(kind.elementType) else pa.list_(inner)
    return _ARROW_TYPES.get(type(kind))


def _is_vector(kind: DataType) -> bool:
    """Whether a type is a vector of pyspark.ml or of the older pyspark.mllib."""
    # By name: importing pyspark.ml for every table would cost more than the look.
    return (
        isinstance(kind, UserDefinedType)
        and type(kind).__name__ == "VectorUDT"
        and type(kind).__module__ in ("pyspark.ml.linalg", "pyspark.mllib.linalg")
    )


def _type_name(kind: DataType) -> str:
    """Name of a type for a message."""
    return type(kind).__name__ if isinstance(kind, UserDefinedType) else kind.simpleString()
