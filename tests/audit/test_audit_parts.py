"""The audit's own parts: bounds, scores, scenarios, and its job."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta, binom

from lumberjack_spark.audit import (
    LikelihoodRatio,
    Observations,
    RoutedBackend,
    epsilon_lower_bound,
    make_scenario,
    probability_bounds,
    shown_epsilon,
)
from lumberjack_spark.audit.scenarios import (
    ALIKE,
    FAR,
    NEAR,
    audit_schema,
    find_seed,
    make_rows,
    steepest_count,
)
from lumberjack_spark.encoding import marginal_histograms
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable, make_plan
from lumberjack_spark.training import LocalBackend, fit_forest


@pytest.mark.parametrize(("hits", "draws"), [(0, 7), (7, 7), (3, 50), (499, 500)])
def test_probability_bounds_are_those_of_clopper_and_pearson(hits, draws):
    low, high = probability_bounds(hits, draws, 0.01)
    assert low == (0.0 if hits == 0 else pytest.approx(beta.ppf(0.01, hits, draws - hits + 1)))
    assert high == (1.0 if hits == draws else pytest.approx(beta.ppf(0.99, hits + 1, draws - hits)))


@pytest.mark.parametrize("probability", [0.003, 0.2, 0.5, 0.97])
def test_a_bound_misses_the_true_probability_as_rarely_as_it_says(probability):
    draws, alpha = 400, 0.02
    chances = binom.pmf(np.arange(draws + 1), draws, probability)
    bounds = [probability_bounds(hits, draws, alpha) for hits in range(draws + 1)]
    too_high = sum(c for c, (low, _) in zip(chances, bounds, strict=True) if low > probability)
    too_low = sum(c for c, (_, high) in zip(chances, bounds, strict=True) if high < probability)
    assert max(too_high, too_low) <= alpha


def test_epsilon_bound_nears_the_truth_from_below():
    truth = np.log((0.3 - 0.05) / 0.04)
    bounds = [
        epsilon_lower_bound((3 * n, 10 * n), (4 * n, 100 * n), delta=0.05, alpha=1e-9)
        for n in (100, 10_000, 1_000_000)
    ]
    assert bounds == sorted(bounds)
    assert truth - 0.01 < bounds[-1] < truth


def test_nothing_is_shown_by_counts_that_delta_explains():
    assert epsilon_lower_bound((90, 1000), (0, 1000), delta=0.1, alpha=0.01) == 0.0


def randomised_response(epsilon, draws, seed):
    """Draws of one bit that tells the truth with odds e^epsilon, as shapes or as a number."""
    words = np.random.default_rng(seed).random((2, draws))
    honest = np.exp(epsilon) / (1 + np.exp(epsilon))
    return words[0] < honest, words[1] >= honest


@pytest.mark.parametrize("as_number", [False, True])
def test_the_bound_of_randomised_response_is_near_its_epsilon(as_number):
    sides = [
        Observations([b""] * len(side), side[:, None] * 2.0)
        if as_number
        else Observations([bytes([int(bit)]) for bit in side], np.zeros((len(side), 0)))
        for side in randomised_response(1.0, 20_000, seed=7)
    ]
    assert 0.75 < shown_epsilon(*sides, delta=0.0) <= 1.0
    assert 0.75 < shown_epsilon(*sides[::-1], delta=0.0) <= 1.0


def test_scores_of_gaussian_numbers_follow_their_likelihood_ratio():
    rng = np.random.default_rng(3)
    sides = [
        Observations([b""] * 50_000, np.rint(rng.normal(mean, 2.0, (50_000, 1))))
        for mean in (1.0, 0.0)
    ]
    score = LikelihoodRatio.learn(*sides)
    at = np.array([[-3.0], [1.0], [4.0]])
    learnt = score.of(Observations([b"", b"", b"new"], at))
    assert np.abs(learnt - (2 * at[:, 0] - 1) / 8).max() < 0.1


def test_the_steepest_count_is_where_a_row_moves_the_bit_most():
    unit = 2**60
    bits = BitTable(4, np.array([unit, 2 * unit, 9 * unit, 10 * unit], np.uint64))
    assert steepest_count(bits) == 6


def test_the_adaptive_scenario_has_the_counts_that_it_promises():
    scenario = make_scenario("adaptive, height 3", epsilon=1.0, delta=0.05)
    bits = scenario.plan.bits
    kinds = list(zip(*(scenario.rows.column(i).to_pylist() for i in range(3)), strict=True))
    assert kinds.count(ALIKE[:3]) == bits.minimum_count
    assert len(kinds) == steepest_count(bits)
    assert find_seed(audit_schema(), NEAR, branches=1, trees=1) == scenario.seed


def assert_routing_once_changes_nothing(scenario, batches, n_keys=12):
    """Forests of a RoutedBackend equal those of a LocalBackend, key by key."""
    once = RoutedBackend(batches)
    for number in range(n_keys):
        key = NoiseKey.injected(bytes([number]) * 32)
        forests = [
            fit_forest(backend, scenario.schema, scenario.plan, seed=scenario.seed, key=key)
            for backend in (once, LocalBackend([[batch] for batch in batches]))
        ]
        assert np.array_equal(forests[0].structure.nodes, forests[1].structure.nodes)
        assert np.array_equal(forests[0].leaf_counts, forests[1].leaf_counts)


@pytest.mark.parametrize("name", ["two adaptive trees", "three trees", "marginals"])
def test_routing_once_changes_no_forest(name):
    scenario = make_scenario(name, epsilon=1.0, delta=0.1)
    assert_routing_once_changes_nothing(scenario, [scenario.rows, scenario.row])


def test_routing_once_keeps_second_passes_below_other_nodes_apart():
    scenario = make_scenario("two passes", epsilon=1.0, delta=0.1)
    middle = steepest_count(scenario.plan.bits) + 1
    groups = {ALIKE: middle, FAR: middle}
    rows = make_rows(scenario.schema, groups)
    assert_routing_once_changes_nothing(scenario, [rows])


def test_routing_once_keeps_private_encoders_apart():
    schema = audit_schema(1)
    plan = make_plan(
        epsilon=3.0,
        delta=0.1,
        num_trees=1,
        max_depth=1,
        min_exact_count=4,
        leaf_mode="majority",
        leaf_share=0.4,
        marginal_share=0.1,
        histograms=marginal_histograms(schema),
    )
    scenario = replace(make_scenario("marginals", epsilon=3.0, delta=0.1), schema=schema, plan=plan)
    assert_routing_once_changes_nothing(scenario, [make_rows(schema, {ALIKE: 60})], n_keys=30)


def test_rows_of_no_group_are_an_empty_table():
    assert make_rows(audit_schema(), {}).num_rows == 0
    assert make_rows(audit_schema(), {}).schema == make_rows(audit_schema(), {ALIKE: 1}).schema
    assert pa.types.is_string(make_rows(audit_schema(), {}).schema.field("class").type)


@pytest.fixture(scope="module")
def audit_job():
    path = Path(__file__).parents[2] / "jobs" / "audit.py"
    spec = importlib.util.spec_from_file_location("audit_job", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_job_prints_a_table_and_json(audit_job, capsys):
    assert audit_job.main(["--draws", "20", "--scenario", "leaves"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["scenario", "epsilon", "delta", "shown", "draws", "seconds"]
    result = json.loads(lines[-1])
    assert result["within"] is True
    assert result["scenarios"][0]["draws"] == 20


def test_the_job_exits_with_1_when_a_bound_is_beyond_its_claim(audit_job, capsys, monkeypatch):
    real = audit_job.audit
    monkeypatch.setattr(
        audit_job, "audit", lambda s, *, draws: real(s, draws=draws, new_key=lambda: KEY)
    )
    assert audit_job.main(["--draws", "60", "--scenario", "leaves"]) == 1
    out = capsys.readouterr().out
    assert "BEYOND" in out
    assert json.loads(out.splitlines()[-1])["within"] is False


KEY = NoiseKey.injected(bytes(32))


def test_the_job_refuses_a_claim_without_a_plan(audit_job, capsys):
    assert audit_job.main(["--delta", "2"]) == 3
    assert "delta must be" in capsys.readouterr().err
