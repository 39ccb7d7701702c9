"""How one feature becomes integer codes that trees split on.

Codes come from comparisons of numbers and one subtraction and product, so that the same value gets
the same code on every machine.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

MOST_CODES = 65536
MOST_WHOLE_NUMBERS = 1 << 17  # in a table of their codes


@dataclass(frozen=True)
class LinearCodes:
    """A number as its place between two bounds.

    Attributes:
        low: number with code `first`, and high: number with code `last`; values lie within.
        first, last: 0 <= first < last <= 65535.
        missing: code of a missing number.
    """

    low: float
    high: float
    first: int
    last: int
    missing: int

    def of(self, values: np.ndarray) -> np.ndarray:
        """Codes uint16[n] of float64[n], NaN where missing."""
        scale = (self.last - self.first) / (self.high - self.low)
        places = np.nan_to_num((values - self.low) * scale, nan=0.0) + self.first
        codes = np.clip(places, self.first, self.last).astype(np.uint16)
        codes[np.isnan(values)] = self.missing
        return codes

    def possible(self) -> np.ndarray:
        """Codes that can occur, ascending."""
        return np.unique(np.append(np.arange(self.first, self.last + 1), self.missing))


@dataclass(frozen=True, eq=False)
class StepCodes:
    """A number as the code of the step it lies on.

    Attributes:
        edges: float64[m], strictly ascending; a number is on step i iff i edges are <= it.
        codes: uint16[m + 1], code of each step, nondecreasing unless steps stand for categories.
        missing: code of a missing number.
    """

    edges: np.ndarray
    codes: np.ndarray
    missing: int

    def of(self, values: np.ndarray) -> np.ndarray:
        """Codes uint16[n] of float64[n], NaN where missing."""
        missing = np.isnan(values)
        if missing.any():
            codes = self._of_numbers(np.where(missing, 0.0, values))
            codes[missing] = self.missing
            return codes
        return self._of_numbers(values)

    def _of_numbers(self, values: np.ndarray) -> np.ndarray:
        """The same where nothing is missing."""
        if self._codes_of_whole is not None:
            first, codes = self._codes_of_whole
            near = np.clip(values, first, first + len(codes) - 1)
            whole = near.astype(np.int64)
            if (whole == near).all():  # a table of whole numbers is read faster than searched
                found: np.ndarray = codes[whole - int(first)]
                return found
        found = self.codes[np.searchsorted(self.edges, values, side="right")]
        return found

    @cached_property
    def _codes_of_whole(self) -> tuple[float, np.ndarray] | None:
        """First whole number and codes of all from there to past the last edge, if they are few."""
        if len(self.edges) == 0:
            return None
        first, last = np.floor(self.edges[0]) - 1, np.ceil(self.edges[-1]) + 1
        if not last - first < MOST_WHOLE_NUMBERS:
            return None
        steps = np.searchsorted(self.edges, np.arange(first, last + 1), side="right")
        return float(first), self.codes[steps]

    def possible(self) -> np.ndarray:
        """Codes that can occur, ascending."""
        return np.unique(np.append(self.codes, np.uint16(self.missing)))


@dataclass(frozen=True, eq=False)
class CategoryCodes:
    """A category as a code; codes uint16[size + 2], the last two for "other" and missing.

    With one_of, codes are the categories themselves and splits ask "is it this one?".
    """

    codes: np.ndarray
    one_of: bool

    def of(self, values: np.ndarray) -> np.ndarray:
        """Codes uint16[n] of category indices int32[n]."""
        codes: np.ndarray = self.codes[values]
        return codes

    def possible(self) -> np.ndarray | int:
        """Codes that can occur, ascending; the number of categories with one_of."""
        return len(self.codes) - 2 if self.one_of else np.unique(self.codes)


FeatureCodes = LinearCodes | StepCodes | CategoryCodes
