"""Counts of touched rows against rules that are applied by hand."""

import pyarrow as pa

from jobs._row_rules import RuleCounter, rule_names
from lumberjack_spark.schema import Categorical, DataSchema, Numeric, Vector

SCHEMA = DataSchema(
    {
        "age": Numeric(0, 100, missing=50, missing_markers=(-999,)),
        "color": Categorical(["red", "other"], missing="red", missing_markers=("?",)),
        "list": Vector({"first": Numeric(0, 1), "second": Categorical([1, 2])}),
    },
    label="y",
    classes=["no", "yes"],
)


def counted(**columns):
    counts = RuleCounter(SCHEMA).touched(pa.RecordBatch.from_pydict(columns))
    found = {}
    for (name, rule), count in zip(rule_names(SCHEMA), counts.tolist(), strict=True):
        found[name, rule] = count
    return found


def test_each_rule_counts_the_rows_that_it_touches():
    found = counted(
        age=[-1.0, 101.0, 200.0, None, float("nan"), -999.0, 0.0, 100.0],
        color=["red", "other", "blue", "?", None, "", "red", "red"],
        list=[[0.5, 1.0], [2.0, 2.0], [-1.0, 3.0], None, [1.0], [0.0, 1.0], [0.0, None], [1, 1]],
        y=["no", "yes", None, "maybe", None, "no", "no", "no"],
    )
    assert found == {
        ("y", "missing"): 2,
        ("y", "not_declared"): 1,
        ("age", "below"): 1,
        ("age", "above"): 2,
        ("age", "missing"): 3,
        ("color", "other"): 2,
        ("color", "missing"): 2,
        ("first", "below"): 1,
        ("first", "above"): 1,
        ("first", "missing"): 2,
        ("second", "other"): 1,
        ("second", "missing"): 3,
    }


def test_rows_that_fit_are_touched_by_no_rule():
    rows = {"age": [1.0], "color": ["other"], "list": [[0.0, 2.0]], "y": ["yes"]}
    assert not any(counted(**rows).values())
