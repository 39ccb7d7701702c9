"""A vector or array column that is the source of several features, its slots named in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lumberjack_spark.schema.categorical import Categorical
from lumberjack_spark.schema.mistakes import shown
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.values import is_text

VECTOR_KEYS = ("slots",)


@dataclass(frozen=True)
class Vector:
    """Slots of a list column: slot i of every row is the i-th feature named here.

    A row whose list is null or has another number of slots has all of them missing.

    Attributes:
        slots: declaration by feature name, in the order of the slots. Names are those of features,
            distinct over the whole schema.
    """

    slots: Mapping[str, Numeric | Categorical] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.slots, Mapping):
            object.__setattr__(self, "slots", dict(self.slots))

    def __hash__(self) -> int:
        return hash(tuple(self.slots.items()))

    def mistakes(self) -> list[str]:
        """What is wrong with this declaration, one line each."""
        if not isinstance(self.slots, Mapping):
            return [f"slots must map feature names to declarations, got {shown(self.slots)}"]
        if not self.slots:
            return ["slots must be declared: a feature name and its declaration for each slot"]
        found = []
        for name, declaration in self.slots.items():
            where = f"slots[{name!r}]"
            if not is_text(name):
                found.append(f"{where}: the name of a slot must be text, got {shown(name)}")
            if isinstance(declaration, (Numeric, Categorical)):
                found += [f"{where}: {mistake}" for mistake in declaration.mistakes()]
            else:
                got = shown(declaration)
                found.append(f"{where}: must be a Numeric or a Categorical, got {got}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"slots": {name: slot.to_dict() for name, slot in self.slots.items()}}
