"""The value types of a plan refuse what is not a plan."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import norm

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
    Guarantee,
    make_plan,
    questions_per_tree,
)
from lumberjack_spark.privacy.bit_tables import gaussian_bit_table

PAPER_REQUEST = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "num_trees": 30,
    "max_depth": 100,
    "accountant": "theorem6",
    "threshold": "gaussian",
    "min_exact_count": 0,
    "leaf_share": 0.4,
    "marginal_share": 0.0,
}


def test_gaussian_table_agrees_with_the_normal_cdf():
    table = gaussian_bit_table(sigma=7.3, gap=41.7, minimum_count=8)
    for count in range(9, table.certain_count):
        assert table.probability(count) == pytest.approx(norm.cdf((count - 50.7) / 7.3), rel=1e-13)
    assert table.threshold == 51
    assert table.probability(8) == 0.0
    assert norm.sf((table.certain_count - 50.7) / 7.3) < 2.0**-64


def test_gaussian_table_keeps_the_upper_tail_to_the_last_word():
    table = gaussian_bit_table(sigma=7.3, gap=41.7, minimum_count=0)
    for count in range(60, table.certain_count):
        gap = 2**64 - int(table.weights[count - 1])
        assert abs(gap / 2**64 - norm.sf((count - 42.7) / 7.3)) <= 2.0**-64 + 1e-13 * gap / 2**64


def test_a_table_is_a_private_read_only_copy():
    weights = np.array([1, 2], dtype=np.uint64)
    table = BitTable(0, weights)
    weights[0] = 9
    assert table.weights[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 9


@pytest.mark.parametrize(
    "weights",
    [np.array([2, 1], np.uint64), np.array([1, 2], np.int64), np.array([[1, 2]], np.uint64)],
)
def test_a_table_refuses_what_is_not_nondecreasing_words(weights):
    with pytest.raises(ValueError, match="weights must be"):
        BitTable(0, weights)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_noise_scales_must_be_finite_and_positive(value):
    for make in (GaussianLeaves, ExponentialLeaves, lambda x: GaussianMarginals(x, 1)):
        with pytest.raises(ValueError, match="must be finite and > 0"):
            make(value)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_unusable_budgets_are_refused_by_name(value):
    with pytest.raises(BudgetError, match="epsilon must be"):
        make_plan(**{**PAPER_REQUEST, "epsilon": value})
    with pytest.raises(BudgetError, match="delta must be"):
        make_plan(**{**PAPER_REQUEST, "delta": value})
    with pytest.raises(ValueError, match="epsilon must be"):
        Guarantee(value, 1e-6)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delta", 1.0),
        ("num_trees", 0),
        ("num_trees", 10_001),
        ("num_trees", 2.0),
        ("max_depth", 0),
        ("max_depth", 127),
        ("min_exact_count", -1),
        ("leaf_share", 0.0),
        ("leaf_share", math.nan),
        ("marginal_share", -0.1),
        ("marginal_share", 0.7),
        ("histograms", 3),
        ("leaf_mode", "votes"),
        ("accountant", "zcdp"),
        ("neighbors", "both"),
        ("threshold", "table"),
        ("structure_fraction", 1.0),
    ],
)
def test_arguments_outside_their_range_are_refused_by_name(name, value):
    with pytest.raises(BudgetError, match=name):
        make_plan(**{**PAPER_REQUEST, name: value})


def test_questions_follow_the_binary_schedule():
    assert [questions_per_tree(h) for h in (1, 2, 3, 4, 63, 64, 100, 126)] == [
        1, 2, 2, 3, 6, 7, 7, 7,
    ]  # fmt: skip


def test_a_plan_survives_pickling_and_its_summary_holds_no_weights():
    plan = make_plan(**PAPER_REQUEST)
    again = pickle.loads(pickle.dumps(plan))  # noqa: S301
    assert again.to_dict() == plan.to_dict()
    assert np.array_equal(again.bits.weights, plan.bits.weights)
    assert not again.bits.weights.flags.writeable
    assert "weights" not in str(plan.to_dict())


def test_the_exact_count_lifts_the_whole_table():
    low, high = (make_plan(**{**PAPER_REQUEST, "min_exact_count": c}) for c in (0, 8))
    assert high.bits.threshold == low.bits.threshold + 8
    assert np.array_equal(high.bits.weights, low.bits.weights)
