"""Lookups of numbers: direct and by bisection agree with a dict."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.schema.number_table import DENSE_FLOOR, DENSE_SPAN, NumberTable

WHOLE = st.integers(-40, 40) | st.integers(-(2**53) + 1, 2**53 - 1)
SETS = st.lists(st.integers(-9, 9) | WHOLE, max_size=6, unique=True)
SETS |= st.lists(st.floats(-9, 9) | st.floats(allow_nan=False), max_size=4, unique=True)
ODD = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-17, 2.5, 1e300]


@given(SETS, st.lists(st.floats() | WHOLE.map(float), max_size=8))
def test_floats_are_looked_up_as_in_a_dict(keys, numbers):
    codes = {float(key): place for place, key in enumerate(keys)}
    table = NumberTable(codes, absent=77)
    wanted = [*numbers, *ODD, *codes, *(key + 1e-9 for key in codes)]
    expected = [codes.get(number, 77) for number in wanted]
    np.testing.assert_array_equal(table.of_floats(np.array(wanted)), expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("low", [-5, 0, 2**53 - 9])
def test_integers_of_every_width_are_looked_up_as_in_a_dict(dtype, low):
    codes = {float(low + step): step for step in (0, 2, 5)}
    table = NumberTable(codes, absent=9)
    ends = np.iinfo(dtype)
    near = [ends.min, ends.max, 0, 1, *(low + step for step in range(-2, 8))]
    near += [2**64 - 5, 2**63 - 1, -(2**63)]
    numbers = [number for number in near if ends.min <= number <= ends.max]
    expected = [codes.get(float(number), 9) for number in numbers]
    np.testing.assert_array_equal(table.of_integers(np.array(numbers, dtype)), expected)


def test_memory_is_linear_in_the_set():
    spread = {float(place * 10**6): place for place in range(1000)}
    assert NumberTable(spread, absent=-1)._direct is None
    dense = {float(place * DENSE_SPAN): place for place in range(1000)}
    assert NumberTable(dense, absent=-1)._direct.size <= DENSE_SPAN * 1000 + 1
    assert NumberTable({0.0: 0, DENSE_FLOOR - 1.0: 1}, absent=-1)._direct is not None


@pytest.mark.parametrize("key", [math.inf, -math.inf, 1e300, 2.0**53])
def test_a_single_huge_key_is_found(key):
    table = NumberTable({key: 4}, absent=9)
    assert table.of_floats(np.array([key, 1.0, math.nan])).tolist() == [4, 9, 9]
