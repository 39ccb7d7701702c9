"""A numeric feature: public bounds, and what a missing number becomes.

A declaration notes what was written; it is judged by `DataSchema`, which names the mistakes of all
declarations in one error. Bounds are public knowledge: they never come from the table.
"""

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lumberjack_spark.schema.mistakes import shown
from lumberjack_spark.schema.text_numbers import LARGEST_WHOLE, number_of_text
from lumberjack_spark.schema.values import MOST_CATEGORIES, IntegerRange

LARGEST_HALF = 2**52  # below it doubles hold numbers halfway between whole ones
NUMERIC_KEYS = ("min", "max", "missing", "missing_markers", "as_categories")
MISSING_SLOTS = ("low", "high")


@dataclass(frozen=True)
class Numeric:
    """A number between two public bounds; values outside are moved to the nearer bound.

    Attributes:
        min: lower bound, finite.
        max: upper bound, finite and > min.
        missing: what null, NaN, markers and text that is no number become. "low": a slot of its
            own below every value. "high": one above every value. A number within the bounds:
            that value.
        missing_markers: further values that mean "missing", as numbers (-999) or texts ("?"). They
            are compared before values are moved to the bounds.
        as_categories: the private encoder orders the whole numbers min..max like categories; trees
            without an encoder still see a number. Both bounds must be whole.
    """

    min: float = math.nan
    max: float = math.nan
    missing: str | float = "low"
    missing_markers: tuple[str | float, ...] = ()
    as_categories: bool = False

    def __post_init__(self) -> None:
        for name in ("min", "max", "missing"):
            value = getattr(self, name)
            if is_number(value):
                object.__setattr__(self, name, as_float(value))
        if isinstance(self.missing_markers, Sequence) and not isinstance(self.missing_markers, str):
            markers = tuple(as_float(m) if is_number(m) else m for m in self.missing_markers)
            object.__setattr__(self, "missing_markers", markers)

    @property
    def whole_numbers(self) -> IntegerRange:
        """The categories min..max that an encoder sees; only when `as_categories` is set."""
        if not self.as_categories:
            raise ValueError("whole_numbers needs as_categories=True on the numeric declaration")
        return IntegerRange(int(self.min), int(self.max))

    @property
    def marker_numbers(self) -> tuple[float, ...]:
        """Markers as numbers; a text marker that is no number is missing without being one."""
        found = (number_of_text(m) if isinstance(m, str) else m for m in self.missing_markers)
        return tuple(number for number in found if number is not None)

    def mistakes(self) -> list[str]:
        """What is wrong with this declaration, one line each."""
        bounds = _bound_mistakes(self.min, self.max)
        found = list(bounds)
        if not bounds and self.as_categories is True:
            found += _whole_mistakes(self.min, self.max)
        if not isinstance(self.as_categories, bool):
            found.append(f"as_categories must be true or false, got {shown(self.as_categories)}")
        is_value = is_finite(self.missing) and (
            bool(bounds) or self.min <= as_float(self.missing) <= self.max
        )
        if self.missing not in MISSING_SLOTS and not is_value:
            rule = "'low', 'high' or a number within the bounds"
            found.append(f"missing must be {rule}, got {shown(self.missing)}")
        if not isinstance(self.missing_markers, tuple):
            got = shown(self.missing_markers)
            found.append(f"missing_markers must be a list of numbers or texts, got {got}")
        else:
            found += [
                f"missing_markers must hold finite numbers or texts, got {shown(marker)}"
                for marker in self.missing_markers
                if not isinstance(marker, str) and not is_finite(marker)
            ]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, defaults left out; whole numbers as integers."""
        plain: dict[str, Any] = {"min": plain_number(self.min), "max": plain_number(self.max)}
        if self.missing != "low":
            plain["missing"] = plain_number(self.missing)
        if self.missing_markers:
            plain["missing_markers"] = [plain_number(marker) for marker in self.missing_markers]
        if self.as_categories:
            plain["as_categories"] = True
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Numeric":
        """Declaration from plain values; keys that are no parameter are for the caller to name."""
        return cls(**{key: value for key, value in plain.items() if key in NUMERIC_KEYS})


def is_number(value: object) -> bool:
    """Whether value is a real number; booleans are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_finite(value: object) -> bool:
    """Whether value is a finite real number."""
    return is_number(value) and math.isfinite(as_float(value))


def as_float(value: Any) -> float:
    """Nearest float64; infinite where an integer is too large for it."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain_number(value: Any) -> Any:
    """A whole float as an int; everything else as it is."""
    if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE:
        return int(value)
    return value


def _bound_mistakes(low: object, high: object) -> list[str]:
    """Mistakes of the two bounds."""
    found = []
    for name, bound in (("min", low), ("max", high)):
        if isinstance(bound, float) and math.isnan(bound):
            found.append(f"{name} must be declared: a public bound, never taken from the data")
        elif not is_finite(bound):
            found.append(f"{name} must be a finite number, got {shown(bound)}")
    if found:
        return found
    if not as_float(low) < as_float(high):
        return [f"min must be < max, got min={plain_number(low)}, max={plain_number(high)}"]
    if not math.isfinite(as_float(high) - as_float(low)):
        return [f"max - min must be finite, got min={low}, max={high}"]
    return []


def _whole_mistakes(low: float, high: float) -> list[str]:
    """Mistakes of bounds whose whole numbers are to be categories."""
    if not (float(low).is_integer() and float(high).is_integer()):
        return [f"as_categories needs whole bounds, got min={low}, max={high}"]
    if abs(low) >= LARGEST_HALF or abs(high) >= LARGEST_HALF:
        return [f"as_categories needs bounds below 2^52 in size, got min={low}, max={high}"]
    if high - low + 1 > MOST_CATEGORIES:
        return [f"as_categories allows {MOST_CATEGORIES} whole numbers, got {high - low + 1:.0f}"]
    return []
