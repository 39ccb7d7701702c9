"""Look up integers and floats in a fixed set of numbers, many at once.

A set whose whole span is small becomes one direct table; others are searched by bisection. Memory
is linear in the set: the span of a direct table is at most DENSE_SPAN times the set.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lumberjack_spark.schema.text_numbers import LARGEST_WHOLE

DENSE_SPAN = 64
DENSE_FLOOR = 1024


class NumberTable:
    """Codes of numbers.

    Args:
        codes: code of each number.
        absent: code of every other number, of NaN and of infinities.
    """

    def __init__(self, codes: Mapping[float, int], absent: int) -> None:
        keys = np.array(sorted(codes), np.float64)
        self._keys = keys
        self._codes = np.array([*(codes[key] for key in keys.tolist()), absent], np.int32)
        self._absent = absent
        self._direct: npt.NDArray[np.int32] | None = None
        self._low = 0
        whole = (keys == np.floor(keys)) & (np.abs(keys) < LARGEST_WHOLE)
        if keys.size and bool(whole.all()):
            self._low = int(keys[0])
            span = int(keys[-1]) - self._low + 1
            if span <= max(DENSE_FLOOR, DENSE_SPAN * keys.size):
                self._direct = np.full(span + 1, absent, np.int32)
                self._direct[keys.astype(np.int64) - self._low] = self._codes[:-1]

    @property
    def is_empty(self) -> bool:
        """Whether no number has a code of its own."""
        return not self._keys.size

    def of_integers(self, numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
        """Codes int32[n] of an integer array of any width; uint64 goes through float64."""
        if self._direct is None or numbers.dtype == np.uint64:
            return self.of_floats(numbers.astype(np.float64))
        # One unsigned comparison covers both ends: below `low` wraps to a huge number.
        offset = np.subtract(numbers, self._low, dtype=np.int64).view(np.uint64)
        np.minimum(offset, np.uint64(self._direct.size - 1), out=offset)
        codes: npt.NDArray[np.int32] = self._direct[offset.view(np.int64)]
        return codes

    def of_floats(self, numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.int32]:
        """Codes int32[n] of float64[n]."""
        if self.is_empty:
            return np.full(numbers.size, self._absent, np.int32)
        if self._direct is None:
            place = np.searchsorted(self._keys, numbers)
            np.minimum(place, self._keys.size - 1, out=place)
            found = self._keys[place] == numbers
            codes: npt.NDArray[np.int32] = np.where(found, self._codes[place], self._codes[-1])
            return codes
        inside = (numbers >= self._keys[0]) & (numbers <= self._keys[-1])
        inside &= np.floor(numbers) == numbers
        offset = np.where(inside, numbers - self._low, self._direct.size - 1)
        return self._direct[offset.astype(np.int64)]
