"""The equal-cost bit: a table all of whose steps cost the same Renyi moment.

Purpose    the Gaussian threshold wastes its tail: most of its length only brings the probability
           down to delta / m. Here every step from one count to the next costs as much as any
           other, so the table is as short as its cost allows.
Units      costs are log moments, in nats.
Source     PROOF.md, "The equal-cost table".
Safe side  none here: the accountant evaluates the integer weights that are used.
"""

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from lumberjack_spark.privacy.bit_tables import require_entries
from lumberjack_spark.privacy.plan import BitTable


@njit(cache=True)
def step_cost(low: float, gain: float, order: float) -> float:
    """Larger of the two moments sum_b P_b (P_b / Q_b)^order - 1 of the bits low, low + gain."""
    up = math.log1p(gain / low)
    down = math.log1p(-gain / (1.0 - low))
    high = low + gain
    forward = high * math.expm1(order * up) + (1.0 - high) * math.expm1(order * down)
    backward = low * math.expm1(-order * up) + (1.0 - low) * math.expm1(-order * down)
    return max(forward, backward)


@njit(cache=True)
def _next_gain(low: float, guess: float, order: float, cost: float) -> float:
    """Gain whose cost is `cost`, by a bracketed secant in the logarithms."""
    left, right = math.log(low) - 80.0, math.log(0.5 - low)
    point = min(math.log(guess), right)
    slope = 2.0
    for _ in range(100):
        value = step_cost(low, math.exp(point), order)
        excess = math.log(value / cost) if value > 0.0 else -1e9
        if abs(excess) < 1e-11:
            break
        if excess > 0.0:
            right = point
        else:
            left = point
        fresh = point - excess / slope
        if not left < fresh < right:
            fresh = 0.5 * (left + right)
        moved = step_cost(low, math.exp(fresh), order)
        if moved > 0.0 and value > 0.0 and abs(fresh - point) > 1e-13:
            slope = max(math.log(moved / value) / (fresh - point), 0.1)
        if right - left < 1e-12:
            break
        point = fresh
    return math.exp(point)


@njit(cache=True)
def _climb(bottom: float, order: float, cost: float, out: npt.NDArray[np.float64]) -> int:
    """Fill out with probabilities from bottom up to below one half; return how many, or -1."""
    low, guess = bottom, bottom
    for n in range(out.shape[0]):
        out[n] = low
        if step_cost(low, 0.5 - low, order) <= cost:
            return n + 1
        guess = _next_gain(low, guess, order, cost)
        low += guess
    return -1


def equal_cost_table(*, bottom: float, order: float, cost: float, minimum_count: int) -> BitTable:
    """Table that rises from 0 to 1 in steps of equal cost, symmetric about one half.

    Args:
        bottom: least probability above 0; in (0, 1/2).
        order: a > 0; a step costs ln sum_b P_b (P_b / Q_b)^a in the worse direction.
        cost: kappa, cost of a step, in nats; > 0.
        minimum_count: c0, in rows.

    Raises:
        BudgetError: the table would have more than 4 million entries.
    """
    # A step moves 2 asin(sqrt(p)) by about this much or more on its way to pi / 2.
    stride = math.sqrt(2 * cost / (order * (order + 1)))
    require_entries(math.pi / stride)
    lower = np.empty(int(math.pi / stride) + 256)
    count = _climb(bottom, order, math.expm1(cost), lower)
    require_entries(math.inf if count < 0 else 2.0 * count)
    lower = lower[:count]
    words = np.maximum(np.rint(np.ldexp(lower, 64)), 1.0).astype(np.uint64)
    last = lower[-1]
    # One half is a step of its own unless the table can pass it in one.
    whole = step_cost(last, 1.0 - 2.0 * last, order) <= math.expm1(cost)
    middle = np.empty(0, np.uint64) if whole else np.array([2**63], np.uint64)
    mirrored = np.uint64(0) - words[::-1]
    return BitTable(minimum_count, np.concatenate((words, middle, mirrored)))
