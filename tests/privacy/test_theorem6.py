"""Theorem 6 against independent numbers and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from lumberjack_spark.privacy.gaussian import gaussian_delta, gaussian_mu
from lumberjack_spark.privacy.theorem6 import calibrate_theorem6, theorem6_delta
from lumberjack_spark.privacy.zcdp import exponential_eta, zcdp_delta, zcdp_rho

# epsilon, sigma and Delta for k = 30 trees, h = 100, delta = 1e-6, three quarters for the trees:
# an independent implementation of the theorem, optimised on a grid of sigma.
PAPER = [
    (0.5, 155.18, 898.1),
    (1.0, 81.14, 469.6),
    (2.0, 42.64, 246.8),
    (4.0, 22.64, 131.0),
    (8.0, 12.24, 70.8),
]


@pytest.mark.parametrize(("epsilon", "sigma", "gap"), PAPER)
def test_calibration_reproduces_independent_numbers(epsilon, sigma, gap):
    found_sigma, found_gap = calibrate_theorem6(0.75 * epsilon, 0.75e-6, 210)
    assert found_sigma == pytest.approx(sigma, abs=0.006)
    assert found_gap == pytest.approx(gap, abs=0.06)
    assert (
        theorem6_delta(0.75 * epsilon, sigma=found_sigma, gap=found_gap, questions=210) <= 0.75e-6
    )


def test_one_question_is_the_larger_of_gaussian_and_infinite_loss():
    # At m = 1 the sums are empty: gamma(1) = 0 and both inner expressions are the Gaussian's.
    sigma, gap, epsilon = 3.0, 9.0, 0.8
    gauss = norm.cdf(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * norm.cdf(
        -0.5 / sigma - epsilon * sigma
    )
    expected = max(norm.cdf(-gap / sigma), gauss)
    found = theorem6_delta(epsilon, sigma=sigma, gap=gap, questions=1)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_formula_is_the_literal_one_for_two_questions():
    sigma, gap, epsilon = 8.0, 19.4, 0.18
    quiet = norm.cdf(gap / sigma)

    def curve(eps, changed):
        mu = math.sqrt(changed) / sigma
        return norm.cdf(mu / 2 - eps / mu) - math.exp(eps) * norm.cdf(-mu / 2 - eps / mu)

    gamma = [math.log(quiet), 0.0]
    expected = max(
        1 - quiet**2,
        max(1 - math.exp(g) + math.exp(g) * curve(epsilon - g, j + 1) for j, g in enumerate(gamma)),
        max(curve(epsilon + g, j + 1) for j, g in enumerate(gamma)),
    )
    found = theorem6_delta(epsilon, sigma=sigma, gap=gap, questions=2)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found == pytest.approx(0.015525, abs=5e-7)


@given(st.floats(0.01, 20), st.floats(1e-12, 0.1))
def test_gaussian_mu_is_safe_and_not_wasteful(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= delta
    assert gaussian_delta(epsilon, mu * (1 + 1e-6)) > delta


@given(st.floats(1e-3, 50), st.floats(1e-12, 0.1))
def test_rho_is_safe_and_not_wasteful(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta(epsilon, rho) <= delta
    assert rho == epsilon or zcdp_delta(epsilon, rho * (1 + 1e-6)) > delta


def test_zcdp_reproduces_the_leaf_noise_of_the_paper():
    # sigma = sqrt(k / (2 rho)) at (epsilon, delta) / 4; independent numbers for k = 30.
    for epsilon, sigma in [(0.5, 197.35), (1.0, 101.97), (4.0, 27.319), (8.0, 14.242)]:
        rho = zcdp_rho(0.25 * epsilon, 0.25e-6)
        assert math.sqrt(30 / (2 * rho)) == pytest.approx(sigma, rel=1e-4)


def test_label_choice_uses_the_factor_of_the_monotone_exponential_mechanism():
    # Appendix J: the standard mechanism's epsilon is sqrt(32 rho / k), and its weights are
    # exp(epsilon count / 2).
    rho, trees = 0.03, 30
    assert exponential_eta(rho, trees) == pytest.approx(math.sqrt(32 * rho / trees) / 2)


@pytest.mark.parametrize("epsilon", [1e-3, 0.01, 100.0, 1e6])
@pytest.mark.parametrize("questions", [1, 7000])
def test_calibration_is_safe_far_from_the_usual_budgets(epsilon, questions):
    sigma, gap = calibrate_theorem6(epsilon, 1e-6, questions)
    assert theorem6_delta(epsilon, sigma=sigma, gap=gap, questions=questions) <= 1e-6
    assert np.isfinite([sigma, gap]).all()
