"""Columns of Python objects as Arrow arrays, whatever they hold.

A column of one usual type keeps it. In a mixed one every cell becomes the one text that stands for
its value, which `RowReader` reads like the value itself; None, NaN, NA and NaT are null; an object
that is no value (a date, bytes, a list) becomes a text that matches nothing, and so reads as a
missing number or as "other". Nothing is raised.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.schema.column_types import is_list_type, is_value_type
from lumberjack_spark.schema.numeric import as_float
from lumberjack_spark.schema.text_numbers import text_of_number
from lumberjack_spark.schema.values import is_text

UNKNOWN = "\0"
"""Text of what is no value; no declared text holds this character."""

_MISSING_TYPES = ("NoneType", "NAType", "NaTType")
_SINGLE_TYPES = {str, bool, Decimal, np.bool_, np.float32, np.int64, np.int32, np.int16, np.int8}


def values_of_objects(cells: Sequence[Any], *, words: bool) -> pa.Array:
    """Array of n single values.

    Args:
        cells: n objects of any kind.
        words: whether true and false stand for these words; else for 1 and 0.
    """
    array = _alike(cells, set(map(type, cells)))
    if array is not None and is_value_type(array.type):
        return array
    return pa.array([text_of_cell(cell, words=words) for cell in cells], pa.string())


def lists_of_objects(cells: Sequence[Any], words: Sequence[bool]) -> pa.Array:
    """Array of n lists.

    Args:
        cells: n lists, tuples, one-dimensional numpy arrays, vectors with a `toArray` method, or
            anything else, which reads as null.
        words: for each slot, whether true and false in it stand for these words.
    """
    lists = [_items(cell) for cell in cells]
    array = _alike(lists, set().union(*(_item_types(items) for items in lists)))
    if array is not None and is_list_type(array.type) and is_value_type(array.type.value_type):
        return array
    slots = [*words, False]
    texts = [
        None
        if items is None
        else [
            text_of_cell(item, words=slots[min(slot, len(words))])
            for slot, item in enumerate(items)
        ]
        for items in lists
    ]
    return pa.array(texts, pa.list_(pa.string()))


def text_of_cell(cell: object, *, words: bool) -> str | None:
    """The text that stands for one object; None where it is missing."""
    if isinstance(cell, str):
        return str(cell) if is_text(cell) else UNKNOWN
    if isinstance(cell, (bool, np.bool_)):
        return ("true" if cell else "false") if words else str(int(cell))
    if isinstance(cell, (int, float, Decimal, np.integer, np.floating)):
        try:
            number = as_float(cell)
        except ValueError:  # a signalling NaN
            return None
        return None if math.isnan(number) else text_of_number(number)
    return None if type(cell).__name__ in _MISSING_TYPES else UNKNOWN


def _alike(cells: Sequence[Any], kinds: set[type]) -> pa.Array | None:
    """Array of objects that are surely all of one usual type, or None.

    Arrow is not asked about any other mixture: it reads true beside a float as 1.0, another value
    than the word, and some mixtures of numpy scalars end the process.
    """
    kinds = {kind for kind in kinds if kind.__name__ not in _MISSING_TYPES}
    if not (kinds <= {int, float, np.float64} or (len(kinds) == 1 and kinds <= _SINGLE_TYPES)):
        return None
    try:
        return pa.array(cells, from_pandas=True)
    except Exception:  # a number or text that Arrow has no room for
        return None


def _item_types(items: Sequence[Any] | np.ndarray | None) -> set[type]:
    """Types of the items of one list."""
    if isinstance(items, np.ndarray) and items.dtype != object:
        return {items.dtype.type}
    return set() if items is None else set(map(type, items))


def _items(cell: Any) -> Sequence[Any] | np.ndarray | None:
    """Items of a list-like cell, or None."""
    if isinstance(cell, (list, tuple)):
        return cell
    try:
        items = cell.toArray() if hasattr(cell, "toArray") else cell
    except Exception:  # whatever the object is, it holds no list
        return None
    return items if isinstance(items, np.ndarray) and items.ndim == 1 else None
