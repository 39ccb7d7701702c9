"""Exact (epsilon, delta) curve of the Gaussian mechanism, and its inverse.

Adjacency  two Gaussians of scale 1 whose means differ by mu; mu = l2 sensitivity / sigma.
Units      epsilon in nats.
Source     Balle & Wang 2018, arXiv:1805.06530, Theorem 8.
Safe side  gaussian_mu rounds down: gaussian_delta(eps, gaussian_mu(eps, delta)) <= delta.
"""

import math
from typing import overload

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import log_ndtr

Floats = npt.NDArray[np.float64]


@overload
def gaussian_delta(epsilon: float, mu: float) -> float: ...
@overload
def gaussian_delta(epsilon: Floats, mu: float | Floats) -> Floats: ...
@overload
def gaussian_delta(epsilon: float, mu: Floats) -> Floats: ...
def gaussian_delta(epsilon: float | Floats, mu: float | Floats) -> float | Floats:
    """Smallest delta for which N(mu, 1) against N(0, 1) is (epsilon, delta)-indistinguishable.

    Args:
        epsilon: bound on the privacy loss, in nats; any real number, or an array of them.
        mu: distance of the means in standard deviations; > 0.

    Returns:
        delta in [0, 1], of the broadcast shape.

    >>> round(gaussian_delta(1.0, 1.0), 6)
    0.126937
    """
    upper = log_ndtr(mu / 2 - epsilon / mu)
    lower = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    delta = np.exp(upper) * -np.expm1(np.minimum(lower - upper, 0.0))
    return float(delta) if np.ndim(delta) == 0 else np.asarray(delta, dtype=np.float64)


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest mu, up to rounding, whose Gaussian mechanism is (epsilon, delta)-DP.

    Args:
        epsilon: in nats; > 0 and finite.
        delta: in (0, 1).

    Returns:
        mu > 0 with gaussian_delta(epsilon, mu) <= delta.
    """

    def excess(log_mu: float) -> float:
        return gaussian_delta(epsilon, math.exp(log_mu)) - delta

    low = math.log(1e-2 * min(epsilon, 1.0) * min(delta, 0.5) / 40)
    high = math.log(2 * math.sqrt(2 * epsilon) + 2 * math.sqrt(epsilon) + 80)
    mu = math.exp(brentq(excess, low, high, xtol=1e-14))
    while gaussian_delta(epsilon, mu) > delta:
        mu *= 1 - 1e-13
    return mu


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Epsilon >= 0, up to rounding, at which the Gaussian mechanism of mu has this delta."""
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0

    def excess(epsilon: float) -> float:
        return gaussian_delta(epsilon, mu) - delta

    high = mu * (mu / 2 + math.sqrt(-2 * math.log(delta)) + 1)
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high))
