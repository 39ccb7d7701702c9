"""Lists of declared values: categories and classes, of one kind each.

Kinds      all texts, all integers or all booleans. A mixed list is a mistake, so True and 1 never
           stand side by side.
Integers   are below 2^53 in size, where every numeric column type holds them exactly.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from lumberjack_spark.schema.mistakes import shown
from lumberjack_spark.schema.text_numbers import LARGEST_WHOLE, number_of_text, text_of_number

MOST_CATEGORIES = 65_534
"""Codes are 16-bit numbers, and two of them mean "other" and "missing"."""

CategoryValue = str | int | bool


@dataclass(frozen=True)
class IntegerRange(Sequence[int]):
    """The whole numbers low..high, both included, without listing them."""

    low: int
    high: int

    def __len__(self) -> int:
        return max(0, self.high - self.low + 1)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return range(self.low, self.high + 1)[index]

    def __contains__(self, value: object) -> bool:
        return value in range(self.low, self.high + 1)


def plain_values(values: Any) -> Any:
    """A tuple of plain Python values or an IntegerRange; what is no list stays as it is."""
    if isinstance(values, IntegerRange):
        return values
    if isinstance(values, range) and values.step == 1:
        return IntegerRange(values.start, values.stop - 1)
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return tuple(values.tolist())
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        return tuple(plain_value(value) for value in values)
    return values


def plain_value(value: Any) -> Any:
    """Python value of a numpy scalar or a subclass of str; everything else as it is."""
    if isinstance(value, str):
        return str(value)
    return value.item() if isinstance(value, np.generic) else value


def kind_of(values: object) -> str:
    """Kind of a list: "text", "integer" or "boolean"; "" if empty, mixed or of other types."""
    if isinstance(values, IntegerRange):
        return "integer" if is_integer(values.low) and is_integer(values.high) else ""
    if not isinstance(values, tuple) or not values:
        return ""
    if all(isinstance(value, bool) for value in values):
        return "boolean"
    if all(isinstance(value, str) for value in values):
        return "text"
    return "integer" if all(is_integer(value) for value in values) else ""


def position_of(value: object, values: Sequence[CategoryValue]) -> int | None:
    """Index of a value of the same kind in a list, or None; True is not 1."""
    if kind_of((value,)) != kind_of(values) or value not in values:
        return None
    if isinstance(values, IntegerRange):
        return int(value) - values.low  # type: ignore[call-overload, no-any-return]
    return values.index(value)


def text_of_value(value: CategoryValue | float) -> str:
    """The one text that stands for a value: words for booleans, digits for whole numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return text_of_number(float(value))


def number_of_value(value: CategoryValue | float) -> float | None:
    """The number that a value writes or is; booleans are 0 and 1, other texts None."""
    return number_of_text(value) if isinstance(value, str) else float(value)


def is_integer(value: object) -> bool:
    """Whether value is an integer; booleans are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value: object) -> bool:
    """Whether value is text that a column can hold; the NUL character is kept for our own use."""
    if not isinstance(value, str) or "\0" in value:
        return False
    return value.encode("utf-8", "replace").decode() == value


def value_mistakes(values: object, *, name: str, fewest: int = 1) -> list[str]:
    """Mistakes of a declared list of categories or classes, one line each."""
    if not isinstance(values, (tuple, IntegerRange)):
        return [f"{name} must be a list or an integer range, got {shown(values)}"]
    if isinstance(values, IntegerRange) and kind_of(values) and values.low > values.high:
        return [f"range must be [low, high] with low <= high, got [{values.low}, {values.high}]"]
    if isinstance(values, tuple) and not values:
        return [f"{name} must be declared: public knowledge, never taken from the data"]
    kind = kind_of(values)
    if not kind:
        rule = "all texts, all integers or all booleans (quote numbers that are texts)"
        return [f"{name} must be {rule}, got {shown(values)}"]
    if len(values) < fewest:
        return [f"{name} must be at least {fewest} different values, got {shown(values)}"]
    if len(values) > MOST_CATEGORIES:
        return [f"{name} must be at most {MOST_CATEGORIES} values, got {len(values)}"]
    return _member_mistakes(values, kind, name)


def _member_mistakes(values: Sequence[CategoryValue], kind: str, name: str) -> list[str]:
    """Mistakes of single members of a list of one kind."""
    found = []
    ends = (values[0], values[-1]) if isinstance(values, IntegerRange) else values
    if kind == "integer" and any(abs(int(value)) >= LARGEST_WHOLE for value in ends):
        found.append(f"{name} must be integers below 2^53 in size, where doubles are exact")
    if kind == "text" and not all(is_text(value) for value in values):
        found.append(f"{name} must be valid Unicode without the NUL character")
    if isinstance(values, tuple):
        twice = [value for value, times in Counter(values).items() if times > 1]
        if twice:
            found.append(f"{name} must be distinct, got {shown(twice)} more than once")
    return found
