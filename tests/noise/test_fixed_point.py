from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lumberjack_spark.noise.fixed_point import exp_minus, exp_minus_multiples, multiply_high

WORDS = st.integers(0, 2**64 - 1)


def exact_power(rate, bits):
    """e^(-rate) in units of 2^-bits at 120 digits."""
    with localcontext() as context:
        context.prec = 120
        return (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp() * Decimal(2) ** bits


@given(WORDS, WORDS)
@example(2**64 - 1, 2**64 - 1)
@example(2**32 - 1, 2**64 - 2**32)
def test_high_products_equal_those_of_python_integers(left, right):
    arrays = np.array([left], np.uint64), np.array([right], np.uint64)
    assert multiply_high(*arrays, shift=64).tolist() == [left * right >> 64]
    half = [left >> 1, right >> 1]
    arrays = np.array(half[:1], np.uint64), np.array(half[1:], np.uint64)
    assert multiply_high(*arrays, shift=63).tolist() == [half[0] * half[1] >> 63]


@pytest.mark.parametrize(
    "rate", [Fraction(0), Fraction(1, 7), Fraction(3), Fraction(0.1), Fraction(90)]
)
def test_powers_are_right_to_two_units(rate):
    assert abs(exp_minus(rate) - exact_power(rate, 192)) <= 2


def test_vanishing_powers_are_zero():
    assert exp_minus(Fraction(10) ** 600) == 0


@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(0.1), Fraction(5)])
def test_multiples_are_rounded_to_nearest(rate):
    entries = exp_minus_multiples(rate, 500, bits=63).tolist()
    assert entries[0] == 2**63
    for j in range(0, 500, 7):
        assert abs(entries[j] - exact_power(rate * j, 63)) <= Decimal("0.5")
