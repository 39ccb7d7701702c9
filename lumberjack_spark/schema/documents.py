"""Plain values (of YAML, JSON or a dict) as declarations, and back.

A column is numeric, categorical or a vector by the keys of its declaration: `min` and `max`;
`values` or `range`; `slots`. What cannot be read is a line in `mistakes`, never an exception, so
that it can be named together with all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lumberjack_spark.schema.categorical import CATEGORICAL_KEYS, Categorical
from lumberjack_spark.schema.mistakes import nearest, shown, unknown_key
from lumberjack_spark.schema.numeric import NUMERIC_KEYS, Numeric
from lumberjack_spark.schema.values import CategoryValue
from lumberjack_spark.schema.vector import VECTOR_KEYS, Vector

SCHEMA_SECTIONS = ("label", "features")
JOB_SECTIONS = ("input", "privacy", "forest", "split", "output")
LABEL_KEYS = ("column", "classes")

_MARKS = {"min": "numeric", "max": "numeric", "as_categories": "numeric"}
_MARKS |= {"values": "categorical", "range": "categorical", "slots": "vector"}
_KEYS = {"numeric": NUMERIC_KEYS, "categorical": CATEGORICAL_KEYS, "vector": VECTOR_KEYS}


@dataclass
class SchemaDocument:
    """What could be read of a document, and the mistakes of the rest."""

    columns: list[tuple[str, Numeric | Categorical | Vector]] = field(default_factory=list)
    label: Any = ""
    classes: Any = ()
    mistakes: list[str] = field(default_factory=list)


def read_document(document: object) -> SchemaDocument:
    """Declarations of a whole document; sections of a job's config beside them are left alone."""
    read = SchemaDocument()
    if not isinstance(document, Mapping):
        read.mistakes.append(f"a schema must map sections to content, got {shown(document)}")
        return read
    for key in document:
        if key not in SCHEMA_SECTIONS + JOB_SECTIONS:
            read.mistakes.append(unknown_key("", key, SCHEMA_SECTIONS + JOB_SECTIONS))
    _read_label(document.get("label", {}), read)
    features = document.get("features", {})
    if isinstance(features, Mapping):
        for column, node in features.items():
            declared = _declaration(node, f"features[{column!r}]", read.mistakes)
            if declared is not None:
                read.columns.append((column, declared))
    else:
        rule = "must map columns to declarations"
        read.mistakes.append(f"features: {rule}, got {shown(features)}")
    return read


def schema_document(
    label: str,
    classes: Sequence[CategoryValue],
    columns: Mapping[str, Numeric | Categorical | Vector],
) -> dict[str, Any]:
    """Plain values that `read_document` reads back."""
    return {
        "label": {"column": label, "classes": list(classes)},
        "features": {column: declared.to_dict() for column, declared in columns.items()},
    }


def _read_label(node: object, read: SchemaDocument) -> None:
    """Read the label section."""
    if not isinstance(node, Mapping):
        read.mistakes.append(f"label: must map {' and '.join(LABEL_KEYS)}, got {shown(node)}")
        return
    read.mistakes += [
        unknown_key("label", key, LABEL_KEYS) for key in node if key not in LABEL_KEYS
    ]
    read.label, read.classes = node.get("column", ""), node.get("classes", ())


def _declaration(
    node: object, where: str, mistakes: list[str], *, in_slot: bool = False
) -> Numeric | Categorical | Vector | None:
    """Declaration of one column or slot, or None after naming why it cannot be told."""
    if not isinstance(node, Mapping):
        mistakes.append(f"{where}: a declaration must map keys to values, got {shown(node)}")
        return None
    kind = _kind(node, where, mistakes)
    if kind is None:
        return None
    mistakes += [unknown_key(where, key, _KEYS[kind]) for key in node if key not in _KEYS[kind]]
    if kind == "numeric":
        return Numeric.from_dict(node)
    if kind == "categorical":
        if "values" in node and "range" in node:
            mistakes.append(f"{where}: values and range must not be declared both")
        return Categorical.from_dict(node)
    if in_slot:
        mistakes.append(f"{where}: a slot must be numeric or categorical, got slots")
        return None
    slots = node.get("slots")
    if not isinstance(slots, Mapping):
        return Vector(slots)  # type: ignore[arg-type]
    inner = {
        name: _declaration(slot, f"{where}: slots[{name!r}]", mistakes, in_slot=True)
        for name, slot in slots.items()
    }
    if any(slot is None for slot in inner.values()):
        return None
    return Vector(inner)  # type: ignore[arg-type]


def _kind(node: Mapping[Any, Any], where: str, mistakes: list[str]) -> str | None:
    """Kind of a declaration by its keys; a key written wrongly counts as the nearest one."""
    kinds = {_MARKS[key] for key in node if key in _MARKS}
    if len(kinds) > 1:
        both = " and ".join(sorted(kinds))
        mistakes.append(f"{where}: a column must be of one kind, got keys of {both}")
        return None
    if kinds:
        return kinds.pop()
    strangers = [key for key in node if key not in NUMERIC_KEYS + CATEGORICAL_KEYS]
    guess = next(filter(None, (nearest(key, _MARKS) for key in strangers)), None)
    if guess:
        return _MARKS[guess]
    rule = "min and max (numeric), values or range (categorical), or slots (vector)"
    mistakes.append(f"{where}: {rule} must be declared; they are never taken from the data")
    mistakes += [unknown_key(where, key, _MARKS) for key in strangers]
    return None
