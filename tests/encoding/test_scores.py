"""Score columns."""

import math

import numpy as np
import pytest

from lumberjack_spark.encoding.scores import score_codes
from lumberjack_spark.encoding.smoothing import CellEstimate

SHARES = np.array([0.6, 0.4])
FIRST = CellEstimate(np.array([600.0, 400.0]), np.array([[0.8, 0.2], [0.3, 0.7]]))
SECOND = CellEstimate(
    np.array([300.0, 300.0, 400.0]), np.array([[0.9, 0.1], [0.6, 0.4], [0.375, 0.625]])
)
CODES = (np.array([5, 90], np.uint16), np.array([7, 7, 40], np.uint16))


def made(use=(True, True), label=1):
    return score_codes([FIRST, SECOND], CODES, SHARES, label=label, use=np.array(use), top=4095)


def test_values_are_log_odds_up_to_a_constant_of_the_feature():
    score = made()
    # Cells 0 and 1 of the second feature share a code: their common rate is 1/4.
    odds = [[math.log(r / (1 - r)) for r in pair] for pair in ((0.2, 0.7), (0.25, 0.625))]
    spans = [pair[1] - pair[0] for pair in odds]
    assert [value.min() for value in score.values] == [0, 0]
    found = [int(np.ptp(value)) for value in score.values]
    assert found[0] / found[1] == pytest.approx(spans[0] / spans[1], rel=1e-3)


def test_codes_rise_with_the_score_and_rank_rows():
    score = made()
    grid = np.array([[5, 5, 90, 90], [7, 40, 7, 40]], np.uint16)
    codes = score.of(grid)
    totals = [score.values[0][i] + score.values[1][j] for i, j in ((0, 0), (0, 1), (1, 0), (1, 1))]
    assert (np.argsort(codes) == np.argsort(totals)).all()
    # Classes are independent of each other's features given the class: the naive density.
    lowest = sum(0.4 * (p * q) for p, q in ((0.3, 0.375),)) + 0.6 * 0.8 * 0.75
    assert codes[0] / 4095 == pytest.approx(lowest / 2, abs=0.02)
    assert np.isin(codes, score.possible()).all()


def test_features_that_take_no_part_change_nothing():
    score = made(use=(True, False))
    grid = np.array([[5, 5, 90, 90], [7, 40, 7, 40]], np.uint16)
    codes = score.of(grid)
    assert codes[0] == codes[1] < codes[2] == codes[3]
    assert score.weights.tolist() == [1.0, 0.0]


def test_the_score_of_the_other_class_is_turned_around():
    grid = np.array([[5, 5, 90, 90], [7, 40, 7, 40]], np.uint16)
    up, down = made(label=1).of(grid), made(label=0).of(grid)
    assert (np.argsort(up) == np.argsort(-down.astype(int))).all()


def test_weights_are_shares_of_variance():
    weights = made().weights
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > weights[1] > 0
