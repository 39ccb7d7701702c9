"""Declarations: every mistake in one error, equal after a round trip, nothing from data."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, DataSchema, IntegerRange, Numeric, Vector
from lumberjack_spark.schema.values import MOST_CATEGORIES

GOOD = Numeric(0, 1)


def mistakes_of(declared):
    with pytest.raises(SchemaError) as caught:
        DataSchema({"x": declared}, label="y", classes=[0, 1])
    return caught.value.mistakes


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        (Numeric(3, 3), "min must be < max"),
        (Numeric(math.nan, 3), "min must be declared"),
        (Numeric(0), "max must be declared"),
        (Numeric(0, math.inf), "max must be a finite number"),
        (Numeric("0", 1), "min must be a finite number"),
        (Numeric(True, 2), "min must be a finite number"),
        (Numeric(0, 10**400), "max must be a finite number"),
        (Numeric(-1e308, 1e308), "max - min must be finite"),
        (Numeric(0, 1, missing=2), "missing must be 'low', 'high' or a number within"),
        (Numeric(0, 1, missing=math.nan), "missing must be 'low', 'high' or a number within"),
        (Numeric(0, 1, missing="other"), "missing must be 'low', 'high' or a number within"),
        (Numeric(0, 1, missing=True), "missing must be 'low', 'high' or a number within"),
        (Numeric(0, 1, missing_markers="?"), "missing_markers must be a list"),
        (Numeric(0, 1, missing_markers=(math.nan,)), "missing_markers must hold finite"),
        (Numeric(0, 1, missing_markers=(None,)), "missing_markers must hold finite"),
        (Numeric(0, 1.5, as_categories=True), "as_categories needs whole bounds"),
        (Numeric(0, 10**6, as_categories=True), "as_categories allows 65534"),
        (Numeric(2**60, 2**60 + 4096, as_categories=True), "as_categories needs bounds below"),
        (Numeric(0, 1, as_categories="yes"), "as_categories must be true or false"),
        (Categorical(), "values must be declared"),
        (Categorical("abc"), "values must be a list"),
        (Categorical({"a", "b"}), "values must be a list"),
        (Categorical(["a", 1]), "values must be all texts, all integers or all booleans"),
        (Categorical([1, True]), "values must be all texts, all integers or all booleans"),
        (Categorical([1.5]), "values must be all texts, all integers or all booleans"),
        (Categorical([None, "a"]), "values must be all texts, all integers or all booleans"),
        (Categorical(["b", "a", "b"]), "values must be distinct, got ['b']"),
        (Categorical([2**53]), "values must be integers below 2^53"),
        (Categorical(["\ud800"]), "values must be valid Unicode"),
        (Categorical(["a\0"]), "values must be valid Unicode"),
        (Categorical(IntegerRange(3, 1)), "low <= high"),
        (Categorical(range(MOST_CATEGORIES + 1)), "values must be at most 65534"),
        (Categorical(["a"], missing="b"), "missing must be 'other' or one of values"),
        (Categorical([1, 2], missing=True), "missing must be 'other' or one of values"),
        (Categorical(["a"], missing_markers="?"), "missing_markers must be a list"),
        (Categorical(["a"], missing_markers=(1.5,)), "missing_markers must be a list"),
        (Categorical(["a", "1"], missing_markers=(1,)), "missing_markers must differ from"),
        (Categorical([3], missing_markers=(" 3.0",)), "missing_markers must differ from"),
        (Categorical([True], missing_markers=("TRUE",)), "missing_markers must differ from"),
        (Categorical([False], missing_markers=(0,)), "missing_markers must differ from"),
        (Vector(), "slots must be declared"),
        (Vector([GOOD]), "slots must map"),
        (Vector({"a": Numeric(2, 1)}), "slots['a']: min must be < max"),
        (Vector({"a": Vector({"b": GOOD})}), "slots['a']: must be a Numeric or a Categorical"),
        (Vector({3: GOOD}), "the name of a slot must be text"),
        ("numeric", "declaration must be a Numeric"),
        (Numeric, "declaration must be a Numeric"),
    ],
    ids=str,
)
def test_a_wrong_declaration_is_named_with_its_column(declared, words):
    (mistake,) = mistakes_of(declared)
    assert mistake.startswith("features['x']: ")
    assert words in mistake


def test_all_mistakes_are_named_at_once():
    with pytest.raises(SchemaError) as caught:
        DataSchema(
            {"a": Numeric(5, 1), "b": Categorical(["x", "x"]), "c": Numeric(), "d": Categorical()},
            label="a",
            classes=["one"],
        )
    text = str(caught.value)
    assert len(caught.value.mistakes) == 7
    for name in ("['a']", "['b']", "['c']", "['d']", "label", "classes"):
        assert name in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text  # noqa: S301


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ((), "classes must be declared"),
        (["one"], "classes must be at least 2"),
        ([1, 1], "classes must be distinct"),
        ([True, 1], "classes must be all texts"),
        ([0.0, 1.0], "classes must be all texts"),
        ("no", "classes must be a list"),
    ],
)
def test_wrong_classes_are_refused(classes, words):
    with pytest.raises(SchemaError, match="label: " + words):
        DataSchema({"x": GOOD}, label="y", classes=classes)


def test_names_stand_once():
    for features in (
        [("x", GOOD), ("x", Categorical(["a"]))],
        {"x": GOOD, "v": Vector({"x": GOOD})},
        {"v": Vector({"p": GOOD}), "w": Vector({"p": GOOD})},
    ):
        with pytest.raises(SchemaError, match=r"declared once|used once"):
            DataSchema(features, label="y", classes=[0, 1])
    for columns, label in (({}, "y"), ({"x": GOOD}, ""), ({3: GOOD}, "y"), ({"": GOOD}, "y")):
        with pytest.raises(SchemaError):
            DataSchema(columns, label=label, classes=[0, 1])


def test_features_are_flat_and_in_declared_order():
    slots = {"p": Numeric(0, 1), "q": Categorical(["a"])}
    schema = DataSchema(
        {"z": Numeric(0, 1), "v": Vector(slots), "a": Categorical([1, 2])},
        label="y",
        classes=np.array([2, 3]),
    )
    flat = [(f.name, f.column, f.slot, f.is_numeric) for f in schema.features]
    assert flat == [
        ("z", "z", None, True),
        ("p", "v", 0, True),
        ("q", "v", 1, False),
        ("a", "a", None, False),
    ]
    assert schema.features[2].declaration is slots["q"]
    assert (schema.label, schema.classes) == ("y", (2, 3))
    assert list(schema.columns) == ["z", "v", "a"]


def test_numpy_values_and_ranges_become_plain_ones():
    assert Categorical(np.array([3, 1])).values == (3, 1)
    assert Categorical([np.int64(3), np.int8(1)]).values == (3, 1)
    assert Categorical(np.array(["a"])).kind == "text"
    assert Categorical(range(2, 5)) == Categorical(IntegerRange(2, 4))
    assert list(IntegerRange(2, 4)) == [2, 3, 4]
    assert len(IntegerRange(1, 554)) == 554
    assert Numeric(np.float32(0), np.int64(3)) == Numeric(0.0, 3.0)


def test_whole_numbers_are_there_only_when_asked_for():
    assert Numeric(10, 9830, as_categories=True).whole_numbers == IntegerRange(10, 9830)
    with pytest.raises(ValueError, match="as_categories"):
        _ = Numeric(10, 9830).whole_numbers


def test_equal_schemas_have_one_digest_and_others_another():
    def schema(classes=(0, 1), **features):
        return DataSchema(features, label="y", classes=classes)

    base = schema(x=Numeric(0, 1), c=Categorical([0, 1]))
    assert base == schema(x=Numeric(0.0, 1.0), c=Categorical((0, 1)))
    assert hash(base) == hash(schema(x=Numeric(0.0, 1.0), c=Categorical((0, 1))))
    others = [
        schema(classes=(False, True), x=Numeric(0, 1), c=Categorical([0, 1])),
        schema(x=Numeric(0, 1), c=Categorical([False, True])),
        schema(x=Numeric(0, 1), c=Categorical([1, 0])),
        schema(c=Categorical([0, 1]), x=Numeric(0, 1)),
        schema(x=Numeric(0, 1, missing="high"), c=Categorical([0, 1])),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 6
    assert base not in others
    assert base != "schema"


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), min_size=1)
BOUNDS = st.tuples(st.integers(-99, 0), st.floats(1, 1e300))
NUMERICS = st.builds(
    lambda bounds, missing, markers: Numeric(*bounds, missing, tuple(markers)),
    BOUNDS,
    st.sampled_from(["low", "high", 0, 0.5, 1]),
    st.lists(TEXT | st.integers() | st.floats(-1e9, 1e9), max_size=2),
)
LISTS = st.lists(TEXT, min_size=1, max_size=4, unique=True) | st.just([True, False])
LISTS |= st.lists(st.integers(-(2**53) + 1, 2**53 - 1), min_size=1, max_size=4, unique=True)
CATEGORICALS = LISTS.map(Categorical) | st.just(Categorical(IntegerRange(-3, 8), missing=2))
CATEGORICALS |= LISTS.map(lambda values: Categorical(values, missing=values[-1]))
SINGLES = NUMERICS | CATEGORICALS
VECTORS = st.dictionaries(TEXT.map(lambda t: "s" + t), SINGLES, min_size=1, max_size=2).map(Vector)


@given(
    st.dictionaries(TEXT.map(lambda t: "c" + t), SINGLES, min_size=1, max_size=4),
    VECTORS,
    LISTS.filter(lambda values: len(values) > 1),
)
def test_a_schema_survives_dict_json_yaml_and_pickle(features, vector, classes):
    schema = DataSchema({**features, "v": vector}, label="y", classes=classes)
    copies = [
        DataSchema.from_dict(schema.to_dict()),
        DataSchema.from_dict(json.loads(json.dumps(schema.to_dict()))),
        DataSchema.from_yaml(schema.to_yaml()),
        pickle.loads(pickle.dumps(schema)),  # noqa: S301
    ]
    for copy in copies:
        assert copy == schema
        assert copy.digest == schema.digest
        assert copy.features == schema.features


def test_a_schema_shows_itself_as_code():
    schema = DataSchema({"x": Numeric(0, 1), "c": Categorical(["a"])}, label="y", classes=[0, 1])
    assert eval(repr(schema)) == schema
