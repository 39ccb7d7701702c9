"""Releases as functions of one number, the total spending; calibration searches along them.

Units      the spending of a stage is about its mu^2, mu as for Gaussian noise; counts in rows.
Source     PROOF.md, "Calibration".
Safe side  none here: every release that is accepted is evaluated by the game.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from lumberjack_spark.privacy.bit_tables import gaussian_bit_table
from lumberjack_spark.privacy.certified import NO_BITS
from lumberjack_spark.privacy.equal_cost import equal_cost_table
from lumberjack_spark.privacy.plan import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
)
from lumberjack_spark.privacy.release import Release
from lumberjack_spark.privacy.request import PlanRequest

# Noise of a smaller scale is zero almost always, which no share of a budget is worth.
LEAST_SIGMA = 0.25
LARGEST_ETA = 20.0


def rounded(value: float, *, up: bool) -> float:
    """Value to five significant digits, for readable certificates."""
    places = 4 - math.floor(math.log10(value))
    unit = Decimal(10) ** -places
    return float(Decimal(value).quantize(unit, ROUND_CEILING if up else ROUND_FLOOR))


@dataclass(frozen=True)
class TableDesign:
    """Equal-cost bits of one order.

    Attributes:
        order: order of the moment that every step costs the same of.
        bottom: least probability above 0.
    """

    order: float
    bottom: float

    def bits(self, square: float, steps: int, minimum_count: int) -> BitTable:
        """Table whose `steps` steps spend `square` in all."""
        cost = self.order * (self.order + 1) * square / (2 * steps)
        return equal_cost_table(
            bottom=self.bottom, order=self.order, cost=cost, minimum_count=minimum_count
        )

    def notes(self, square: float, steps: int) -> dict[str, float | str]:
        """Parameters from which the table is rebuilt."""
        cost = self.order * (self.order + 1) * square / (2 * steps)
        return {"threshold": "table", "order": self.order, "bottom": self.bottom, "cost": cost}


@dataclass(frozen=True)
class GaussianDesign:
    """Gaussian bits.

    Attributes:
        ratio: Delta / sigma.
    """

    ratio: float

    def _scale(self, square: float, steps: int) -> float:
        """Sigma of `steps` steps that spend `square` in all; a bit costs 2/pi of a Gaussian."""
        return math.sqrt(2 / math.pi * steps / square)

    def bits(self, square: float, steps: int, minimum_count: int) -> BitTable:
        """Table whose `steps` steps spend `square` in all."""
        sigma = self._scale(square, steps)
        return gaussian_bit_table(sigma=sigma, gap=self.ratio * sigma, minimum_count=minimum_count)

    def notes(self, square: float, steps: int) -> dict[str, float | str]:
        """Parameters from which the table is rebuilt."""
        sigma = self._scale(square, steps)
        return {"threshold": "gaussian", "sigma": sigma, "gap": self.ratio * sigma}


Design = TableDesign | GaussianDesign


def other_noise(
    request: PlanRequest, square: float, leaves: GaussianLeaves | None = None
) -> Release:
    """Leaves and marginals that spend their shares of `square`, without bits.

    Args:
        request: shape and shares.
        square: total spending, mu^2; > 0.
        leaves: leaf noise that is fixed from outside, for comparisons.
    """
    times = 2 if request.neighbors == "replace_one" else 1
    leaf = request.leaf_share * square
    noise: GaussianLeaves | ExponentialLeaves
    if leaves is not None:
        noise = leaves
    elif request.leaf_mode == "proportions":
        sigma = math.sqrt(times * request.num_trees / leaf)
        noise = GaussianLeaves(rounded(max(sigma, LEAST_SIGMA), up=True))
    else:
        # A replaced row costs a label choice of 2 eta, four times as much.
        eta = 2 / times * math.sqrt(leaf / request.num_trees)
        noise = ExponentialLeaves(rounded(min(eta, LARGEST_ETA), up=False))
    marginals = None
    if request.marginal_share > 0:
        sigma = math.sqrt(times * request.histograms / (request.marginal_share * square))
        sigma = rounded(max(sigma, LEAST_SIGMA), up=True)
        marginals = GaussianMarginals(sigma, request.histograms)
    return Release(
        bits=NO_BITS,
        questions=request.questions,
        trees=request.num_trees,
        leaves=noise,
        marginals=marginals,
        neighbors=request.neighbors,
        classes=request.num_classes,
    )
