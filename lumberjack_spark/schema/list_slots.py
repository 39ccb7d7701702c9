"""Slots of list arrays as plain arrays, one for each slot.

A row counts only if its list has exactly the declared number of slots: in a shorter or longer one
no position can be trusted, so all its slots are null, as they are in a null list.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as types

from lumberjack_spark.schema.column_types import is_list_type
from lumberjack_spark.schema.column_values import null_mask, plain_array


def slots_of(array: pa.Array, width: int) -> list[pa.Array]:
    """Slots of n lists.

    Args:
        array: list, large_list or fixed_size_list array; any other type reads as null lists.
        width: declared number of slots.

    Returns:
        `width` arrays of n values each.
    """
    if not is_list_type(array.type):
        return [pa.nulls(len(array))] * width
    values = array.values
    starts, lengths = _places(array)
    usable = lengths == width
    if array.null_count:
        usable &= ~null_mask(array)
    if bool(usable.all()) and _is_numpy_type(values):
        return _strided(values, starts, width)
    values = plain_array(values) if types.is_dictionary(values.type) else values
    starts = np.where(usable, starts, 0)
    return [values.take(pa.array(starts + slot, mask=~usable)) for slot in range(width)]


def _places(array: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """First position in `array.values` and number of slots of each list, both int64[n]."""
    if types.is_fixed_size_list(array.type):
        width = array.type.list_size
        starts = (np.arange(len(array), dtype=np.int64) + array.offset) * width
        return starts, np.full(len(array), width, np.int64)
    offsets = array.offsets.to_numpy().astype(np.int64)
    return offsets[:-1], np.diff(offsets)


def _is_numpy_type(values: pa.Array) -> bool:
    """Whether the values are a numpy array without nulls."""
    kind = values.type
    return not values.null_count and bool(types.is_integer(kind) or types.is_floating(kind))


def _strided(values: pa.Array, starts: npt.NDArray[np.int64], width: int) -> list[pa.Array]:
    """Columns of lists that all have `width` slots and follow each other."""
    first = int(starts[0]) if starts.size else 0
    table = values.slice(first, starts.size * width).to_numpy().reshape(-1, width)
    return [pa.array(np.ascontiguousarray(column)) for column in table.T]
