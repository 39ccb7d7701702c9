"""From counts of an event in two experiments to the epsilon that they show.

Source     Clopper & Pearson 1934 for the probabilities; Jagielski, Ullman & Oprea 2020 for their
           use in audits.
Safe side  a bound is too large with probability at most alpha, whatever the sample size.
"""

import math

from scipy.special import betaincinv


def probability_bounds(hits: int, draws: int, alpha: float) -> tuple[float, float]:
    """One-sided bounds of a probability, each of them wrong with probability <= alpha.

    Args:
        hits: draws in which the event happened; 0 <= hits <= draws.
        draws: independent draws, >= 1.
        alpha: in (0, 1).

    >>> probability_bounds(0, 1000, 0.05)[1] < 0.003
    True
    """
    if not 0 <= hits <= draws or not draws >= 1:
        raise ValueError(f"hits must be within 0..draws, got {hits!r} of {draws!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be > 0 and < 1, got {alpha!r}")
    low = 0.0 if hits == 0 else float(betaincinv(hits, draws - hits + 1, alpha))
    high = 1.0 if hits == draws else float(betaincinv(hits + 1, draws - hits, 1 - alpha))
    return low, high


def epsilon_lower_bound(
    likely: tuple[int, int], unlikely: tuple[int, int], *, delta: float, alpha: float
) -> float:
    """Least epsilon with which P(event) <= e^epsilon Q(event) + delta may still hold.

    Args:
        likely: (hits, draws) of the event under P.
        unlikely: (hits, draws) of the event under Q.
        delta: what the claim allows beside epsilon, in [0, 1).
        alpha: probability that the result is too large; in (0, 1).

    Returns:
        In nats, >= 0; 0 where the counts show nothing.

    >>> round(epsilon_lower_bound((900, 1000), (100, 1000), delta=0.1, alpha=0.001), 2)
    1.74
    """
    low, _ = probability_bounds(*likely, alpha / 2)
    _, high = probability_bounds(*unlikely, alpha / 2)
    if low <= delta:
        return 0.0
    return max(0.0, math.log((low - delta) / high))
