"""Places of cells."""

import numpy as np
import pytest

from lumberjack_spark.encoding.places import (
    TOP_CODE,
    middles,
    middles_in_order,
    place_of_rates,
    whole_codes,
)


def test_slots_lie_side_by_side():
    rows = np.array([1.0, 2.0, 1.0])
    np.testing.assert_allclose(middles(rows), [1 / 8, 1 / 2, 7 / 8])
    np.testing.assert_allclose(middles_in_order(rows, np.array([3, 1, 2])), [7 / 8, 1 / 4, 5 / 8])
    assert whole_codes(np.array([-0.1, 0.0, 0.5, 1.2])).tolist() == [0, 0, 2048, TOP_CODE]


@pytest.mark.parametrize("n_classes", [3, 7, 4096])
def test_the_first_component_orders_cells_that_lie_on_a_line(n_classes):
    """Few cells of many classes too, without a matrix of classes by classes."""
    shares = np.full(n_classes, 1 / n_classes)
    direction = np.zeros(n_classes)
    direction[:2] = 0.2 / n_classes, -0.2 / n_classes
    along = np.array([0.3, -1.0, 2.0, 0.0])
    rates = shares + along[:, None] * direction
    place = place_of_rates(rates, np.array([5.0, 1.0, 2.0, 9.0]), shares)
    assert np.argsort(place).tolist() in ([1, 3, 0, 2], [2, 0, 3, 1])


def test_two_classes_are_ordered_by_the_rate_of_the_second():
    rates = np.array([[0.2, 0.8], [0.9, 0.1]])
    assert place_of_rates(rates, np.ones(2), np.array([0.5, 0.5])).tolist() == [0.8, 0.1]
