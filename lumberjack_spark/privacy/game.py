"""The game between an analyst and one row, played backwards on a grid of likelihood ratios.

Purpose    W(l) bounds sup_S P(S) - l Q(S) for what is still to be released when the ratio of the
           weights of the two worlds is l. Stages are applied from the last to the first.
Units      the grid is u = ln l in nats.
Source     PROOF.md, "The theorem" and "The grid".
Safe side  values are upper bounds at every grid point; between two points the chord in l is one.
"""

import math

import numpy as np
import numpy.typing as npt

from lumberjack_spark.privacy.game_kernel import RELATIVE_SLACK, UNIT_SLACK, mix_taps, play_steps
from lumberjack_spark.privacy.pairs import PairFamily
from lumberjack_spark.privacy.ratio_law import RatioLaw

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# A log ratio is known to this error, relative to 1 + its size; it is lowered by as much.
_LOG_ERROR = 1e-15


class Game:
    """W on the points u_i = epsilon + h (i - center), as stages are played.

    Args:
        epsilon: the point of the grid where the bound is tightest, in nats.
        spacing: h, in nats; > 0.
        low: lower end, in nats; <= epsilon.
        high: upper end, in nats; >= epsilon.
    """

    def __init__(self, *, epsilon: float, spacing: float, low: float, high: float) -> None:
        self.spacing = spacing
        self.center = math.ceil((epsilon - low) / spacing)
        size = self.center + 1 + math.ceil((high - epsilon) / spacing)
        steps = np.arange(size, dtype=np.float64) - self.center
        self.log_ratio: Floats = epsilon + spacing * steps
        lowered = self.log_ratio - 4 * _LOG_ERROR * (1 + epsilon + np.abs(self.log_ratio))
        # Nothing is left to release: W(l) = (1 - l)+.
        self.values: Floats = np.maximum(-np.expm1(lowered), 0.0) * (1 + RELATIVE_SLACK)

    @property
    def delta(self) -> float:
        """Bound of delta at the grid's epsilon, rounded up."""
        return float(self.values[self.center])

    def play_pairs(self, family: PairFamily, times: int) -> None:
        """Play `times` steps in each of which the analyst picks any pair of the family."""
        if times == 0:
            return
        favoured = ((family.high, family.low), (family.high_rest, family.low_rest))
        parts = [self._stencil(mass, other) for mass, other in favoured]
        weights = np.concatenate([part[0] for part in parts], axis=1)
        offsets = np.stack([part[1] for part in parts], axis=1)
        constants = parts[0][2] + parts[1][2]
        slopes = parts[0][3] + parts[1][3]
        padded, below = self._padded(int(offsets.min()), int(offsets.max()) + 1)
        size = self.values.size
        play_steps(padded, below, size, self.spacing, weights, offsets, constants, slopes, times)
        self.values = padded[below : below + size].copy()

    def play_law(self, law: RatioLaw) -> None:
        """Play one release whose likelihood ratio has a fixed law, whatever the analyst does."""
        weights, offsets, constants, slopes = self._stencil(law.mass, law.mass, law.log_ratio)
        first, last = int(offsets.min()), int(offsets.max()) + 1
        taps = np.zeros(last - first + 1)
        taps += np.bincount(offsets - first, weights[:, 0], last - first + 1)
        taps += np.bincount(offsets + 1 - first, weights[:, 1], last - first + 1)
        padded, below = self._padded(first, last)
        size = self.values.size
        window = padded[below + first : below + last + size]
        gap = 1.0 - self.values[0]
        chord = constants.sum() - slopes.sum() * gap * np.exp(self.spacing * np.arange(size))
        mixed = np.empty(size)
        mix_taps(window, taps, mixed)
        mixed += np.maximum(chord, 0.0) + law.lost
        # A sum of n positive terms is within n roundings; the sums over atoms count as well.
        slack = RELATIVE_SLACK + (taps.size + law.mass.size) * 2.0**-53
        self.values = np.minimum(np.maximum(self.values, mixed * (1 + slack)), 1.0)

    def maximum_with(self, other: "Game") -> None:
        """Let the analyst choose between this game and another one on the same grid."""
        self.values = np.maximum(self.values, other.values)

    def copy(self) -> "Game":
        """An independent game in the same state."""
        twin = object.__new__(Game)
        twin.spacing, twin.center, twin.log_ratio = self.spacing, self.center, self.log_ratio
        twin.values = self.values.copy()
        return twin

    def _stencil(
        self, mass: Floats, other: Floats, log_ratio: Floats | None = None
    ) -> tuple[Floats, Integers, Floats, Floats]:
        """Grid form of mass * W(l * other / mass), for each entry.

        Returns:
            float64[n, 2] weights of the values at offset and offset + 1; int64[n] offsets;
            float64[n] constants and float64[n] slopes of entries below the whole grid.
        """
        if log_ratio is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                log_ratio = np.where(mass > 0, np.log(other / mass), 0.0)
        shift = log_ratio - _LOG_ERROR * (1 + np.abs(log_ratio))
        size, spacing = self.values.size, self.spacing
        far = shift < -spacing * size
        step = np.minimum(np.where(far, 0.0, shift / spacing), float(size))
        offset = np.floor(step)
        upper = np.expm1((step - offset) * spacing) / math.expm1(spacing)
        near = np.where(far, 0.0, mass)
        weights = np.stack((near * (1 - upper), near * upper), axis=1)
        constants = np.where(far, mass * (1 + UNIT_SLACK), 0.0)
        # The chord from (0, 1) through the first grid point, lowered by its rounding.
        reach = spacing * size
        slopes = np.where(far, mass * np.exp(np.where(far, shift, 0.0)), 0.0)
        slopes *= 1 - 4 * UNIT_SLACK * (1 + reach)
        return weights, offset.astype(np.int64), constants, slopes

    def _padded(self, first: int, last: int) -> tuple[Floats, int]:
        """Values with margins for offsets from first to last, and the lower margin's width."""
        below, above = max(-first, 0), max(last, 0) + 1
        gap = 1.0 - self.values[0]
        decay = np.exp(-self.spacing * np.arange(below, 0, -1))
        lower = 1.0 - gap * decay + UNIT_SLACK
        upper = np.full(above, self.values[-1])
        return np.concatenate((lower, self.values, upper)), below
