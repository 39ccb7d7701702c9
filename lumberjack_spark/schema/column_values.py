"""Arrow arrays of any column type as numpy arrays, never raising on what they hold.

Dictionary and string_view arrays become their plain values first. Types that cannot serve, which
`column_types` refuses before any data is read, read as missing.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from lumberjack_spark.schema.text_numbers import numbers_of_texts

_EXACT_DIGITS = 15


def is_text_type(kind: pa.DataType) -> bool:
    """Whether values of the type are texts."""
    is_view = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def is_number_type(kind: pa.DataType) -> bool:
    """Whether values of the type are numbers or booleans."""
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_boolean(kind)
    )


def plain_array(array: pa.Array) -> pa.Array:
    """Array without dictionary or view: numbers, string or large_string where they were such."""
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if is_text_type(array.type) and not types.is_string(array.type):
        return array.cast(pa.large_string())
    return array


def null_mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    """bool[n], True where the value is null."""
    mask: npt.NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return mask


def numbers_of(array: pa.Array) -> npt.NDArray[np.float64]:
    """Numbers of a plain array; may be a read-only view of it.

    Returns:
        float64[n]; NaN for null, NaN and text that is no number; booleans are 0 and 1.
    """
    kind = array.type
    if types.is_boolean(kind):
        array = array.cast(pa.uint8())
    elif types.is_decimal(kind):
        return _numbers_of_decimals(array)
    elif is_text_type(kind):
        return numbers_of_texts(array)
    elif not is_number_type(kind):
        return np.full(len(array), np.nan)
    values: npt.NDArray[np.generic] = array.to_numpy(zero_copy_only=False)
    return values.astype(np.float64, copy=False)


def integers_of(array: pa.Array) -> npt.NDArray[np.integer]:
    """Values of an integer array, 0 for null."""
    filled = pc.fill_null(array, 0) if array.null_count else array
    values: npt.NDArray[np.integer] = filled.to_numpy(zero_copy_only=False)
    return values


def _numbers_of_decimals(array: pa.Array) -> npt.NDArray[np.float64]:
    """Nearest float64 of each decimal; Arrow's own cast is often one unit in the last place off."""
    kind = array.type
    is_small = types.is_decimal128(kind) and kind.precision <= _EXACT_DIGITS and kind.scale >= 0
    if not is_small or not len(array):
        return numbers_of_texts(array.cast(pa.string()))
    # A decimal128 is a little-endian 128-bit integer over 10^scale. Up to 15 digits lie in its low
    # word, both parts of the quotient are exact, and one division rounds once.
    words = np.frombuffer(array.buffers()[1], "<i8")[::2]
    words = words[array.offset : array.offset + len(array)]
    numbers: npt.NDArray[np.float64] = words / 10.0**kind.scale
    if array.null_count:
        numbers[null_mask(array)] = np.nan
    return numbers
