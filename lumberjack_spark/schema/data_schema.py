"""What is publicly known of a table: its features, its label and the label's classes.

Nothing here is ever inferred from data: bounds, categories and classes that are not declared are
mistakes. `DataSchema` judges all declarations together and names every mistake in one error.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from lumberjack_spark.schema.categorical import Categorical
from lumberjack_spark.schema.column_types import column_mistakes
from lumberjack_spark.schema.documents import read_document, schema_document
from lumberjack_spark.schema.mistakes import raise_mistakes, shown
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.values import CategoryValue, is_text, plain_values, value_mistakes
from lumberjack_spark.schema.vector import Vector
from lumberjack_spark.schema.yaml_text import read_yaml, yaml_text

Declaration = Numeric | Categorical | Vector


@dataclass(frozen=True)
class Feature:
    """One input of the forest.

    Attributes:
        name: the column's name, or the slot's name within a vector column.
        column: column that holds it.
        slot: position within the lists of a vector column, None for a plain column.
        declaration: what was declared of its values.
    """

    name: str
    column: str
    slot: int | None
    declaration: Numeric | Categorical

    @property
    def is_numeric(self) -> bool:
        """Whether the feature is declared as a number (`as_categories` included)."""
        return isinstance(self.declaration, Numeric)


class DataSchema:
    """Declared features, label column and classes of a table; immutable.

    Args:
        features: declaration by column, or pairs of both, in the order that the model keeps.
        label: column that holds the class of each row.
        classes: at least two distinct texts, integers or booleans, all of one kind.

    Raises:
        SchemaError: names all mistakes at once.

    >>> schema = DataSchema({"age": Numeric(16, 100)}, label="income", classes=["low", "high"])
    >>> schema.features[0].name, schema.classes
    ('age', ('low', 'high'))
    """

    def __init__(
        self,
        features: Mapping[str, Declaration] | Iterable[tuple[str, Declaration]] = (),
        label: str = "",
        classes: Sequence[CategoryValue] = (),
        *,
        _mistakes: Sequence[str] = (),
    ) -> None:
        pairs = list(features.items() if isinstance(features, Mapping) else features)
        classes = plain_values(classes)
        raise_mistakes(
            [
                *_mistakes,
                *_label_mistakes(label, classes, [name for name, _ in pairs]),
                *_feature_mistakes(pairs),
            ]
        )
        self._label = str(label)
        self._classes: tuple[CategoryValue, ...] = tuple(classes)
        self._columns = dict(pairs)
        self._features = tuple(_flat_features(pairs))

    @property
    def features(self) -> tuple[Feature, ...]:
        """Features in declared order, slots of vector columns one by one."""
        return self._features

    @property
    def columns(self) -> Mapping[str, Declaration]:
        """Declaration of each feature column, vector columns whole."""
        return MappingProxyType(self._columns)

    @property
    def label(self) -> str:
        """Column that holds the class of each row."""
        return self._label

    @property
    def classes(self) -> tuple[CategoryValue, ...]:
        """Declared classes; a class index is a position in this tuple."""
        return self._classes

    @property
    def digest(self) -> str:
        """SHA-256 of the declarations, in hexadecimal; the same for equal schemas only."""
        return hashlib.sha256(self._canonical().encode()).hexdigest()

    def check_columns(self, types: Mapping[str, pa.DataType], *, with_label: bool) -> None:
        """Refuse a table that cannot serve, before any of its data is read.

        Args:
            types: Arrow type of each column by name; vectors as list types.
            with_label: whether the label column is needed too.

        Raises:
            SchemaError: names every column that is missing or of an unsuitable type.
        """
        raise_mistakes(column_mistakes(self, types, with_label=with_label))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON or YAML: sections `label` and `features`, order kept."""
        return schema_document(self._label, self._classes, self._columns)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "DataSchema":
        """Schema of `to_dict`, or of the `label` and `features` sections of a job's config.

        Raises:
            SchemaError: names all mistakes at once, unknown keys with the nearest known key.
        """
        return cls._of_document(document, [])

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """YAML text of the schema, also written to `path` when one is given."""
        text = yaml_text(self.to_dict())
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    @classmethod
    def from_yaml(cls, source: str | os.PathLike[str]) -> "DataSchema":
        """Schema of a YAML file, which may be a whole job config, or of YAML text.

        Args:
            source: path of a file; a string with a line break is taken as the text itself.
        """
        mistakes: list[str] = []
        return cls._of_document(read_yaml(source, mistakes), mistakes)

    @classmethod
    def _of_document(cls, document: object, mistakes: list[str]) -> "DataSchema":
        """Schema of plain values, or one error with these mistakes and all others."""
        read = read_document(document)
        known = [*mistakes, *read.mistakes]
        return cls(read.columns, read.label, read.classes, _mistakes=known)

    def _canonical(self) -> str:
        """One text for equal schemas; JSON keeps true and 1 apart, which Python does not."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DataSchema):
            return NotImplemented
        return self._canonical() == other._canonical()

    def __hash__(self) -> int:
        return hash(self._canonical())

    def __repr__(self) -> str:
        return f"DataSchema({self._columns!r}, label={self._label!r}, classes={self._classes!r})"


def _flat_features(pairs: Iterable[tuple[str, Declaration]]) -> Iterable[Feature]:
    """Features of all columns in order."""
    for column, declared in pairs:
        if isinstance(declared, Vector):
            for slot, (name, inner) in enumerate(declared.slots.items()):
                yield Feature(name, column, slot, inner)
        else:
            yield Feature(column, column, None, declared)


def _label_mistakes(label: object, classes: object, columns: Sequence[str]) -> list[str]:
    """Mistakes of the label section."""
    found = []
    if label == "":
        found.append("label: column must be declared")
    elif not is_text(label):
        found.append(f"label: column must be text, got {shown(label)}")
    elif label in columns:
        found.append(f"label: column {label!r} must not be a feature as well")
    found += [f"label: {m}" for m in value_mistakes(classes, name="classes", fewest=2)]
    return found


def _feature_mistakes(pairs: Sequence[tuple[str, Declaration]]) -> list[str]:
    """Mistakes of all feature declarations."""
    if not pairs:
        return ["features: at least one column must be declared"]
    found = []
    for column, declared in pairs:
        where = f"features[{column!r}]"
        if not is_text(column) or column == "":
            found.append(f"{where}: the name of a column must be text, got {shown(column)}")
        if isinstance(declared, (Numeric, Categorical, Vector)):
            found += [f"{where}: {mistake}" for mistake in declared.mistakes()]
        else:
            rule = "a Numeric, a Categorical or a Vector"
            found.append(f"{where}: declaration must be {rule}, got {shown(declared)}")
    columns = [column for column, _ in pairs]
    found += [
        f"features[{column!r}]: a column must be declared once, got {columns.count(column)} times"
        for column in dict.fromkeys(columns)
        if columns.count(column) > 1
    ]
    names: dict[str, str] = {}
    for feature in _flat_features([p for p in pairs if _has_slots(p[1])]):
        if names.setdefault(feature.name, feature.column) != feature.column:
            both = f"{names[feature.name]!r} and {feature.column!r}"
            found.append(f"features: name {feature.name!r} must be used once, got it in {both}")
    return found


def _has_slots(declared: object) -> bool:
    """Whether the names of a declaration can be listed."""
    return not isinstance(declared, Vector) or isinstance(declared.slots, Mapping)
