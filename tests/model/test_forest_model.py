"""The released model without Spark."""

import dataclasses
import json

import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark.errors import ModelFormatError, SchemaError
from lumberjack_spark.model import ForestModel
from lumberjack_spark.model.scorer import probabilities
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from tests.small_models import SCHEMA, fit_small, small_plan, small_table


@pytest.fixture(scope="module")
def model():
    return fit_small()


def test_rows_score_the_same_from_arrow_pandas_and_numpy(model):
    table = small_table(500)
    frame = table.to_pandas()
    expected = model.predict(table).raw
    assert (model.predict(frame).raw == expected).all()
    assert (model.predict(frame[frame.columns[::-1]]).raw == expected).all()
    matrix = frame[["age", "city", "hours"]].to_numpy(dtype=object)
    assert (model.predict(matrix).raw == expected).all()
    batch = table.combine_chunks().to_batches()[0]
    assert (model.predict(batch).raw == expected).all()


def test_columns_beyond_the_schema_and_the_label_do_not_matter(model):
    table = small_table(50)
    expected = model.predict(table).raw
    without = table.drop_columns(["income"]).append_column("other", pa.array(["x"] * 50))
    assert (model.predict(without).raw == expected).all()


def test_unknown_and_missing_values_score_like_other_and_never_raise(model):
    cities = ["zzz", "", None, "bonn", " Bonn", "?"]
    rows = pa.table(
        {"age": [1] * 6, "city": cities, "hours": pa.array([40.0] * 5 + [float("nan")])}
    )
    found = model.predict(rows).raw
    assert (found == found[0]).all()


@pytest.mark.parametrize("classes", [("low", "high"), (2, 3, 4, 5, 6), (-1, 1), (False, True)])
def test_labels_come_back_in_their_own_type(classes):
    schema = DataSchema({"age": Numeric(0, 100)}, label="income", classes=list(classes))
    found = fit_small(small_table(classes=classes), schema=schema).predict(small_table(80))
    assert found.probability.shape == (80, len(classes))
    assert [classes[i] for i in found.prediction] == found.label.tolist()
    assert {type(value) for value in found.label.tolist()} == {type(classes[0])}


@pytest.mark.parametrize("mode", ["proportions", "majority"])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0])
@pytest.mark.parametrize("n", [0, 2, 300])
def test_every_class_has_a_share_and_shares_sum_to_one(mode, epsilon, n):
    schema = DataSchema({"age": Numeric(0, 100)}, label="income", classes=["low", "high", "none"])
    plan = small_plan(epsilon=epsilon, leaf_mode=mode)
    found = fit_small(small_table(n), schema=schema, plan=plan).predict(small_table(40))
    assert found.probability.shape == (40, 3)
    assert (found.probability >= 0).all()
    assert found.probability.sum(axis=1) == pytest.approx(np.ones(40))


def test_shares_are_uniform_where_nothing_is_known():
    assert probabilities(np.zeros((2, 4))).tolist() == [[0.25] * 4] * 2


def test_no_rows_give_no_predictions(model):
    found = model.predict(small_table(0))
    assert len(found) == 0
    assert found.probability.shape == (0, 2)
    assert found.label.shape == (0,)


def test_the_same_key_gives_the_same_model_and_another_key_another_one():
    first, again = fit_small(), fit_small()
    other = fit_small(key=NoiseKey.injected(bytes(32)))
    assert (first.leaf_counts == again.leaf_counts).all()
    assert (
        first.leaf_counts.shape != other.leaf_counts.shape
        or (first.leaf_counts != other.leaf_counts).any()
    )


def test_a_known_key_marks_the_model_for_ever(model, tmp_path):
    assert not model.is_private
    model.save(tmp_path / "model")
    assert not ForestModel.load(tmp_path / "model").is_private
    assert "NOT PRIVATE" in model.certificate_text
    assert fit_small(key=NoiseKey.fresh()).is_private


def test_a_missing_or_unsuitable_column_is_named(model):
    with pytest.raises(SchemaError, match="'city' is missing"):
        model.predict(small_table(3).drop_columns(["city"]))
    with pytest.raises(SchemaError, match="3 features"):
        model.predict(np.zeros((2, 4)))
    with pytest.raises(TypeError, match="pandas frame"):
        model.predict([[1, 2, 3]])


def test_categories_of_a_large_domain_are_scored():
    values = [f"v{i}" for i in range(10_000)]
    schema = DataSchema({"city": Categorical(values)}, label="income", classes=["low", "high"])
    plan = small_plan(max_depth=63)
    rng = np.random.default_rng(1)
    cities = [values[i] for i in rng.integers(0, 10_000, 2000)]
    table = pa.table({"city": cities, "income": ["low", "high"] * 1000})
    assert len(fit_small(table, schema=schema, plan=plan).predict(table)) == 2000


def test_counts_of_nodes_add_up(model):
    assert sum(model.nodes_of_trees) == len(model.structure.nodes) + model.structure.num_leaves
    assert len(model.nodes_of_trees) == model.structure.num_trees


def test_parts_that_do_not_fit_together_are_refused(model):
    with pytest.raises(ModelFormatError, match="leaf_counts"):
        dataclasses.replace(model, leaf_counts=model.leaf_counts[:-1])
    with pytest.raises(ModelFormatError, match="one entry for each feature"):
        dataclasses.replace(model, schema=DataSchema({"a": Numeric(0, 1)}, **_label()))


def _label():
    return {"label": SCHEMA.label, "classes": SCHEMA.classes}


def test_text_and_certificate_show_nothing_but_released_values(model):
    shown = f"{model!r} {model.describe()} {json.dumps(model.certificate)}"
    assert "2000" not in shown  # rows of the table
    assert str(KEY_HEX) not in shown


KEY_HEX = bytes(range(32)).hex()
