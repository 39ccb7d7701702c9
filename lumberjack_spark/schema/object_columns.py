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
    return None if _is_missing(cell) else UNKNOWN


def _alike(cells: Sequence[Any], kinds: set[type]) -> pa.Array | None:
    """Array of objects that Arrow takes as of one type, or None.

    Arrow would read true beside a float as 1.0, which is another value than the word.
    """
    truths = kinds & {bool, np.bool_}
    if truths and kinds - truths - {type(None)}:
        return None
    try:
        return pa.array(cells, from_pandas=True)
    except Exception:  # Arrow has many reasons to refuse mixed objects; all of them are content
        return None


def _item_types(items: Sequence[Any] | np.ndarray | None) -> set[type]:
    """Types of the items of one list."""
    if isinstance(items, np.ndarray) and items.dtype != object:
        return {items.dtype.type}
    return set() if items is None else set(map(type, items))


def _is_missing(cell: object) -> bool:
    """Whether an object is None or one of pandas' own missing values."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _items(cell: Any) -> Sequence[Any] | np.ndarray | None:
    """Items of a list-like cell, or None."""
    if isinstance(cell, (list, tuple)):
        return cell
    try:
        items = cell.toArray() if hasattr(cell, "toArray") else cell
    except Exception:  # whatever the object is, it holds no list
        return None
    return items if isinstance(items, np.ndarray) and items.ndim == 1 else None
