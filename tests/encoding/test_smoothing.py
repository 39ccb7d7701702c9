"""Rows and class rates of cells from noisy counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.encoding.smoothing import (
    class_totals,
    estimate_ordered,
    estimate_unordered,
    shrunk_rates,
    spread_of_odds,
)
from tests.encoding.naive_smoothing import shrunk

TOTALS = np.array([7000.0, 3000.0])


@given(
    st.lists(st.floats(-500, 5000), min_size=3, max_size=3),
    st.floats(0.5, 90),
    st.integers(1, 40),
    st.floats(0.01, 1),
)
def test_rates_follow_the_naive_formula(counts, sigma, cells, spread):
    prior = [0.5, 0.3, 0.2]
    found = shrunk_rates(
        np.array([counts]), np.array([prior]), sigma, np.array([float(cells)]), spread
    )
    np.testing.assert_allclose(found[0], shrunk(counts, prior, sigma, cells, spread), rtol=1e-9)


@given(st.lists(st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)), min_size=1, max_size=40))
def test_estimates_are_proper_whatever_the_noise_did(counts):
    table = np.array(counts)
    ordered = estimate_ordered(table, np.ones(len(table)), 30.0, TOTALS)
    for estimate in (ordered, estimate_unordered(table, 30.0, TOTALS)):
        assert (estimate.rows >= 0).all()
        assert (estimate.rates > 0).all()
        np.testing.assert_allclose(estimate.rates.sum(axis=1), 1)


def test_exact_counts_are_believed():
    table = np.array([[500.0, 100], [0, 0], [20, 180], [300, 0], [0, 0]])
    totals = table.sum(axis=0)
    for estimate in (
        estimate_ordered(table, np.ones(5), 1e-3, totals),
        estimate_unordered(table, 1e-3, totals),
    ):
        np.testing.assert_allclose(estimate.rows, table.sum(axis=1), atol=0.1)
        assert estimate.rates[2, 1] == pytest.approx(0.9, abs=0.07)
        assert estimate.rates[3, 1] < 0.06


def test_cells_that_drown_in_noise_say_what_all_rows_say():
    rng = np.random.default_rng(3)
    table = rng.normal(0, 50, (4000, 2))
    table[:4] += [[40_000, 10_000], [10_000, 40_000], [30_000, 30_000], [50_000, 2_000]]
    estimate = estimate_unordered(table, 50.0, TOTALS)
    assert estimate.rows[:4].sum() > 0.93 * estimate.rows.sum()
    weak = estimate.rows == np.median(estimate.rows)
    assert weak.sum() > 3900
    assert np.ptp(estimate.rates[weak], axis=0).max() == 0


def test_neighbours_help_each_other_where_cells_have_an_order():
    rng = np.random.default_rng(4)
    rates = np.where(np.arange(512) < 256, 0.1, 0.6)
    exact = np.stack((40 * (1 - rates), 40 * rates), axis=1)
    table = exact + rng.normal(0, 60, exact.shape)
    ordered = estimate_ordered(table, np.ones(512), 60.0, TOTALS)
    unordered = estimate_unordered(table, 60.0, TOTALS)
    error = [np.abs(e.rates[:, 1] - rates).mean() for e in (ordered, unordered)]
    assert error[0] < 0.1
    assert error[0] < error[1] / 1.5


def test_rows_that_cannot_be_told_apart_are_spread_by_width():
    table = np.zeros((4, 2))
    table[0] = 50, 50
    estimate = estimate_ordered(table, np.array([1.0, 3, 2, 2]), 100.0, TOTALS / 100)
    np.testing.assert_allclose(estimate.rows / estimate.rows.sum(), [0.125, 0.375, 0.25, 0.25])


def test_rows_far_out_are_found_in_a_wide_range():
    table = np.random.default_rng(5).normal(0, 60, (4096, 2))
    table[17] += 3000, 1000
    table[23] += 2000, 4000
    estimate = estimate_ordered(table, np.ones(4096), 60.0, TOTALS)
    assert estimate.rows[[17, 23]].sum() > 0.8 * estimate.rows.sum()


def test_class_totals_weigh_features_by_their_precision():
    sharp, blunt = np.full((2, 2), 100.0), np.full((50, 2), 40.0)
    totals = class_totals([sharp, blunt], np.array([1.0, 30.0]))
    np.testing.assert_allclose(totals, 200, rtol=0.01)
    drowned = class_totals([sharp], np.array([1e6]))
    assert drowned[0] == pytest.approx(drowned[1], rel=0.01)
    assert (class_totals([-sharp], np.array([1.0])) > 1).all()


def test_rates_of_a_rare_class_vary_less():
    balanced, rare = (spread_of_odds(np.array([1 - p, p]), 0.5) for p in (0.5, 0.1))
    assert balanced == pytest.approx(0.5 * 0.25)
    assert rare == pytest.approx(0.5 * 0.09)
