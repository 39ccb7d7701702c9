"""Class probabilities of leaves, and importances, from noisy counts."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from lumberjack_spark.encoding import plain_encoder
from lumberjack_spark.encoding.smoothing import spread_of_odds
from lumberjack_spark.model.estimate import (
    DOUBT,
    ODDS_VARIANCE,
    leaf_values,
    rates_of_forest,
)
from lumberjack_spark.model.importance import feature_importances
from lumberjack_spark.privacy import ExponentialLeaves, GaussianLeaves
from lumberjack_spark.schema import DataSchema, Numeric
from lumberjack_spark.trees.forest import Structure
from tests.encoding.naive_smoothing import shrunk

# Tree 0: node 0 (feature 0) -> leaf 0, node 1 (feature 1) -> leaves 1, 2.  Tree 1: leaf 3 alone.
FOREST = Structure(
    np.array([0, ~3], np.int32),
    np.array([[0, 9, ~0, 1], [1, 5, ~1, ~2]], np.int32),
    np.array([0, 3, 4]),
    np.zeros(2, np.uint8),
)
COUNTS = np.array([[700, 90], [150, 420], [-20, 13], [840, 530]])
SIGMA = 20.0
SPREAD = spread_of_odds(np.array([0.6, 0.4]), ODDS_VARIANCE)


def release(counts=COUNTS, shares=(0.6, 0.4)):
    encoder = SimpleNamespace(class_shares=None if shares is None else np.array(shares))
    return SimpleNamespace(encoder=encoder, structure=FOREST, leaf_counts=counts)


def plan(leaves=None):
    return SimpleNamespace(leaves=leaves or GaussianLeaves(SIGMA))


def naive_rates():
    shares = [0.6, 0.4]
    inner = shrunk([130, 433], shares, SIGMA, 2, SPREAD)
    return [
        shrunk(COUNTS[0].tolist(), shares, SIGMA, 1, SPREAD),
        shrunk(COUNTS[1].tolist(), inner, SIGMA, 1, SPREAD),
        shrunk(COUNTS[2].tolist(), inner, SIGMA, 1, SPREAD),
        shares,
    ]


def test_rates_are_drawn_towards_the_parent_from_the_root_down():
    found = rates_of_forest(FOREST, COUNTS.astype(float), SIGMA, np.array([0.6, 0.4]))
    np.testing.assert_allclose(found.leaves, naive_rates(), rtol=1e-9)
    # A leaf that drowns in noise says what its parent says.
    np.testing.assert_allclose(found.leaves[2], found.nodes[1])
    np.testing.assert_allclose(found.node_rows, [1353, 563])


def test_values_are_rates_times_weights():
    values = leaf_values(release(), plan())
    assert values.dtype == np.float32
    for value, rates, counts in zip(values, naive_rates(), COUNTS, strict=True):
        np.testing.assert_allclose(value / value.sum(), rates, rtol=1e-5)
        doubt = 2 * rates[0] * rates[1] + DOUBT * 0.48
        assert value.sum() == pytest.approx(
            math.sqrt((max(counts.sum(), 0) + SIGMA) / doubt), rel=1e-5
        )


def test_without_released_shares_the_leaves_give_them():
    values = leaf_values(release(shares=None), plan())
    totals = COUNTS.sum(axis=0) + SIGMA * 2
    share = totals[1] / totals.sum()
    assert values[3, 1] / values[3].sum() == pytest.approx(share, rel=1e-5)


@pytest.mark.parametrize("counts", [-COUNTS, COUNTS * 0, COUNTS * 10**9])
def test_values_are_positive_and_finite_whatever_the_noise_did(counts):
    for shares in ((0.6, 0.4), None):
        values = leaf_values(release(counts, shares), plan())
        assert np.isfinite(values).all()
        assert (values > 0).all()


def test_majority_leaves_vote():
    votes = np.array([[1, 0], [0, 1], [0, 1], [1, 0]])
    values = leaf_values(release(votes), plan(ExponentialLeaves(0.1)))
    np.testing.assert_array_equal(values, votes)


def test_skewed_classes_are_not_drawn_to_one_half():
    counts = np.array([[980, 20], [990, 10], [995, 3], [2965, 33]])
    values = leaf_values(release(counts, (0.99, 0.01)), plan())
    assert (values[:, 1] / values.sum(axis=1) < 0.03).all()


def test_importance_goes_to_the_features_that_part_the_classes():
    schema = DataSchema({"a": Numeric(0, 1), "b": Numeric(0, 1)}, "y", [0, 1])
    encoder = plain_encoder(schema)
    found = feature_importances(schema, encoder, FOREST, COUNTS, SIGMA)
    assert list(found) == ["a", "b"]
    assert sum(found.values()) == pytest.approx(1)
    # Beneath node 1 nothing can be told apart; its leaf 2 holds no rows.
    assert found["a"] > 0.99
    lone = Structure(
        np.array([~0], np.int32),
        np.zeros((0, 4), np.int32),
        np.array([0, 1]),
        np.zeros(2, np.uint8),
    )
    assert feature_importances(schema, encoder, lone, COUNTS[:1], SIGMA) == {"a": 0.0, "b": 0.0}
