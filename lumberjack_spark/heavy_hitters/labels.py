"""Node labels 1, 2i, 2i+1 into sorted path codes, and back.

A path code is the path's bits left-aligned, then a single 1 that says where it ends, then zeros:
one 64-bit word up to height 63, two up to 126.  Messages never show a label or a count.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.heavy_hitters.prefixes import Keys

ONE_WORD_HEIGHT = 63


def path_codes(labels: Iterable[int], height: int) -> Keys:
    """Return the path code of each label as a key, in the order of labels.

    Raises:
        ValueError: a label is not an integer in 1..2^height - 1.
    """
    if height > ONE_WORD_HEIGHT:
        return _two_word_codes(labels, height)
    numbers = whole_numbers(labels, "labels")
    if numbers.size and not (numbers.min() >= 1 and int(numbers.max()) < 1 << height):
        raise _label_error(height)
    bits = numbers.astype(np.uint64)
    # The last bit is the end mark; the first bit of a label, always 1, falls off the word.
    return ((bits << np.uint64(1)) | np.uint64(1)) << (np.uint64(64) - _bit_lengths(bits))


def whole_numbers(values: Iterable[int], name: str) -> NDArray[Any]:
    """Return integers as an array of an integer type.

    Raises:
        ValueError: a value is not an integer of at most 64 bits.
    """
    typed = isinstance(values, np.ndarray) and values.dtype != object
    numbers: NDArray[Any] = np.asarray(values if typed else list(values))
    if numbers.size == 0:
        return np.empty(0, np.int64)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1:
        raise ValueError(f"{name} must be a sequence of integers, got another type or a huge one")
    return numbers


def labels_of_nodes(levels: Sequence[Keys]) -> set[int]:
    """Return the labels of nodes given as keys by level."""
    labels: set[int] = set()
    for level, keys in enumerate(levels):
        root = 1 << level
        if keys.dtype == np.uint64:
            # In two steps, since a shift by 64 is undefined at level 0.
            prefixes = (keys >> np.uint64(1)) >> np.uint64(63 - level)
            labels.update((prefixes | np.uint64(root)).tolist())
        else:
            codes = (int.from_bytes(key.ljust(16, b"\0"), "big") for key in keys.tolist())
            labels.update(root | code >> (128 - level) for code in codes)
    return labels


def _two_word_codes(labels: Iterable[int], height: int) -> Keys:
    """Return path codes of 128 bits."""
    codes = []
    try:
        numbers = [operator.index(label) for label in labels]
    except TypeError:
        raise _label_error(height) from None
    for number in numbers:
        if not 1 <= number < 1 << height:
            raise _label_error(height)
        code = (2 * number + 1) << (128 - number.bit_length())
        codes.append((code & ((1 << 128) - 1)).to_bytes(16, "big"))
    return np.frombuffer(b"".join(codes), "S16")


def _bit_lengths(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the number of bits of each integer >= 1."""
    spread = numbers.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        spread |= spread >> np.uint64(shift)
    return np.bitwise_count(spread).astype(np.uint64)


def _label_error(height: int) -> ValueError:
    """Return the error of a label outside the tree."""
    return ValueError(f"labels must be integers in 1..2^{height} - 1, got another one")
