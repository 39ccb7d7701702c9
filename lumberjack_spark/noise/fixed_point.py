"""Integer arithmetic behind the noise tables: e^(-rate j) and high products, to a stated error.

No table depends on the platform's libm: the one exponential each table needs is taken by `decimal`
at 60 digits, and all other entries follow by integer products of 192 fractional bits.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

FRACTION_BITS = 192
_DIGITS = 60
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def exp_minus(rate: Fraction) -> int:
    """Return e^(-rate) in units of 2^-192, rate >= 0; wrong by at most two units."""
    with localcontext() as context:
        context.prec = _DIGITS
        power = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        return int(power * 2**FRACTION_BITS)


def exp_minus_multiples(rate: Fraction, size: int, *, bits: int) -> NDArray[np.uint64]:
    """Return e^(-rate j) for j < size in units of 2^-bits, rounded to nearest.

    Args:
        rate: >= 0.
        size: number of entries, at most 2^24, so that the error before rounding is below 2^-160.
        bits: 1..63.

    Returns:
        uint64[size], starting with 2^bits.
    """
    step, power = exp_minus(rate), 1 << FRACTION_BITS
    drop = FRACTION_BITS - bits
    half = 1 << (drop - 1)
    entries = np.empty(size, np.uint64)
    for j in range(size):
        entries[j] = (power + half) >> drop
        power = power * step >> FRACTION_BITS
    return entries


def multiply_high(
    left: NDArray[np.uint64], right: NDArray[np.uint64], *, shift: int
) -> NDArray[np.uint64]:
    """Return floor(left * right / 2^shift) exactly, elementwise.

    Args:
        left: uint64 array.
        right: uint64 array of a shape that broadcasts with left.
        shift: 1..64; the caller knows that the result fits a word.
    """
    left_low, left_high = left & _LOW_HALF, left >> _HALF
    right_low, right_high = right & _LOW_HALF, right >> _HALF
    cross, other = left_low * right_high, left_high * right_low
    carry = ((left_low * right_low) >> _HALF) + (cross & _LOW_HALF) + (other & _LOW_HALF)
    high: NDArray[np.uint64] = left_high * right_high
    high = high + (cross >> _HALF) + (other >> _HALF) + (carry >> _HALF)
    if shift == 64:
        return high
    return (high << np.uint64(64 - shift)) | ((left * right) >> np.uint64(shift))
