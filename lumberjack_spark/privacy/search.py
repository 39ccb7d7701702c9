"""Search for the largest spending along one design whose release stays within the budget.

Units      epsilon in nats; spending is mu^2.
Safe side  a release is accepted only if its own evaluation is within delta, so no property of the
           search matters for privacy.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from lumberjack_spark.privacy.designs import Design, other_noise
from lumberjack_spark.privacy.plan import GaussianLeaves
from lumberjack_spark.privacy.release import Precision, Release, release_delta
from lumberjack_spark.privacy.request import PlanRequest


@dataclass(frozen=True, eq=False)
class Found:
    """A spending whose release stays within delta.

    Attributes:
        mu: square root of the spending.
        release: the release that was evaluated.
        delta: what the game found for it.
    """

    mu: float
    release: Release
    delta: float


@dataclass(frozen=True, eq=False)
class Search:
    """A budget to be spent.

    Attributes:
        request: budget, shape and shares.
        epsilon: the epsilon that is spent, in nats; at most the requested one.
        leaves: leaf noise that is fixed from outside; None to let the shares decide.
    """

    request: PlanRequest
    epsilon: float
    leaves: GaussianLeaves | None = None

    @property
    def steps(self) -> int:
        """Steps of the game: questions that differ between neighbouring tables."""
        return self.request.questions * (2 if self.request.neighbors == "replace_one" else 1)

    def bit_square(self, mu: float) -> float:
        """Spending of the bits when the whole spending is mu^2."""
        shares = self.request.marginal_share
        if self.leaves is None:
            shares += self.request.leaf_share
        return (1 - shares) * mu**2

    def release_at(self, design: Design, mu: float) -> Release:
        """The release that spends mu^2 in all."""
        bits = design.bits(self.bit_square(mu), self.steps, self.request.min_exact_count)
        return replace(other_noise(self.request, mu**2, self.leaves), bits=bits)

    def largest(
        self, design: Design, start: float, precision: Precision, tolerance: float
    ) -> Found | None:
        """Largest mu with ln(delta / requested) in [-tolerance, 0], nearly; None if there is none.

        Args:
            design: the bits.
            start: first guess of mu.
            precision: how fine to play.
            tolerance: in ln delta; > 0.
        """
        best: Found | None = None

        def excess(mu: float) -> float:
            nonlocal best
            release = self.release_at(design, mu)
            delta = release_delta(release, self.epsilon, precision)
            if delta <= self.request.delta and (best is None or mu > best.mu):
                best = Found(mu, release, delta)
            return math.log(delta / self.request.delta)

        _approach_zero(excess, start, (self.epsilon / start) ** 2, tolerance)
        return best


def _approach_zero(
    excess: Callable[[float], float], start: float, slope: float, tolerance: float
) -> None:
    """Evaluate an increasing function ever nearer to where it passes zero, from both sides.

    A secant in ln mu, kept inside the bracket of what is known to be below and above zero; it
    bisects when the bracket stops shrinking, since a table's length makes the function jump.
    """
    low, high, mu, slope = 0.0, math.inf, start, max(slope, 1.0)
    last: tuple[float, float] | None = None
    for turn in range(30):
        value = excess(mu)
        if value <= 0:
            low = max(low, mu)
        else:
            high = min(high, mu)
        if -tolerance <= value <= 0 or high <= low * (1 + 1e-4) or mu < 1e-6 * start:
            return
        if last is not None and mu != last[0]:
            measured = (value - last[1]) / math.log(mu / last[0])
            slope = min(max(measured, slope / 2), 2 * slope)
        last = (mu, value)
        mu *= math.exp(min(max(-(value + tolerance / 2) / slope, -1.0), 0.3))
        bracketed = 0 < low and high < math.inf
        if bracketed and (turn > 6 or not low < mu < high):
            mu = math.sqrt(low * high)
