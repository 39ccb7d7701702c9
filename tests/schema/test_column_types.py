"""Tables that cannot serve are refused before any data is read, all columns at once."""

import pyarrow as pa
import pytest

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, DataSchema, Numeric, Vector

SCHEMA = DataSchema(
    {
        "age": Numeric(0, 100),
        "Income:USD": Categorical(["a", "b"]),
        "v": Vector({"p": Numeric(0, 1), "q": Categorical([1, 2])}),
    },
    label="y",
    classes=["no", "yes"],
)
TYPES = {
    "age": pa.int64(),
    "Income:USD": pa.string(),
    "v": pa.list_(pa.float64()),
    "y": pa.string(),
}
NUMBERS = [pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.decimal128(10, 0), pa.bool_()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
REFUSED = [pa.date32(), pa.timestamp("us"), pa.binary(), pa.struct([("b", pa.int64())])]
REFUSED += [pa.map_(pa.string(), pa.int64()), pa.list_(pa.int64()), pa.time64("us")]


def mistakes_of(types, *, with_label=True):
    with pytest.raises(SchemaError) as caught:
        SCHEMA.check_columns(types, with_label=with_label)
    return caught.value.mistakes


@pytest.mark.parametrize("kind", NUMBERS + TEXTS + [pa.null()], ids=str)
def test_a_number_may_be_of_any_numeric_boolean_or_text_type(kind):
    SCHEMA.check_columns({**TYPES, "age": kind}, with_label=True)


@pytest.mark.parametrize("kind", REFUSED, ids=str)
def test_a_type_that_cannot_serve_is_named(kind):
    for column in ("age", "Income:USD"):
        (mistake,) = mistakes_of({**TYPES, column: kind})
        assert mistake.startswith(f"features[{column!r}]: ")
    (mistake,) = mistakes_of({**TYPES, "y": kind})
    assert mistake.startswith("label: ")


def test_every_missing_and_unsuitable_column_is_named_at_once():
    mistakes = mistakes_of({"Age": pa.int64(), "Income:USD": pa.date32(), "v": pa.float64()})
    assert len(mistakes) == 4
    assert "column 'age' is missing from the table; did you mean 'Age'?" in mistakes[0]
    assert "'y' is missing" in mistakes[3]


def test_the_label_is_wanted_only_when_asked_for():
    types = {name: kind for name, kind in TYPES.items() if name != "y"}
    SCHEMA.check_columns(types, with_label=False)
    assert len(mistakes_of(types)) == 1


def test_slots_are_judged_by_the_type_of_the_items():
    for kind in (pa.list_(pa.float32()), pa.large_list(pa.string()), pa.list_(pa.float64(), 2)):
        SCHEMA.check_columns({**TYPES, "v": kind}, with_label=True)
    assert len(mistakes_of({**TYPES, "v": pa.list_(pa.date32())})) == 2


@pytest.mark.parametrize(
    ("values", "kind", "fits"),
    [
        (["no", "yes"], pa.int64(), False),
        (["no", "yes"], pa.bool_(), False),
        (["true", "false"], pa.bool_(), True),
        (["1", "2"], pa.int64(), True),
        (["01"], pa.float64(), False),
        ([2, 3], pa.bool_(), False),
        ([0, 5], pa.bool_(), True),
        ([2, 3], pa.string(), True),
        ([True, False], pa.int8(), True),
        ([True, False], pa.string(), True),
    ],
)
def test_values_that_no_column_of_the_type_can_hold_are_a_mistake(values, kind, fits):
    schema = DataSchema({"x": Categorical(values)}, label="y", classes=[0, 1])
    types = {"x": kind, "y": pa.int64()}
    if fits:
        schema.check_columns(types, with_label=True)
    else:
        with pytest.raises(SchemaError, match="no declared value can be in a column of type"):
            schema.check_columns(types, with_label=True)
