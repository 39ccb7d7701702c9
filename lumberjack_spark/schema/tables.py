"""Pandas frames and numpy matrices as Arrow batches for `RowReader`.

Types      a column of a usual type keeps it; one of Python objects is read by `object_columns`.
Never      raises on content. A column that is missing, or of a type that cannot serve (dates,
           complex numbers), is a mistake of the caller and is named.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.schema.data_schema import DataSchema
from lumberjack_spark.schema.mistakes import raise_mistakes
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.object_columns import lists_of_objects, values_of_objects
from lumberjack_spark.schema.values import kind_of
from lumberjack_spark.schema.vector import Vector

if TYPE_CHECKING:
    import pandas as pd


def batch_from_pandas(
    frame: "pd.DataFrame", schema: DataSchema, *, with_label: bool = False
) -> pa.RecordBatch:
    """The columns of a frame that a schema names, as an Arrow batch.

    Args:
        frame: n rows; other columns are left alone.
        schema: the declarations.
        with_label: whether the label column is wanted too.

    Returns:
        Batch of n rows with the feature columns in order, the label last.

    Raises:
        SchemaError: a column is missing, there twice, or of a type that cannot serve.
    """
    wanted = [*schema.columns, *([schema.label] if with_label else [])]
    names = list(frame.columns)
    raise_mistakes(
        [
            f"column {name!r} must be in the table once, got it {names.count(name)} times"
            for name in wanted
            if names.count(name) > 1
        ]
    )
    arrays = {n: _of_series(frame[n], schema, n) for n in wanted if n in names}
    schema.check_columns({n: a.type for n, a in arrays.items()}, with_label=with_label)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def batch_from_numpy(matrix: np.ndarray, schema: DataSchema) -> pa.RecordBatch:
    """A matrix with one column for each feature, in the order of `schema.features`.

    Args:
        matrix: [n, n_features] of numbers, booleans, texts or objects.
        schema: the declarations.

    Raises:
        SchemaError: the matrix has another shape or a type that cannot serve.
    """
    width = len(schema.features)
    if matrix.ndim != 2 or matrix.shape[1] != width:
        rule = f"have one column for each of {width} features"
        raise_mistakes([f"the matrix must {rule}, got shape {matrix.shape}"])
    arrays = {}
    start = 0
    for name, declared in schema.columns.items():
        if isinstance(declared, Vector):
            cells = matrix[:, start : start + len(declared.slots)]
            arrays[name] = lists_of_objects(list(cells), _word_slots(schema, name))
            start += len(declared.slots)
        else:
            arrays[name] = _of_numpy(matrix[:, start], schema, name)
            start += 1
    schema.check_columns({n: a.type for n, a in arrays.items()}, with_label=False)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def _of_series(series: "pd.Series[Any]", schema: DataSchema, name: str) -> pa.Array:
    """Arrow array of one column of a frame."""
    if isinstance(series.dtype, np.dtype):
        return _of_numpy(series.to_numpy(), schema, name)
    categories = getattr(series.dtype, "categories", None)
    try:
        if categories is not None and categories.dtype == object:
            return _of_numpy(series.to_numpy(dtype=object), schema, name)
        array = pa.Array.from_pandas(series)
    except Exception:  # an extension type with content that Arrow has no type for
        return _of_numpy(series.to_numpy(dtype=object), schema, name)
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _of_numpy(values: np.ndarray, schema: DataSchema, name: str) -> pa.Array:
    """Arrow array of a one-dimensional numpy array."""
    kind = values.dtype.kind
    if kind == "c" or kind == "V":
        raise_mistakes([f"column {name!r} must be of numbers or texts, got {values.dtype}"])
    if kind == "f":
        values = values.astype(np.float64, copy=False)
    if kind in "biufMmS":
        return pa.array(values)
    if isinstance(schema.columns.get(name), Vector):
        return lists_of_objects(values.tolist(), _word_slots(schema, name))
    return values_of_objects(values.tolist(), words=_reads_words(schema, name))


def _reads_words(schema: DataSchema, name: str) -> bool:
    """Whether true and false in a column are words, as its declared values are texts."""
    declared = schema.columns.get(name)
    if declared is None:
        return kind_of(schema.classes) == "text"
    return _is_worded(declared)


def _word_slots(schema: DataSchema, name: str) -> list[bool]:
    """Whether true and false in each slot of a vector column are words."""
    declared = schema.columns[name]
    return [_is_worded(slot) for slot in declared.slots.values()]  # type: ignore[union-attr]


def _is_worded(declared: object) -> bool:
    return not isinstance(declared, Numeric) and getattr(declared, "kind", "") == "text"
