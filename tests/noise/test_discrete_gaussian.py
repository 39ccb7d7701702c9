from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil

import numpy as np
import pytest

from lumberjack_spark.noise import (
    DiscreteGaussianTable,
    NoiseKey,
    discrete_gaussian,
    discrete_gaussian_sampler,
)
from tests.stats import cdf_distance, dkw_radius

KEY = NoiseKey.injected(b"an injected key for the tests...")
SCALE = 2**200
DRAWS = 100_000
ONE_TABLE = [0.3, 1.0, 5.5, 61.0, 200.5]
TWO_TABLES = 2049.0


@cache
def exact_masses(sigma):
    """P(X = x) for x = -r..r in units of 2^-200, each exponential taken by itself at 70 digits."""
    with localcontext() as context:
        context.prec = 70
        double = -2 * Decimal(sigma) ** 2
        half = [(Decimal(x * x) / double).exp() for x in range(ceil(11 * sigma) + 2)]
        total = 2 * sum(half) - 1
        masses = [int(weight / total * SCALE) for weight in half]
    return np.array(masses[:0:-1] + masses, object)


def exact_cdf(sigma):
    """Support and distribution function as doubles."""
    masses = exact_masses(sigma)
    return np.arange(masses.size) - masses.size // 2, np.cumsum(masses / SCALE).astype(float)


def table_masses(table):
    """Law of one draw from a table, in units of 2^-64."""
    edges = [0, *table.thresholds.tolist(), 2**64]
    return np.diff(np.array(edges, object))


def sampler_masses(sampler):
    """Law of one draw, in units of 2^-64 for one table and 2^-128 for two."""
    laws = [table_masses(table) for table in sampler.tables]
    if len(laws) == 1:
        return laws[0]
    fine, coarse = laws
    law = np.zeros(fine.size + sampler.step * (coarse.size - 1), object)
    for place, mass in enumerate(coarse):
        begin = sampler.step * place
        law[begin : begin + fine.size] += mass * fine
    return law


def total_variation(sampler, sigma):
    law = sampler_masses(sampler) * (SCALE >> 64 * len(sampler.tables))
    exact = exact_masses(sigma)
    off = np.zeros(max(law.size, exact.size), object)
    for masses, sign in ((law, 1), (exact, -1)):
        edge = (off.size - masses.size) // 2
        off[edge : off.size - edge] += sign * masses
    return float(Fraction(sum(map(abs, off)), 2 * SCALE))


@pytest.mark.parametrize("sigma", ONE_TABLE)
def test_every_threshold_is_the_distribution_function_rounded_to_nearest(sigma):
    (table,) = discrete_gaussian_sampler(sigma).tables
    cdf = np.cumsum(exact_masses(sigma))
    center = cdf.size // 2
    inside = cdf[center - table.reach : center + table.reach]
    off = [
        abs(threshold * 2**136 - value)
        for threshold, value in zip(table.thresholds.tolist(), inside, strict=True)
    ]
    assert max(off) <= 2**135 + 2**100
    # What lies beyond the table rounds to nothing.
    assert cdf[center - table.reach - 1] < 2**135 + 2**100


@pytest.mark.parametrize("sigma", [*ONE_TABLE, TWO_TABLES])
def test_the_total_variation_is_within_its_bound(sigma):
    sampler = discrete_gaussian_sampler(sigma)
    actual = total_variation(sampler, sigma)
    assert actual <= sampler.total_variation <= 60 * actual
    assert sampler.total_variation <= (20 * sigma + 12) * 2.0**-65


def test_the_total_variation_test_can_fail():
    wrong = discrete_gaussian_sampler(np.nextafter(61.0, 62.0))
    assert total_variation(wrong, 61.0) > wrong.total_variation


def test_the_documented_bound_holds_for_every_size_of_sigma():
    for sigma in np.geomspace(0.01, 1e7, 30):
        assert discrete_gaussian_sampler(sigma).total_variation <= (20 * sigma + 12) * 2.0**-65


@pytest.mark.parametrize("sigma", [0.5, 5.5, 61.0, 1000.0, TWO_TABLES])
def test_noise_has_the_promised_distribution(sigma):
    noise = discrete_gaussian(KEY.stream("law"), sigma, DRAWS)
    assert noise.dtype == np.int64
    assert cdf_distance(noise, *exact_cdf(sigma)) <= dkw_radius(DRAWS)


@pytest.mark.parametrize("sigma", [0.5, 5.5, 61.0])
@pytest.mark.parametrize("wrong", [0.85, 1.15])
def test_the_distribution_test_can_fail(sigma, wrong):
    support, cdf = exact_cdf(sigma)
    other_support, other = exact_cdf(sigma * wrong)
    on_support = np.interp(support, other_support, other, left=0.0, right=1.0)
    assert np.abs(on_support - cdf).max() > 1.7 * dkw_radius(DRAWS)
    noise = discrete_gaussian(KEY.stream("law"), sigma * wrong, DRAWS)
    assert cdf_distance(noise, support, cdf) > dkw_radius(DRAWS)


def test_the_variance_of_two_tables_is_exact():
    """The coarse step must not show: fine noise smooths it, and the variances add up."""
    sampler = discrete_gaussian_sampler(TWO_TABLES)
    law = (sampler_masses(sampler) / 2**128).astype(float)
    support = np.arange(law.size) - law.size // 2
    assert (law * support**2).sum() == pytest.approx(TWO_TABLES**2, rel=1e-12)


@pytest.mark.parametrize("sigma", [2049.0, 1e5, 1e7])
def test_large_sigmas_need_small_tables_and_have_the_right_scale(sigma):
    sampler = discrete_gaussian_sampler(sigma)
    assert sum(table.thresholds.size for table in sampler.tables) <= 70 * sigma**0.5
    noise = sampler.draw(KEY.stream("large"), DRAWS) / sigma
    # The normal cdf at -1, 0 and 1; the lattice moves it by less than 1 / sigma.
    shares = [(noise <= point).mean() for point in (-1, 0, 1)]
    assert np.allclose(
        shares, [0.158655, 0.5, 0.841345], atol=dkw_radius(DRAWS) + 1 / sigma, rtol=0
    )


@pytest.mark.parametrize("sigma", [3.0, TWO_TABLES])
def test_drawing_in_parts_gives_the_same_noise(sigma):
    stream = KEY.stream("parts")
    parts = [discrete_gaussian(stream, sigma, size) for size in (5, 0, 1, 94)]
    whole = discrete_gaussian(KEY.stream("parts"), sigma, 100)
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("sigma", [0.3, 61.0])
def test_tables_are_symmetric(sigma):
    masses = table_masses(discrete_gaussian_sampler(sigma).tables[0])
    assert np.array_equal(masses, masses[::-1])


def test_the_extreme_words_give_the_ends_of_the_table():
    (table,) = discrete_gaussian_sampler(61.0).tables
    ends = table.invert(np.array([0, 2**64 - 1], np.uint64))
    assert ends.tolist() == [-table.reach, table.reach]


def test_a_vanishing_sigma_gives_no_noise_as_the_law_says():
    assert not discrete_gaussian(KEY.stream("tiny"), 1e-3, 1000).any()
    assert not discrete_gaussian(KEY.stream("tiny"), 1e-300, 10).any()


def test_tables_cannot_be_changed():
    (table,) = discrete_gaussian_sampler(5.5).tables
    with pytest.raises(ValueError, match="read-only"):
        table.thresholds[0] = 0


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("nan"), float("inf"), 1.1e9])
def test_sigmas_outside_the_range_are_refused(sigma):
    with pytest.raises(ValueError, match="sigma must be > 0 and <= 1e"):
        discrete_gaussian(KEY.stream("refused"), sigma, 1)


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ValueError, match="thresholds must be uint64"):
        DiscreteGaussianTable(2, np.zeros(3, np.uint64))
