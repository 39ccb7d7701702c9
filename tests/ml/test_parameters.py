"""Parameters of the estimator: nothing is guessed, mistakes are named before Spark is asked."""

import json

import pytest

from lumberjack_spark import DataSchema, LumberjackClassifier, Numeric
from lumberjack_spark.errors import BudgetError, SchemaError
from tests.small_models import SCHEMA

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
PAPER = {"accountant": "theorem6", **BUDGET}


def test_a_schema_is_never_inferred():
    with pytest.raises(SchemaError, match="never inferred"):
        LumberjackClassifier(**BUDGET).plan()


@pytest.mark.parametrize(
    ("given", "named"),
    [({}, "epsilon and delta must"), ({"epsilon": 1.0}, "delta must"), ({"delta": 0.1}, "epsilon")],
)
def test_a_budget_has_no_default(given, named):
    with pytest.raises(BudgetError, match=named):
        LumberjackClassifier(schema=SCHEMA, **given).plan()


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 0.0},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"delta": 1.0},
        {"numTrees": 0},
        {"maxDepth": 127},
        {"leafMode": "mean"},
        {"neighbors": "any"},
        {"minExactCount": -1},
        {"structureFraction": 1.0},
        {"encodingShare": 1.5},
    ],
)
def test_values_outside_their_range_are_refused(change):
    with pytest.raises(BudgetError):
        LumberjackClassifier(schema=SCHEMA, **{**PAPER, **change}).plan()


@pytest.mark.parametrize("change", [{"numTrees": "many"}, {"epsilon": "1"}, {"schema": 3}])
def test_values_of_another_type_are_refused(change):
    with pytest.raises(TypeError):
        LumberjackClassifier(**change)


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError):
        LumberjackClassifier(epsilom=1.0)
    with pytest.raises(TypeError, match="epsilom"):
        LumberjackClassifier().setParams(epsilom=1.0)


def test_all_mistakes_of_a_schema_are_named_when_it_is_set():
    wrong = {
        "label": {"column": "y", "classes": ["a"]},
        "features": {"x": {"min": 2, "max": 1}},
    }
    with pytest.raises(SchemaError, match="2 mistakes"):
        LumberjackClassifier(schema=wrong)


def test_parameters_are_plain_json():
    estimator = LumberjackClassifier(schema=SCHEMA, **PAPER)
    values = {param.name: value for param, value in estimator.extractParamMap().items()}
    assert json.loads(json.dumps(values)) == values
    assert estimator.getSchema() == SCHEMA
    assert estimator.getLabelCol() == "income"


def test_setters_and_copies_leave_the_original_alone():
    estimator = LumberjackClassifier(schema=SCHEMA, **PAPER)
    other = estimator.copy({estimator.epsilon: 4.0}).setNumTrees(7).setPredictionCol("p")
    assert (estimator.getEpsilon(), estimator.getNumTrees()) == (1.0, 30)
    assert (other.getEpsilon(), other.getNumTrees(), other.getPredictionCol()) == (4.0, 7, "p")
    assert other.plan().guarantee.epsilon == 4.0


def test_every_parameter_has_a_getter_a_setter_and_a_text():
    estimator = LumberjackClassifier()
    for param in estimator.params:
        name = param.name[0].upper() + param.name[1:]
        assert callable(getattr(estimator, f"get{name}"))
        assert callable(getattr(estimator, f"set{name}"))
        assert param.doc


def test_the_papers_accountant_takes_the_papers_encoder_and_bits():
    plan = LumberjackClassifier(schema=SCHEMA, **PAPER).plan()
    assert plan.accountant == "theorem6"
    assert plan.marginals is None
    assert plan.notes["threshold"] == "gaussian"


def test_what_is_left_open_follows_the_documented_defaults():
    from lumberjack_spark.defaults import ENCODING_SHARE, exact_count

    plan = LumberjackClassifier(schema=SCHEMA, **PAPER, encodingShare=ENCODING_SHARE).plan()
    assert plan.bits.minimum_count == exact_count(1.0)
    assert plan.marginals is not None
    assert (
        LumberjackClassifier(schema=SCHEMA, **PAPER, minExactCount=0).plan().bits.minimum_count == 0
    )


def test_a_seed_outside_its_range_is_refused_before_any_job():
    with pytest.raises(SchemaError, match="seed must be"):
        LumberjackClassifier(schema=SCHEMA, seed=-1, **PAPER)._checked_seed()


def test_more_classes_than_a_record_can_name_are_refused_before_any_job():
    schema = DataSchema({"x": Numeric(0, 1)}, label="y", classes=list(range(4097)))
    with pytest.raises(SchemaError, match="classes must be at most 4096"):
        LumberjackClassifier(schema=schema, **PAPER).plan()
