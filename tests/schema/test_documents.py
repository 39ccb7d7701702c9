"""Dicts and YAML files: read as written, with every slip named beside its nearest key."""

import pytest

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, DataSchema, IntegerRange, Numeric, Vector
from lumberjack_spark.schema.yaml_text import parse_yaml, yaml_text

JOB = """
input: {path: somewhere}
label: {column: late, classes: [no, yes]}
features:
  month: {range: [1, 12]}
  carrier: {values: [AA, NO, 010], missing_markers: ["?"]}
  distance: {min: 0, max: 5e3, missing: high, missing_markers: [-999]}
  code: {min: 10, max: 9830, as_categories: true}
  vector:
    slots:
      p: {min: -1, max: 1}
      q: {values: [true, false], missing: true}
privacy: {epsilon: 1, delta: 1e-6}
"""
SCHEMA = DataSchema(
    {
        "month": Categorical(IntegerRange(1, 12)),
        "carrier": Categorical(["AA", "NO", "010"], missing_markers=("?",)),
        "distance": Numeric(0, 5000, missing="high", missing_markers=(-999,)),
        "code": Numeric(10, 9830, as_categories=True),
        "vector": Vector({"p": Numeric(-1, 1), "q": Categorical([True, False], missing=True)}),
    },
    label="late",
    classes=["no", "yes"],
)


def mistakes_of(text):
    with pytest.raises(SchemaError) as caught:
        DataSchema.from_yaml(text)
    return caught.value.mistakes


def test_the_sections_of_a_job_file_are_read(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(JOB, encoding="utf-8")
    assert DataSchema.from_yaml(path) == SCHEMA
    assert DataSchema.from_yaml(str(path)) == SCHEMA
    assert DataSchema.from_yaml(JOB) == SCHEMA


def test_yaml_is_written_and_read_back(tmp_path):
    path = tmp_path / "schema.yaml"
    assert path.write_bytes(SCHEMA.to_yaml(path).encode()) > 0
    assert DataSchema.from_yaml(path) == SCHEMA


def test_every_slip_of_a_file_is_in_one_error():
    mistakes = mistakes_of(
        """
        label: {colum: late, classes: [yes]}
        featurs: 3
        features:
          a: {mn: 3, max: 1}
          b: {values: [x, x]}
          c: {min: 3, max: 1}
          d: {min: 0, values: [1]}
          e: {slots: {p: {range: [1]}, q: 3, r: {slots: {s: {min: 0, max: 1}}}}}
          f: {}
          g: {values: [1], range: [1, 2]}
          h: 7
          i: {vales: [1, 2]}
          i: {missing: low}
        """
    )
    text = "\n".join(mistakes)
    for words in (
        "line 14: key 'i' must stand once",
        "unknown key 'featurs'; did you mean 'features'?",
        "label: unknown key 'colum'; did you mean 'column'?",
        "label: column must be declared",
        "label: classes must be at least 2",
        "features['a']: unknown key 'mn'; did you mean 'min'?",
        "features['a']: min must be declared",
        "features['b']: values must be distinct",
        "features['c']: min must be < max",
        "features['d']: a column must be of one kind, got keys of categorical and numeric",
        "slots['q']: a declaration must map keys to values",
        "slots['r']: a slot must be numeric or categorical",
        "features['f']: min and max (numeric), values or range (categorical)",
        "features['g']: values and range must not be declared both",
        "features['h']: a declaration must map keys to values",
        "features['i']: min and max (numeric)",
    ):
        assert words in text
    assert not [mistake for mistake in mistakes if "\n" in mistake]


def test_a_column_that_is_declared_twice_is_named():
    twice = (
        "features:\n  a: {min: 0, max: 1}\n  a: {values: [1]}\nlabel: {column: y, classes: [0, 1]}"
    )
    assert mistakes_of(twice) == ("line 3: key 'a' must stand once",)


@pytest.mark.parametrize("text", ["[1, 2]\n", "3\n", "\n", "features: 3\nlabel: 4\n"])
def test_a_file_of_another_shape_is_refused(text):
    assert mistakes_of(text)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1", encoding="utf-8")
    for path in (tmp_path / "absent.yaml", broken):
        with pytest.raises(SchemaError, match=r"absent.yaml|must be YAML"):
            DataSchema.from_yaml(path)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("1e-6", 1e-6),
        ("1.5E+3", 1500.0),
        (".5", 0.5),
        ("-3", -3),
        ("010", "010"),
        ("0", 0),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("2020-01-01", "2020-01-01"),
        ("~", None),
        ("null", None),
        ("<=50K", "<=50K"),
        ("'>50K'", ">50K"),
        ("", None),
        ("e5", "e5"),
        (".", "."),
        ("'5'", "5"),
    ],
)
def test_scalars_are_read_as_people_expect(text, value):
    found = parse_yaml(f"x: {text}\n", [])["x"]
    assert found == value
    assert type(found) is type(value)
    assert parse_yaml(yaml_text({"x": value}), []) == {"x": value}


def test_words_that_other_readers_take_for_something_else_are_quoted():
    assert yaml_text(["no", "1e-6", "010"]) == "- 'no'\n- '1e-6'\n- '010'\n"
