"""The bound is attained: an analyst who plays the game's own choices reaches it.

The policy asks, at every step, for the count whose pair is worth most by the game's values. Its
true delta is estimated by Monte Carlo; outcomes are drawn in proportion to P_b W(l Q_b / P_b),
which makes the estimate of a good policy almost constant.
"""

import math

import numpy as np

from lumberjack_spark.privacy import GaussianLeaves, Release, release_delta
from lumberjack_spark.privacy.bit_tables import gaussian_bit_table
from lumberjack_spark.privacy.game import Game
from lumberjack_spark.privacy.gaussian import gaussian_delta
from lumberjack_spark.privacy.pairs import PairFamily, bit_pairs
from lumberjack_spark.privacy.ratio_law import discrete_gaussian_law
from lumberjack_spark.privacy.release import EXACTING

QUESTIONS, TREES, EPSILON, LEAF_SIGMA = 210, 30, 1.0, 60.98
PATHS = 1500


def real_pairs():
    """Some of the pairs of real counts: the infinite one and every seventh near the middle."""
    table = gaussian_bit_table(sigma=54.08, gap=316.9, minimum_count=0)
    columns = bit_pairs(table, "add").columns()
    chosen = np.r_[0, np.arange(180, 460, 5)]
    return table, PairFamily(*columns[:, chosen])


def values_of_all_steps(family):
    """W_0 .. W_m on one grid."""
    mu = 0.222
    game = Game(epsilon=EPSILON, spacing=6e-4, low=-7 * mu, high=EPSILON + 7 * mu)
    game.play_law(discrete_gaussian_law(LEAF_SIGMA, TREES))
    values = [game.values]
    for _ in range(QUESTIONS):
        game.play_pairs(family, 1)
        values.append(game.values)
    return game, values


def looked_up(game, values, log_ratio):
    """W at any ln l, interpolated; the policy may be a little wrong, its estimate is not."""
    place = np.maximum((log_ratio - game.log_ratio[0]) / game.spacing, 0.0)
    below = np.minimum(place, values.size - 2).astype(np.int64)
    part = np.minimum(place - below, 1.0)
    inside = values[below] * (1 - part) + values[below + 1] * part
    chord = 1 - (1 - values[0]) * np.exp(np.minimum(log_ratio - game.log_ratio[0], 0.0))
    return np.where(log_ratio < game.log_ratio[0], chord, inside)


def estimate(seed):
    table, family = real_pairs()
    game, values = values_of_all_steps(family)
    with np.errstate(divide="ignore"):
        moves = np.log(family.low / family.high), np.log(family.low_rest / family.high_rest)
    rng = np.random.default_rng(seed)
    log_ratio, weight = np.full(PATHS, EPSILON), np.ones(PATHS)
    for left in range(QUESTIONS, 0, -1):
        rest = values[left - 1]
        top = family.high * looked_up(game, rest, log_ratio[:, None] + moves[0])
        bottom = family.high_rest * looked_up(game, rest, log_ratio[:, None] + moves[1])
        best = np.argmax(top + bottom, axis=1)
        row = np.arange(PATHS)
        chance = top[row, best] / (top + bottom)[row, best]
        up = rng.random(PATHS) < chance
        mass = np.where(up, family.high[best], family.high_rest[best])
        weight *= mass / np.where(up, chance, 1 - chance)
        log_ratio = log_ratio + np.where(up, moves[0][best], moves[1][best])
    # The leaves are released at the end; after an infinite loss nothing is left to win.
    last = gaussian_delta(log_ratio, math.sqrt(TREES) / LEAF_SIGMA)
    reached = weight * np.where(np.isinf(log_ratio), 1.0, last)
    return table, reached.mean(), reached.std() / math.sqrt(PATHS)


def test_an_adaptive_policy_comes_within_two_percent_of_the_bound_and_not_above_it():
    table, mean, error = estimate(20260)
    leaves = GaussianLeaves(LEAF_SIGMA)
    bound = release_delta(Release(table, QUESTIONS, TREES, leaves), EPSILON, EXACTING)
    assert error < 0.004 * bound
    assert mean - 6 * error < bound
    assert mean + 3 * error > 0.98 * bound
    # A strategy that cannot adapt stays far below: the test could tell.
    assert mean > 1.4 * 6.7e-7
