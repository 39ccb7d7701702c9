"""An honest fit stays below its claim, and each planted fault is caught.

Bounds hold at 1 - 1e-9 whatever the draws. The keys are pinned for repeatability: key i of a test
comes from a fixed hash of i.
"""

import hashlib
import itertools
from dataclasses import replace

import pytest

import lumberjack_spark.training.fit as fit
from lumberjack_spark.audit import (
    SCENARIOS,
    Observations,
    audit,
    draw_observations,
    make_scenario,
    shown_epsilon,
)
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import make_plan
from lumberjack_spark.privacy.bit_tables import gaussian_bit_table
from tests.audit import faults
from tests.stats import FALSE_ALARM

CONFIDENCE = 1 - FALSE_ALARM


def pinned_keys():
    """A new key at each call, the same ones in each run."""
    numbers = itertools.count()
    return lambda: NoiseKey.injected(hashlib.sha256(b"audit %d" % next(numbers)).digest())


def shown(scenario, draws, **faulty):
    keys = {"new_key": pinned_keys(), **faulty}
    return audit(scenario, draws=draws, confidence=CONFIDENCE, **keys).lower_bound


@pytest.mark.parametrize("name", SCENARIOS)
def test_an_honest_fit_shows_less_than_it_claims(name):
    scenario = make_scenario(name, epsilon=1.0, delta=0.1)
    assert shown(scenario, 60) <= 1.0


# Epsilon, delta and draws of each pair of tests: enough for the fault to show at 1e-9.
LEAVES = {"name": "leaves", "epsilon": 1.0, "delta": 0.3}
FOOT = {"name": "bit at c0 + 3", "epsilon": 1.0, "delta": 0.1}
STEEP = {"name": "steepest bit", "epsilon": 1.0, "delta": 0.2}
LEAF_DRAWS, FOOT_DRAWS, STEEP_DRAWS, GROSS_DRAWS = 1700, 600, 800, 300


@pytest.mark.parametrize(
    ("claim", "draws"), [(LEAVES, LEAF_DRAWS), (FOOT, FOOT_DRAWS), (STEEP, STEEP_DRAWS)]
)
def test_an_honest_fit_passes_with_as_many_draws_as_catch_a_fault(claim, draws):
    assert shown(make_scenario(**claim), draws) <= 1.0


def test_leaf_noise_cut_by_30_percent_is_caught():
    scenario = make_scenario(**LEAVES)
    used = faults.with_less_leaf_noise(scenario.plan, 0.7)
    assert shown(scenario, LEAF_DRAWS, plan=used) > 1.0


def test_bits_that_start_3_rows_late_are_caught():
    scenario = make_scenario(**FOOT)
    assert shown(scenario, FOOT_DRAWS, plan=faults.with_late_bits(scenario.plan, 3)) > 1.0


def test_bits_with_a_third_of_the_noise_are_caught():
    scenario = make_scenario(**STEEP)
    assert shown(scenario, STEEP_DRAWS, plan=faults.with_bits_of_a_third(scenario.plan)) > 1.0


def test_a_key_that_serves_two_fits_is_caught():
    scenario = make_scenario("two fits", epsilon=1.0, delta=0.1)
    assert shown(scenario, GROSS_DRAWS, new_key=faults.EachKeyTwice()) > 1.0


def test_exact_leaf_counts_of_one_class_are_caught(monkeypatch):
    scenario = make_scenario("leaves", epsilon=1.0, delta=0.1)
    faulty = faults.exact_for_one_class(fit._with_noise, label=1)
    monkeypatch.setattr(fit, "_with_noise", faulty)
    assert shown(scenario, GROSS_DRAWS) > 1.0


def test_marginals_without_noise_are_caught(monkeypatch):
    scenario = make_scenario("marginals", epsilon=1.0, delta=0.1)
    monkeypatch.setattr(fit, "release_marginals", faults.exact_marginals)
    assert shown(scenario, GROSS_DRAWS) > 1.0


def test_labels_drawn_with_three_times_the_exponent_are_caught():
    scenario = make_scenario("drawn labels", epsilon=1.0, delta=0.1)
    leaves = replace(scenario.plan.leaves, eta=3 * scenario.plan.leaves.eta)
    assert shown(scenario, 800, plan=replace(scenario.plan, leaves=leaves)) > 1.0


@pytest.mark.parametrize(("part", "is_private"), [(1.0, True), (1 / 3, False)])
def test_the_heavy_set_of_a_tiny_forest_respects_the_claim_unless_its_noise_is_cut(
    part, is_private
):
    scenario = make_scenario("adaptive, height 3", epsilon=1.0, delta=0.1)
    plan = make_plan(
        epsilon=1.0,
        delta=0.1,
        num_trees=1,
        max_depth=3,
        leaf_mode="majority",
        threshold="gaussian",
        min_exact_count=4,
        leaf_share=0.05,
        marginal_share=0.0,
    )
    scenario = replace(scenario, plan=plan)
    sigma, gap = plan.notes["sigma"], plan.notes["gap"]
    bits = gaussian_bit_table(sigma=part * sigma, gap=gap, minimum_count=4)
    keys = pinned_keys()
    with_row, without = (
        only_shapes(
            draw_observations(
                scenario, with_row=side, draws=1000, plan=replace(plan, bits=bits), new_key=keys
            )
        )
        for side in (True, False)
    )
    bound = shown_epsilon(with_row, without, delta=0.1, confidence=CONFIDENCE)
    assert (bound <= 1.0) == is_private


def only_shapes(seen):
    """What the heavy sets tell, without the leaf counts."""
    return Observations(seen.shapes, seen.numbers[:, :0])
