"""A categorical feature: the list of its values, and what a missing one becomes.

Codes      0..size-1 in declared order; size = any other value; size + 1 = missing.
Matching   `category_codes` says which column values match a declared one, by type of column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lumberjack_spark.schema.mistakes import shown
from lumberjack_spark.schema.text_numbers import LARGEST_WHOLE
from lumberjack_spark.schema.values import (
    CategoryValue,
    IntegerRange,
    is_integer,
    is_text,
    kind_of,
    number_of_value,
    plain_value,
    plain_values,
    position_of,
    text_of_value,
    value_mistakes,
)

CATEGORICAL_KEYS = ("values", "range", "missing", "missing_markers")


@dataclass(frozen=True)
class Categorical:
    """One of a declared list of values; any other value becomes the "other" value.

    Attributes:
        values: distinct texts, integers or booleans in an order that the model keeps; an
            `IntegerRange` (or a Python range of step 1) stands for its integers.
        missing: what null, NaN and markers become: "other", or one of the values. If "other" is
            itself a declared value, it means that value.
        missing_markers: further values that mean "missing".
        kind: "text", "integer" or "boolean"; "" when the values are not of one kind.
    """

    values: Sequence[CategoryValue] = ()
    missing: CategoryValue = "other"
    missing_markers: tuple[CategoryValue, ...] = ()
    kind: str = field(init=False, default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", plain_values(self.values))
        object.__setattr__(self, "missing", plain_value(self.missing))
        object.__setattr__(self, "missing_markers", plain_values(self.missing_markers))
        object.__setattr__(self, "kind", kind_of(self.values))

    @property
    def size(self) -> int:
        """Number of declared values; also the code of "other"."""
        return len(self.values)

    @property
    def missing_code(self) -> int | None:
        """Code of the declared value that a missing one becomes, or None for "other"."""
        return position_of(self.missing, self.values)

    def mistakes(self) -> list[str]:
        """What is wrong with this declaration, one line each."""
        found = value_mistakes(self.values, name="values")
        if found:
            return found
        if self.missing != "other" and self.missing_code is None:
            found.append(f"missing must be 'other' or one of values, got {shown(self.missing)}")
        markers = self.missing_markers
        if not isinstance(markers, tuple) or not all(map(_can_mark, markers)):
            rule = "a list of texts, booleans or integers below 2^53 in size"
            return [*found, f"missing_markers must be {rule}, got {shown(markers)}"]
        found += [
            f"missing_markers must differ from values, got {shown(marker)}"
            for marker in markers
            if position_of(_in_kind(marker, self.kind), self.values) is not None
        ]
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values, defaults left out."""
        plain: dict[str, Any] = {}
        if isinstance(self.values, IntegerRange):
            plain["range"] = [self.values.low, self.values.high]
        else:
            plain["values"] = list(self.values)
        if self.missing != "other":
            plain["missing"] = self.missing
        if self.missing_markers:
            plain["missing_markers"] = list(self.missing_markers)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Categorical":
        """Declaration from plain values; keys that are no parameter are for the caller to name."""
        known = {key: value for key, value in plain.items() if key in CATEGORICAL_KEYS}
        pair = known.pop("range", None)
        if pair is not None:
            values = plain_values(pair)
            is_pair = kind_of(values) == "integer" and len(values) == 2
            known["values"] = IntegerRange(*values) if is_pair else {"range": pair}
        return cls(**known)


def _can_mark(marker: object) -> bool:
    """Whether marker may stand for "missing"."""
    if is_integer(marker):
        return abs(marker) < LARGEST_WHOLE  # type: ignore[arg-type]
    return is_text(marker) or isinstance(marker, bool)


def _in_kind(marker: CategoryValue, kind: str) -> object:
    """The value of a list of that kind that a marker would match too."""
    if kind == "text":
        return text_of_value(marker)
    number = number_of_value(marker)
    if kind == "boolean" and number is None:
        return {"true": True, "false": False}.get(text_of_value(marker).strip().lower())
    if number is None or not number.is_integer():
        return None
    return bool(number) if kind == "boolean" and number in (0, 1) else int(number)
