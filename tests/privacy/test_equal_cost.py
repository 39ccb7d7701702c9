"""The equal-cost table: shape and cost of every step."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.equal_cost import equal_cost_table
from lumberjack_spark.privacy.pairs import bit_pairs, outline


def cost_of(low, high, order):
    """ln sum_b P_b (P_b / Q_b)^order, literally."""
    return math.log(high * (high / low) ** order + (1 - high) * ((1 - high) / (1 - low)) ** order)


@pytest.mark.parametrize(("order", "cost"), [(16.4, 0.022), (2.6, 0.04), (0.5, 0.003)])
def test_every_step_below_the_middle_costs_the_same(order, cost):
    table = equal_cost_table(bottom=1e-8, order=order, cost=cost, minimum_count=3)
    chances = [table.probability(c) for c in range(4, table.threshold)]
    assert chances[0] == pytest.approx(1e-8, rel=1e-9)
    for low, high in pairwise(chances):
        worse = max(cost_of(low, high, order), cost_of(high, low, order))
        assert worse == pytest.approx(cost, rel=1e-6)
    middle = table.probability(table.threshold)
    assert cost_of(chances[-1], middle, order) <= cost * (1 + 1e-9)


def test_the_table_is_symmetric_to_the_last_word():
    table = equal_cost_table(bottom=1e-9, order=16.4, cost=0.022, minimum_count=0)
    mirrored = np.uint64(0) - table.weights[::-1]
    assert np.array_equal(table.weights, mirrored)
    assert table.certain_count == table.weights.size + 1


def test_a_table_too_long_to_ship_is_refused():
    with pytest.raises(BudgetError, match="raise epsilon or delta"):
        equal_cost_table(bottom=1e-9, order=16.4, cost=1e-14, minimum_count=0)


@given(st.floats(0.3, 40.0), st.floats(1e-4, 0.05), st.floats(0.05, 1.0), st.booleans())
def test_outlines_contain_every_pair_and_hardly_more(order, cost, spacing, removing):
    table = equal_cost_table(bottom=1e-7, order=order, cost=cost, minimum_count=0)
    family = bit_pairs(table, "remove" if removing else "add")
    polygon = outline(family, spacing, order)
    sums = polygon.low + polygon.low_rest, polygon.high + polygon.high_rest
    assert np.abs(np.array(sums) - 1).max() < 1e-11
    low = np.concatenate(([0.0], polygon.low, [1.0]))
    gain = np.concatenate(([0.0], polygon.gain, [0.0]))
    rest = np.concatenate(([1.0], polygon.high_rest, [0.0]))
    near = family.low < 0.5
    reached = np.interp(family.low[near], low, gain)
    assert np.all(reached >= family.gain[near] * (1 - 1e-11))
    reached = np.interp(family.high_rest[~near], rest[::-1], gain[::-1])
    assert np.all(reached >= family.gain[~near] * (1 - 1e-11))
    assert polygon.gain.max() <= family.gain.max() * (1 + 1e-9)
    assert polygon.low.size <= family.low.size or family.low.size < 100


def test_outlines_of_long_tables_are_short():
    table = equal_cost_table(bottom=1e-9, order=16.4, cost=1e-6, minimum_count=0)
    family = bit_pairs(table, "add")
    assert family.low.size > 30_000
    assert outline(family, 0.1, 16.4).low.size < 500
