"""Defaults from public inputs."""

import math

import pytest

from lumberjack_spark.defaults import exact_count, fit_defaults, one_digit


def defaults(**changes):
    given = {"epsilon": 1.0, "delta": 1e-6, "n_features": 10, "n_classes": 2}
    return fit_defaults(**{**given, **changes})


def test_the_spending_leaves_something_for_the_trees():
    for share in (None, 0.0, 0.1):
        chosen = defaults(encoding_share=share)
        assert 0.05 < 1 - chosen.leaf_share - chosen.encoding_share < 0.5


def test_small_counts_are_left_out_the_more_the_smaller_the_budget():
    counts = [exact_count(epsilon) for epsilon in (0.01, 0.5, 1, 2, 8, 100)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0.0},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"delta": 0.0},
        {"delta": 1.0},
        {"delta": math.nan},
        {"n_features": 0},
        {"n_classes": 1},
        {"expected_rows": math.nan},
        {"expected_rows": 0},
    ],
)
def test_arguments_outside_their_range_are_refused_by_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        defaults(**wrong)


def test_declared_rows_are_rounded_to_one_digit():
    assert [one_digit(rows) for rows in (7, 94, 149, 48842, 1299618)] == [7, 90, 100, 50000, 10**6]
