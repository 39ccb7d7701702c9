"""Which column types can serve a declaration: asked before any data is read.

Suitable   integers, floats, decimals, booleans, texts (string, large_string, string_view), null,
           and dictionaries of these; for a vector column, a list of them.
Refused    dates, times, binary, structs, maps, and a list where a single value is declared.
A column whose type can never hold any of the declared values is refused too: it is a mistake of
the declaration, and without an error every row would silently read as "other".
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as types

from lumberjack_spark.schema.categorical import Categorical
from lumberjack_spark.schema.category_codes import CategoryCodes
from lumberjack_spark.schema.column_values import is_number_type, is_text_type
from lumberjack_spark.schema.mistakes import nearest, shown
from lumberjack_spark.schema.numeric import Numeric
from lumberjack_spark.schema.values import CategoryValue
from lumberjack_spark.schema.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lumberjack_spark.schema.data_schema import DataSchema


def column_mistakes(
    schema: "DataSchema", kinds: Mapping[str, pa.DataType], *, with_label: bool
) -> list[str]:
    """Every column that is missing from a table or whose type cannot serve, one line each.

    Args:
        schema: the declarations.
        kinds: type of each column of the table, vectors as list types.
        with_label: whether the label column must be there as well.
    """
    wanted = [(name, f"features[{name!r}]") for name in schema.columns]
    if with_label:
        wanted.append((schema.label, "label"))
    found = []
    for name, where in wanted:
        if name not in kinds:
            guess = nearest(name, kinds)
            hint = f"; did you mean {guess!r}?" if guess else ""
            found.append(f"{where}: column {name!r} is missing from the table{hint}")
        elif where == "label":
            found += [f"{where}: {m}" for m in _value_mistakes(schema.classes, kinds[name])]
        else:
            declared = schema.columns[name]
            found += [f"{where}: {m}" for m in _declaration_mistakes(declared, kinds[name])]
    return found


def is_list_type(kind: pa.DataType) -> bool:
    """Whether values of the type are lists with a fixed or free length."""
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def is_value_type(kind: pa.DataType) -> bool:
    """Whether values of the type are single numbers, booleans or texts."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    return is_number_type(kind) or is_text_type(kind) or bool(types.is_null(kind))


def _declaration_mistakes(declared: Numeric | Categorical | Vector, kind: pa.DataType) -> list[str]:
    """Mistakes of one declaration against the type of its column."""
    if isinstance(declared, Vector):
        if not is_list_type(kind):
            return [f"slots need a vector or array column, got type {kind}"]
        found = []
        for name, slot in declared.slots.items():
            found += [f"{name}: {m}" for m in _declaration_mistakes(slot, kind.value_type)]
        return found
    if isinstance(declared, Categorical):
        return _value_mistakes(declared.values, kind)
    return [] if is_value_type(kind) else [_unsuitable(kind)]


def _value_mistakes(values: "Sequence[CategoryValue]", kind: pa.DataType) -> list[str]:
    """Mistakes of declared values against the type of their column."""
    if not is_value_type(kind):
        return [_unsuitable(kind)]
    if not CategoryCodes(values).can_match(kind):
        got = shown(list(values[:3]))
        return [f"no declared value can be in a column of type {kind}; values start {got}"]
    return []


def _unsuitable(kind: pa.DataType) -> str:
    if is_list_type(kind):
        return f"the column holds lists (type {kind}): declare its slots"
    return f"the column must hold numbers, booleans or texts, got type {kind}: cast it first"
