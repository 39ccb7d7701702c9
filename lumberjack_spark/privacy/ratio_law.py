"""Law of the likelihood ratio of discrete Gaussian noise on several counts that change by one.

Adjacency  a row changes `draws` counts by 1 each, all in the same direction or not: the noise is
           symmetric, so only their number matters.
Units      sigma in rows.
Source     PROOF.md, "Discrete Gaussian stages".
Safe side  masses are rounded up, blocks of values take their largest mass and largest loss, and
           the mass that is cut off counts as lost.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]

# Below this scale the sum of several draws is not close enough to a discrete Gaussian itself.
SUM_SIGMA = 4.0
_REACH = 12.5
_MAXIMUM_ATOMS = 250_000


@dataclass(frozen=True, eq=False)
class RatioLaw:
    """Atoms of a release: masses in the favoured world and ln of (other mass / mass).

    Attributes:
        mass: float64[n], upper bounds; they sum to about 1.
        log_ratio: float64[n], lower bounds of ln(Q / P).
        lost: mass outside of all atoms, counted as infinite loss.
    """

    mass: Floats
    log_ratio: Floats
    lost: float


def discrete_gaussian_law(sigma: float, draws: int) -> RatioLaw:
    """Ratio law of `draws` discrete Gaussians of scale sigma, each shifted by 1.

    The ratio depends on the sum of the noises alone. For sigma >= 4 the sum follows
    N_Z(0, draws sigma^2) up to a relative error below 1e-60; one draw is exact for any sigma.

    Args:
        sigma: in rows; > 0, and >= 4 if draws > 1.
        draws: number of counts that change by 1; >= 1.

    Raises:
        ValueError: sigma is too small for the sum of several draws.
    """
    if not (sigma >= SUM_SIGMA or (draws == 1 and sigma > 0)):
        raise ValueError(f"sigma must be >= {SUM_SIGMA} for several draws, got {sigma!r}")
    scale = math.sqrt(draws) * sigma
    reach = math.ceil(_REACH * scale) + 1
    block = math.ceil((2 * reach + 1) / _MAXIMUM_ATOMS)
    first = np.arange(-reach, reach + 1, block, dtype=np.float64)
    last = first + (block - 1)
    nearest = np.where(first > 0, first, np.where(last < 0, last, 0.0))
    # The sum of exp(-x^2 / 2 s^2) over the integers is at least s sqrt(2 pi), by Poisson summation,
    # and at least any part of it.
    part = math.fsum(math.exp(-0.5 * (x / scale) ** 2) for x in range(-20, 21))
    total = max(scale * math.sqrt(2 * math.pi), part) * (1 - 1e-15)
    mass = block / total * np.exp(-0.5 * (nearest / scale) ** 2) * (1 + 1e-13)
    # In the favoured world the sum is noise + draws; its loss grows with the noise.
    log_ratio = -(2 * last + draws) / (2 * sigma**2)
    # What lies beyond reach is less than the integral of the density from reach on, twice.
    lost = 2.0 * float(ndtr(-reach / scale)) * scale * math.sqrt(2 * math.pi) / total
    return RatioLaw(mass, log_ratio, lost)
