"""Calibration against independent numbers, within the budget, within its time."""

import time

import numpy as np
import pytest

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy import (
    ExponentialLeaves,
    GaussianLeaves,
    PlanRequest,
    make_plan,
    release_delta,
    release_of,
)
from lumberjack_spark.privacy.calibration import calibrate
from lumberjack_spark.privacy.release import EXACTING
from tests.privacy.golden import DEPTH, GAUSSIAN_BITS, TABLES

USUAL = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "num_trees": 30,
    "max_depth": 100,
    "min_exact_count": 0,
    "leaf_share": 0.4,
    "marginal_share": 0.0,
}


def request(**changes):
    rest = {
        "leaf_mode": "proportions",
        "accountant": "exact",
        "threshold": "table",
        "histograms": 0,
        "structure_fraction": 0.75,
        "neighbors": "add_remove",
    }
    return PlanRequest(**{**USUAL, **rest, **changes})


@pytest.mark.parametrize(("trees", "per_tree", "epsilon", "sigma", "gap", "leaf"), GAUSSIAN_BITS)
def test_gaussian_bits_are_within_one_percent_of_the_best(
    trees, per_tree, epsilon, sigma, gap, leaf
):
    changes = {"num_trees": trees, "max_depth": DEPTH[per_tree], "epsilon": epsilon}
    found = calibrate(request(threshold="gaussian", leaf_share=0.15, **changes))
    assert found.delta <= 1e-6
    assert found.notes["gap"] <= 1.01 * gap
    assert found.notes["sigma"] == pytest.approx(sigma, rel=0.02)
    assert found.release.leaves.sigma == pytest.approx(leaf, rel=0.02)


def test_the_reference_plan_has_its_gap():
    found = calibrate(request(threshold="gaussian", leaf_share=0.15), GaussianLeaves(60.98))
    assert found.notes["gap"] <= 317.5


@pytest.mark.parametrize(("trees", "per_tree", "epsilon", "leaf", "midpoint"), TABLES)
def test_tables_are_not_above_the_best(trees, per_tree, epsilon, leaf, midpoint):
    changes = {"num_trees": trees, "max_depth": DEPTH[per_tree], "epsilon": epsilon}
    found = calibrate(request(min_exact_count=5, **changes), GaussianLeaves(leaf))
    bits = found.release.bits
    assert bits.threshold - bits.minimum_count - 1 <= midpoint * 1.01
    assert release_delta(found.release, epsilon, EXACTING) <= found.delta <= 1e-6


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"leaf_mode": "majority"},
        {"marginal_share": 0.1, "histograms": 14},
        {"neighbors": "replace_one"},
        {"neighbors": "replace_one", "leaf_mode": "majority"},
        {"threshold": "gaussian"},
        {"accountant": "theorem6", "threshold": "gaussian"},
        {"accountant": "theorem6", "threshold": "gaussian", "leaf_mode": "majority"},
        {"accountant": "theorem6", "threshold": "gaussian", "marginal_share": 0.1, "histograms": 9},
        {"delta": 1e-12},
        {"num_trees": 1, "max_depth": 1},
    ],
)
def test_a_plan_is_certified_by_a_finer_game(changes):
    plan = make_plan(**{**USUAL, **changes})
    finer = release_delta(release_of(plan), plan.guarantee.epsilon, EXACTING)
    assert finer <= plan.certified_delta * (1 + 1e-3) <= plan.guarantee.delta * (1 + 1e-3)
    assert plan.certified_delta <= plan.guarantee.delta
    if plan.accountant == "exact":
        assert plan.certified_delta > 0.9 * plan.guarantee.delta


def test_shares_follow_the_spending():
    plans = [make_plan(**{**USUAL, "leaf_share": share}) for share in (0.15, 0.4, 0.7)]
    sigmas = [plan.leaves.sigma for plan in plans]
    thresholds = [plan.bits.threshold for plan in plans]
    assert sigmas == sorted(sigmas, reverse=True)
    assert thresholds == sorted(thresholds)
    paper = make_plan(**{**USUAL, "accountant": "theorem6", "threshold": "gaussian"})
    assert thresholds[1] < paper.bits.threshold / 2


def test_replacing_a_row_costs_more_noise():
    one, other = (
        make_plan(**{**USUAL, "neighbors": kind}) for kind in ("add_remove", "replace_one")
    )
    assert other.bits.threshold > 1.2 * one.bits.threshold
    assert other.leaves.sigma > 1.2 * one.leaves.sigma
    assert other.guarantee.neighbors == "replace_one"


def test_a_row_s_questions_and_the_certain_count_are_facts_of_the_plan():
    plan = make_plan(**{**USUAL, "min_exact_count": 8})
    assert plan.questions == 210
    assert plan.certain_count == plan.notes["kept_for_certain"]
    assert plan.bits.probability(plan.certain_count) == 1.0
    assert plan.bits.probability(plan.certain_count - 1) < 1.0
    assert plan.bits.probability(8) == 0.0


# Epsilon and depth, each with every delta, number of trees and, in turns, leaf mode.
CORNERS = [
    (epsilon, delta, trees, depth, ("proportions", "majority")[(place + trees) % 2])
    for place, (epsilon, depth) in enumerate(
        ((1e-3, 63), (0.01, 2), (0.5, 126), (8.0, 1), (100.0, 63), (1e6, 63))
    )
    for delta in (1e-15, 1e-6, 0.1)
    for trees in (1, 30)
]


@pytest.mark.parametrize(("epsilon", "delta", "trees", "depth", "mode"), CORNERS)
def test_far_budgets_are_planned_or_refused_in_one_sentence(epsilon, delta, trees, depth, mode):
    changes = {"epsilon": epsilon, "delta": delta, "num_trees": trees, "max_depth": depth}
    try:
        plan = make_plan(**{**USUAL, **changes, "leaf_mode": mode})
    except BudgetError as refusal:
        refused = str(refusal)
        assert delta == 1e-15, refused
        assert ". " not in refused
        return
    spent = plan.notes["epsilon_spent"]
    assert 0 < spent <= epsilon
    assert release_delta(release_of(plan), spent) <= delta


def test_more_budget_never_gives_a_higher_threshold():
    thresholds = [
        make_plan(**{**USUAL, "epsilon": epsilon}).bits.threshold
        for epsilon in (0.1, 1.0, 10.0, 1e3, 1e6)
    ]
    assert thresholds == sorted(thresholds, reverse=True)
    assert thresholds[-1] < 20


@pytest.mark.parametrize(("trees", "seconds"), [(30, 5.0), (100, 15.0)])
def test_calibration_keeps_its_time(trees, seconds):
    start = time.process_time()
    calibrate(request(num_trees=trees, max_depth=126))
    assert time.process_time() - start < seconds


@pytest.mark.slow
def test_a_thousand_trees_are_calibrated_within_a_minute():
    start = time.process_time()
    found = calibrate(request(num_trees=1000, max_depth=126))
    assert time.process_time() - start < 60
    assert found.delta <= 1e-6


def test_a_plan_whose_noise_the_game_refuses_is_not_made(monkeypatch):
    from lumberjack_spark.privacy import paper_plan

    def too_little(epsilon, delta, questions):
        return 40.57, 234.8

    monkeypatch.setattr(paper_plan, "calibrate_theorem6", too_little)
    with pytest.raises(BudgetError, match="agree with the exact game"):
        make_plan(**{**USUAL, "accountant": "theorem6", "threshold": "gaussian"})


def test_majority_leaves_count_the_rounding_of_many_classes():
    few, many = (
        make_plan(**{**USUAL, "leaf_mode": "majority", "delta": 1e-9, "num_classes": classes})
        for classes in (2, 2**11)
    )
    assert isinstance(few.leaves, ExponentialLeaves)
    assert few.leaves.eta > many.leaves.eta
    assert many.notes["largest_num_classes"] == 2**11


def test_weights_are_those_that_were_evaluated():
    found = calibrate(request())
    again = calibrate(request())
    assert np.array_equal(found.release.bits.weights, again.release.bits.weights)
    assert found.delta == again.delta == release_delta(found.release, 1.0)
