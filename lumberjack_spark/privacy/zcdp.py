"""Zero-concentrated differential privacy: conversion to (epsilon, delta), and leaf noise from it.

Adjacency  add or remove one row, which changes one class count of one leaf in each tree.
Units      rho in nats; sigma in rows; eta in nats a row.
Source     Bun & Steinke 2016 (the paper's Lemma 9); Canonne, Kamath & Steinke 2020 for the discrete
           Gaussian; the paper's Appendix J for the monotone exponential mechanism.
Safe side  zcdp_rho rounds down.
"""

import math

from scipy.optimize import brentq


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Delta for which every rho-zCDP mechanism is (epsilon, delta)-DP (the paper's Lemma 9).

    Args:
        epsilon: in nats; >= rho.
        rho: > 0.

    Returns:
        delta > 0; it may be above 1 where the bound says nothing.
    """
    excess = (epsilon - rho) / (2 * rho)
    tail = 2 * math.exp(-((epsilon - rho) ** 2) / (4 * rho))
    return tail / (1 + excess + math.sqrt((1 + excess) ** 2 + 4 / (math.pi * rho)))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """Largest rho, up to rounding, with zcdp_delta(epsilon, rho) <= delta.

    Args:
        epsilon: in nats; > 0 and finite.
        delta: in (0, 1).

    Returns:
        rho in (0, epsilon].
    """
    if zcdp_delta(epsilon, epsilon) <= delta:
        return epsilon

    def log_excess(log_share: float) -> float:
        return zcdp_delta(epsilon, epsilon * math.exp(log_share)) - delta

    low = math.log(1e-3) + math.log(min(epsilon, 1.0)) - math.log(1 - math.log(delta))
    rho = epsilon * math.exp(brentq(log_excess, low, -1e-12, xtol=1e-14))
    while zcdp_delta(epsilon, rho) > delta:
        rho *= 1 - 1e-13
    return rho


def gaussian_sigma(rho: float, draws: int) -> float:
    """Scale of the discrete Gaussian that makes `draws` counts, each changed by 1, rho-zCDP."""
    return math.sqrt(draws / (2 * rho))


def exponential_eta(rho: float, draws: int) -> float:
    """Weight exponent that makes `draws` label choices rho-zCDP.

    A row multiplies one weight by e^eta, so a choice is eta-bounded-range and eta^2/8-zCDP
    (the paper's Appendix J; its epsilon is 2 eta).
    """
    return math.sqrt(8 * rho / draws)
