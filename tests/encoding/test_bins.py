"""Cells of the private marginals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.encoding.bins import (
    CELLS_AN_OCTAVE,
    EVEN_CELLS,
    MOST_GROUPS,
    MOST_PAIR_COUNTS,
    MOST_REPEATS,
    PAIR_SHARE,
    CategoryBins,
    MarginalBins,
    NumberBins,
    WholeNumberBins,
    marginal_histograms,
    number_edges,
    pair_shape,
)
from lumberjack_spark.schema import Categorical, DataSchema, IntegerRange, Numeric, Vector

SCHEMA = DataSchema(
    {
        "size": Numeric(-5, 80),
        "colour": Categorical(["red", "green"]),
        "code": Numeric(10, 20, as_categories=True),
        "list": Vector({"a": Numeric(0, 1), "b": Categorical(IntegerRange(0, 99))}),
    },
    label="y",
    classes=["no", "yes"],
)


def test_every_feature_has_cells_and_a_row_is_in_one_of_each():
    bins = MarginalBins.of_schema(SCHEMA)
    columns = [
        np.array([-5.0, 80.0, 3.3, np.nan]),
        np.array([0, 1, 2, 3], np.int32),
        np.array([10.0, 20.0, 14.0, np.nan]),
        np.array([0.0, 1.0, 0.5, np.nan]),
        np.array([0, 99, 100, 101], np.int32),
    ]
    for cells, feature in zip(bins.cells(columns), bins.features, strict=True):
        assert cells.min() >= 0
        assert cells.max() == feature.size - 1
        assert len(set(cells.tolist())) == 4
    assert bins.offsets[-1] == sum(feature.size for feature in bins.features)


def test_histograms_is_the_number_of_noisy_counts_that_a_row_is_in():
    bins = MarginalBins.of_schema(SCHEMA)
    pairs, groups = pair_shape(5, 2)
    assert (pairs, groups) == (10, MOST_GROUPS)
    assert marginal_histograms(SCHEMA) == bins.histograms == sum(bins.repeats) + pairs
    assert pairs / bins.histograms == pytest.approx(PAIR_SHARE, abs=0.1)
    # Two declared colours need the least precision, a hundred values more.
    assert bins.repeats[4] == 7 * bins.repeats[1]
    assert max(bins.repeats) <= MOST_REPEATS * min(bins.repeats)


def test_pairs_are_bounded_whatever_is_declared():
    assert pair_shape(1, 2) == (0, 0)
    assert pair_shape(2, 2) == (1, MOST_GROUPS)
    assert pair_shape(10_000, 2)[0] == 45
    for d in (2, 5, 300):
        for n_classes in (2, 30, 700, 4096, 10**6):
            pairs, groups = pair_shape(d, n_classes)
            assert pairs * groups**2 * n_classes <= MOST_PAIR_COUNTS


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e9),
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
)
def test_numbers_are_in_the_cell_whose_edges_enclose_them(low, width, places):
    bins = NumberBins(number_edges(low, low + width, 64), low, low + width)
    assert (np.diff(bins.edges) > 0).all()
    values = np.array([min(low + width * place, bins.high) for place in places])
    around = np.concatenate(([-np.inf], bins.edges, [np.inf]))
    cells = bins.of(values)
    assert (around[cells] <= values).all()
    assert (values < around[cells + 1]).all()


def test_bounds_far_too_wide_leave_useful_cells():
    edges = number_edges(0, 1e9, EVEN_CELLS)
    for value in (1.0, 40.0, 5e4):
        cell = np.searchsorted(edges, value)
        assert edges[cell] / edges[cell - 1] <= 2 ** (1.01 / CELLS_AN_OCTAVE)


def test_zero_has_an_edge_of_its_own():
    assert 0.0 in number_edges(-1, 5, 64)
    edges = number_edges(0, 100, 64)
    assert edges[0] < 1e-6


@given(st.lists(st.floats(3, 9), min_size=1, max_size=30))
def test_whole_numbers_are_rounded_as_their_edges_say(values):
    bins = WholeNumberBins(3, 9)
    expected = np.searchsorted(bins.edges, values, side="right")
    np.testing.assert_array_equal(bins.of(np.array(values)), expected)


def test_many_features_get_fewer_cells_each():
    schema = DataSchema(
        {"v": Vector({f"s{i}": Numeric(0, 1) for i in range(3000)})}, label="y", classes=[0, 1, 2]
    )
    bins = MarginalBins.of_schema(schema)
    assert bins.offsets[-1] * 3 < 2**23
    assert bins.repeats == (1,) * 3000


@pytest.mark.parametrize("bins", [CategoryBins(4), WholeNumberBins(0, 3)])
def test_cells_without_thresholds_are_one_a_value(bins):
    assert bins.size in (5, 6)
