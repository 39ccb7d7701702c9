"""Scoring a Spark table: columns added to it by one function over the schema's columns.

Only these columns leave the JVM; whatever else the table holds stays there. Rows are scored batch
by batch as they stream by, so memory does not depend on the table.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from lumberjack_spark.model.scorer import Scorer, class_indices, probabilities
from lumberjack_spark.schema import DataSchema, batch_from_pandas
from lumberjack_spark.schema.mistakes import raise_mistakes
from lumberjack_spark.spark.batches import in_larger_batches
from lumberjack_spark.spark.columns import schema_columns
from lumberjack_spark.spark.shipping import shipped
from lumberjack_spark.spark.workers import settle

_HOLDER = "__lumberjack_scores"
_ROWS_TOGETHER = 1 << 16  # Spark hands over 10,000, which walk a third slower
_NUMBERS_TOGETHER = 1 << 22  # features and scores of these rows: many classes need fewer rows


@dataclass(frozen=True)
class ScoreColumns:
    """Names of the columns to add; an empty name leaves one out.

    Attributes:
        raw: vector, sum over trees of what the row's leaves say of each class.
        probability: vector, one share for each declared class.
        prediction: double, index of the most likely class.
        label: the most likely class itself.
        label_index: double, index of the row's own label, null where it is not declared; only
            for a table that has the label column.
    """

    raw: str
    probability: str
    prediction: str
    label: str
    label_index: str = ""

    @property
    def names(self) -> list[str]:
        """Names of all columns that may be added."""
        scores = (self.raw, self.probability, self.prediction, self.label, self.label_index)
        return [name for name in scores if name]


def add_scores(df: DataFrame, scorer: Scorer, columns: ScoreColumns) -> DataFrame:
    """The table with scores beside its columns; no job is run.

    Raises:
        SchemaError: the table does not suit the schema, or has a column that is to be added.
    """
    fields = df.schema
    with_label = bool(columns.label_index) and scorer.schema.label in fields.names
    inputs = schema_columns(df, fields, scorer.schema, with_label=with_label)
    _check_names(fields.names, columns)
    if not columns.names:
        return df
    from pyspark.ml.functions import array_to_vector

    scores = _score_function(
        scorer.schema, shipped(scorer, df.sparkSession), with_label=with_label
    )(*inputs)
    held, k = sql.col(_HOLDER), len(scorer.schema.classes)
    prediction = held[2 * k]
    made = {
        columns.raw: array_to_vector(sql.slice(held, 1, k)),
        columns.probability: array_to_vector(sql.slice(held, k + 1, k)),
        columns.prediction: prediction,
        columns.label: _label(prediction, scorer.schema.classes),
    }
    if with_label:
        made[columns.label_index] = sql.when(held[2 * k + 1] >= 0, held[2 * k + 1])
    added = [column.alias(name) for name, column in made.items() if name]
    # By star, not by name: a joined table may have two columns of one name.
    return df.select("*", scores.alias(_HOLDER)).select("*", *added).drop(_HOLDER)


def _check_names(names: Sequence[str], columns: ScoreColumns) -> None:
    """Refuse names that are taken; Spark compares names without case."""
    taken = {name.casefold() for name in names}
    wanted = [name.casefold() for name in columns.names]
    mistakes = [
        f"column {name!r} must not be in the table, as scores go there: rename it or choose "
        "another name for the scores"
        for name in columns.names
        if name.casefold() in taken
    ]
    if len(set(wanted)) < len(wanted):
        mistakes.append(f"columns for scores must have different names, got {columns.names}")
    raise_mistakes(mistakes)


def _label(prediction: Column, classes: Sequence[str | int | bool]) -> Column:
    """The class with an index, in the classes' own type."""
    values = sql.array(*(sql.lit(value).cast(_type_of(value)) for value in classes))
    return sql.element_at(values, (prediction + 1).cast("int"))


def _type_of(value: str | int | bool) -> str:
    """Spark type of a declared class."""
    if isinstance(value, bool):
        return "boolean"
    return "bigint" if isinstance(value, int) else "string"


def _score_function(
    schema: DataSchema, scorer: Callable[[], Scorer], *, with_label: bool
) -> Callable[..., Column]:
    """Function of the schema's columns, as a column of arrays; see _scores.

    They are arguments of their own: as one struct they would be built row by row in the JVM.
    """
    made: Callable[..., Column]
    names = [*schema.columns, *([schema.label] if with_label else [])]
    if hasattr(sql, "arrow_udf"):
        width = len(schema.features) + 2 * len(schema.classes)
        together = min(_ROWS_TOGETHER, _NUMBERS_TOGETHER // width)

        def score_arrow(parts: Iterator[Any]) -> Iterator[pa.Array]:
            for batch in in_larger_batches(parts, names, together):
                scores = _scores(scorer(), batch, with_label)
                settle()
                n, m = scores.shape
                ends = pa.array(np.arange(n + 1, dtype=np.int32) * np.int32(m))
                yield pa.ListArray.from_arrays(ends, pa.array(scores.ravel()))

        score_arrow.__annotations__ = {
            "parts": Iterator[tuple[pa.Array, ...]],
            "return": Iterator[pa.Array],
        }
        made = sql.arrow_udf(score_arrow, "array<double>")
        return made
    import pandas as pd

    def score_pandas(*columns: Any) -> Any:
        rows = pd.DataFrame(dict(zip(names, columns, strict=True)))
        batch = batch_from_pandas(rows, schema, with_label=with_label)
        scores = _scores(scorer(), batch, with_label)
        settle()
        return pd.Series(list(scores))

    score_pandas.__annotations__ = {"columns": pd.Series, "return": pd.Series}
    from pyspark.sql.pandas.functions import pandas_udf

    made = pandas_udf(score_pandas, "array<double>")  # type: ignore[call-overload]
    return made


def _scores(scorer: Scorer, batch: pa.RecordBatch, with_label: bool) -> np.ndarray:
    """Scores of a batch: float64[n, 2 * n_classes + 1], or one column more with labels.

    A row has its raw scores, its probabilities, the index of the most likely class, and the index
    of its own, -1 where that is not declared. One array a row costs the JVM less than a struct.
    """
    raw = scorer.raw(batch)
    parts = [raw, probabilities(raw), class_indices(raw)[:, None]]
    if with_label:
        parts.append(scorer.reader.labels(batch)[:, None])
    return np.concatenate(parts, axis=1, dtype=np.float64)
