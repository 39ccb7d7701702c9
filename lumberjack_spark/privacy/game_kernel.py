"""The accountant's inner loop: many steps of the game on a grid.

Units      the grid is l_i = l_0 e^{h i}; values are W(l_i), upper bounds of a convex nonincreasing
           function with W(0) = 1.
Source     PROOF.md, "The grid" and "Error terms".
Safe side  outside the grid W is replaced by what lies above it: below l_0 the chord from (0, 1),
           above the last point the last value. Every step is raised by RELATIVE_SLACK.
fastmath   contraction and no NaN, infinities or signed zeros; never reordering of sums.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Rounding of one step: a sum of at most six positive products of rounded factors is within 2e-15
# relative; twice that is added.
RELATIVE_SLACK = 4e-15
# Rounding of 1 - x for x in [0, 1] and of sums of such terms, absolute.
UNIT_SLACK = 4e-15
_BLOCK = 1024


@njit(cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def play_steps(
    padded: Floats,
    below: int,
    size: int,
    spacing: float,
    weights: Floats,
    offsets: Integers,
    constants: Floats,
    slopes: Floats,
    times: int,
) -> None:
    """Replace W by max(W, max_j step_j W), `times` times, in place.

    Step j at grid point i is weights[j, 0] W[i + a] + weights[j, 1] W[i + a + 1]
    + weights[j, 2] W[i + b] + weights[j, 3] W[i + b + 1] + constants[j]
    - slopes[j] (1 - W[0]) e^{h i}, where a, b = offsets[j].

    Args:
        padded: float64[below + size + above], the grid's values between two margins, which are
            filled here; the margins are wide enough for all offsets.
        below: width of the lower margin.
        size: number of grid points.
        spacing: h > 0.
        weights: float64[n, 4], >= 0.
        offsets: int64[n, 2].
        constants: float64[n], mass of outcomes whose W is bounded by the chord from (0, 1).
        slopes: float64[n], slope of that chord.
        times: number of steps, >= 0.
    """
    decay = np.exp(-spacing * np.arange(below, 0, -1))
    ramp = np.exp(spacing * np.arange(size))
    out = np.empty(_BLOCK)
    fresh = np.empty(size)
    for _ in range(times):
        gap = 1.0 - padded[below]
        for i in range(below):
            padded[i] = 1.0 - gap * decay[i] + UNIT_SLACK
        last = padded[below + size - 1]
        for i in range(below + size, padded.shape[0]):
            padded[i] = last
        for start in range(0, size, _BLOCK):
            count = min(_BLOCK, size - start)
            origin = below + start
            for i in range(count):
                out[i] = padded[origin + i]
            for j in range(weights.shape[0]):
                first, second = weights[j, 0], weights[j, 1]
                third, fourth = weights[j, 2], weights[j, 3]
                constant = constants[j]
                one = padded[origin + offsets[j, 0] : origin + offsets[j, 0] + count + 1]
                two = padded[origin + offsets[j, 1] : origin + offsets[j, 1] + count + 1]
                if slopes[j] > 0.0:
                    slope = slopes[j] * gap
                    for i in range(count):
                        value = first * one[i] + second * one[i + 1]
                        value += third * two[i] + fourth * two[i + 1]
                        value += constant - slope * ramp[start + i]
                        out[i] = max(out[i], value)
                else:
                    for i in range(count):
                        value = first * one[i] + second * one[i + 1]
                        value += third * two[i] + fourth * two[i + 1] + constant
                        out[i] = max(out[i], value)
            for i in range(count):
                fresh[start + i] = min(out[i] * (1.0 + RELATIVE_SLACK), 1.0)
        for i in range(size):
            padded[below + i] = fresh[i]


@njit(cache=True, fastmath={"contract", "nnan", "ninf", "nsz"})
def mix_taps(window: Floats, taps: Floats, out: Floats) -> None:
    """Set out[i] to sum_t taps[t] * window[i + t].

    Args:
        window: float64[n + taps - 1].
        taps: float64[taps], >= 0.
        out: float64[n], overwritten.
    """
    out[:] = 0.0
    for start in range(0, out.shape[0], _BLOCK):
        count = min(_BLOCK, out.shape[0] - start)
        part = out[start : start + count]
        for t in range(taps.shape[0]):
            tap = taps[t]
            if tap > 0.0:
                values = window[start + t : start + t + count]
                for i in range(count):
                    part[i] += tap * values[i]
