"""What a whole release costs: delta at an epsilon, and epsilon at a delta, by the exact game.

Adjacency  "add_remove": one row more or less, both directions. "replace_one": one row changed into
           another; twice the questions and draws, over the pairs of both directions.
Units      epsilon in nats.
Source     PROOF.md, "The theorem", "Replace one" and "Error terms".
Safe side  both functions return upper bounds, with the rounding of all drawn noise.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lumberjack_spark.privacy.game import Game
from lumberjack_spark.privacy.gaussian import gaussian_epsilon
from lumberjack_spark.privacy.pairs import PairFamily, bit_pairs, logistic_outline, outline
from lumberjack_spark.privacy.plan import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
    Neighbors,
    NoisePlan,
)
from lumberjack_spark.privacy.ratio_law import SUM_SIGMA, discrete_gaussian_law

Floats = npt.NDArray[np.float64]

# Majority leaves are planned for up to this many classes unless more are asked for.
DEFAULT_CLASSES = 128
# Longest grid that is played; a longer one is made coarser, which is safe.
_MAXIMUM_GRID = 100_000


@dataclass(frozen=True)
class Precision:
    """How fine the game is played; every choice is safe, a finer one is tighter.

    Attributes:
        grid: grid spacing, in units of mu / sqrt(number of steps).
        polygon: distance of the supporting lines of a family, in log odds.
        reach: ends of the grid, in units of mu.
    """

    grid: float
    polygon: float
    reach: float = 6.5


EXACTING = Precision(grid=0.03, polygon=0.06)
FINE = Precision(grid=0.06, polygon=0.1)
LARGE = Precision(grid=0.12, polygon=0.2)
HUGE = Precision(grid=0.4, polygon=0.35)
COARSE = Precision(grid=0.25, polygon=0.3, reach=5.5)


def precision_for(questions: int) -> Precision:
    """Precision of a certificate: it costs 1 % of delta up to 1000 questions, 4 % up to 10,000."""
    if questions <= 1000:
        return FINE
    return LARGE if questions <= 10_000 else HUGE


@dataclass(frozen=True, eq=False)
class Release:
    """The stages of one release, in the order in which they are released.

    Attributes:
        bits: law of every threshold bit.
        questions: m, threshold queries that one row can be in; >= 0.
        trees: k, leaf draws that one row changes.
        leaves: noise of the leaves, released last; None for bits alone.
        marginals: noise of the marginals, released first; None for none.
        neighbors: "add_remove" or "replace_one".
        classes: largest number of labels that a drawn label may be chosen from.
    """

    bits: BitTable
    questions: int
    trees: int = 0
    leaves: GaussianLeaves | ExponentialLeaves | None = None
    marginals: GaussianMarginals | None = None
    neighbors: Neighbors = "add_remove"
    classes: int = DEFAULT_CLASSES

    @property
    def doubling(self) -> int:
        """Rows that differ between neighbouring tables: 1, or 2 if a row is replaced."""
        return 2 if self.neighbors == "replace_one" else 1


def release_of(plan: NoisePlan) -> Release:
    """The stages that a plan describes."""
    return Release(
        bits=plan.bits,
        questions=plan.questions,
        trees=plan.num_trees,
        leaves=plan.leaves,
        marginals=plan.marginals,
        neighbors=plan.guarantee.neighbors,
        classes=int(plan.notes.get("largest_num_classes", DEFAULT_CLASSES)),
    )


def release_delta(release: Release, epsilon: float, precision: Precision | None = None) -> float:
    """Upper bound of the delta for which the release is (epsilon, delta)-DP.

    Args:
        release: the stages.
        epsilon: in nats; finite and >= 0.
        precision: how fine to play; precision_for(release.questions) if None.

    Returns:
        delta in [0, 1].
    """
    if not 0 <= epsilon < math.inf:
        raise ValueError(f"epsilon must be finite and >= 0, got {epsilon!r}")
    precision = precision_for(release.questions) if precision is None else precision
    games = play(release, epsilon, precision)
    return min(1.0, max(game.delta for game in games) + draw_rounding(release, epsilon))


def release_epsilon(release: Release, delta: float, precision: Precision | None = None) -> float:
    """Upper bound of the epsilon for which the release is (epsilon, delta)-DP.

    Args:
        release: the stages.
        delta: in (0, 1).
        precision: how fine to play; precision_for(release.questions) if None.

    Returns:
        epsilon >= 0, in nats; infinite if no grid point within reach satisfies delta.
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta must be > 0 and < 1, got {delta!r}")
    precision = precision_for(release.questions) if precision is None else precision
    center = gaussian_epsilon(delta, release_mu(release))
    # A coarse game finds the neighbourhood, a second one is centred on it.
    for chosen in (replace(precision, grid=4 * precision.grid), precision):
        games = play(release, center, chosen)
        center = max(_crossing(game, release, delta) for game in games)
        if center == math.inf:
            return center
    return center


def _crossing(game: Game, release: Release, delta: float) -> float:
    """Least u >= 0 at which the chords of W and the rounding stay within delta."""
    ahead = game.log_ratio >= 0
    log_ratio, values = game.log_ratio[ahead], game.values[ahead]
    with np.errstate(over="ignore", invalid="ignore"):
        rounding = draw_distance(release) * (1 + np.exp(log_ratio))
        within = np.flatnonzero(values + rounding <= delta)
    if within.size == 0:
        return math.inf
    right = int(within[0])
    if right == 0:
        return float(log_ratio[0])
    high, low, target = values[right - 1], values[right], delta - rounding[right]
    part = min(1.0, max(0.0, (high - target) / (high - low))) if high > low else 1.0
    step = math.log1p(part * math.expm1(game.spacing))
    return float(log_ratio[right - 1] + step) * (1 + 1e-12)


def draw_rounding(release: Release, epsilon: float) -> float:
    """Delta that pays for noise drawn from tables of 64-bit words instead of the exact laws.

    If all draws that a row changes are within total variation t of their laws, in both worlds,
    then delta grows by at most t (1 + e^epsilon).
    """
    distance = draw_distance(release)
    return math.inf if epsilon > 700 and distance > 0 else distance * (1 + math.exp(epsilon))


def draw_distance(release: Release) -> float:
    """Total variation between all draws that a row changes and their exact laws."""
    distance = 0.0
    if isinstance(release.leaves, GaussianLeaves):
        distance += release.trees * gaussian_draw_error(release.leaves.sigma)
    elif isinstance(release.leaves, ExponentialLeaves):
        distance += release.trees * label_draw_error(release.classes)
    if release.marginals is not None:
        distance += release.marginals.histograms * gaussian_draw_error(release.marginals.sigma)
    return release.doubling * distance


def gaussian_draw_error(sigma: float) -> float:
    """Total variation between a drawn discrete Gaussian and its law.

    The noise is drawn by inversion from one table of cumulative 64-bit words, from two above
    sigma = 2048; each of their boundaries is off by half a unit.
    """
    entries = 20 * sigma + 12 if sigma <= 2048 else 80 * math.sqrt(sigma) + 24
    return entries * 2.0**-65


def label_draw_error(classes: int) -> float:
    """Total variation between a drawn label and its law, for this many classes."""
    width = (classes - 1).bit_length()
    return (classes - 1) * (2.0 ** (width + 1) + 5) * 2.0**-64


def bit_families(release: Release, spacing: float, order: float) -> list[PairFamily]:
    """Outlines of the bit's pairs, one for each direction that has to be played."""
    families = [bit_pairs(release.bits, "add"), bit_pairs(release.bits, "remove")]
    if families[0].same_as(families[1]):
        families = families[:1]
    elif release.neighbors == "replace_one":
        families = [families[0].joined(families[1])]
    return [outline(family, spacing, order) for family in families]


def release_mu(release: Release) -> float:
    """Mu of the Gaussian mechanism that the whole release resembles; it sets the grid's scale."""
    times = release.doubling
    square = times * release.questions * bit_pairs(release.bits, "add").step_mu() ** 2
    if isinstance(release.leaves, GaussianLeaves):
        square += times * release.trees / release.leaves.sigma**2
    elif isinstance(release.leaves, ExponentialLeaves):
        square += times**2 * release.trees * release.leaves.eta**2 / 4
    if release.marginals is not None:
        square += times * release.marginals.histograms / release.marginals.sigma**2
    return math.sqrt(max(square, 1e-16))


def play(release: Release, epsilon: float, precision: Precision) -> list[Game]:
    """Play all stages from the last to the first, in every direction that differs."""
    mu = release_mu(release)
    steps = release.doubling * release.questions
    if isinstance(release.leaves, ExponentialLeaves):
        steps += release.doubling * release.trees
    spacing = precision.grid * mu / math.sqrt(max(steps, 1))
    low, high = -precision.reach * mu, epsilon + precision.reach * mu
    spacing = max(spacing, (high - low) / _MAXIMUM_GRID)
    start = Game(epsilon=epsilon, spacing=spacing, low=low, high=high)
    _play_leaves(start, release, precision)
    games = []
    for family in bit_families(release, precision.polygon, epsilon / mu**2):
        game = start.copy()
        game.play_pairs(family, release.doubling * release.questions)
        if release.marginals is not None:
            draws = release.doubling * release.marginals.histograms
            _play_gaussian(game, release.marginals.sigma, draws)
        games.append(game)
    return games


def _play_leaves(game: Game, release: Release, precision: Precision) -> None:
    """Play the leaf stage."""
    if isinstance(release.leaves, GaussianLeaves):
        _play_gaussian(game, release.leaves.sigma, release.doubling * release.trees)
    elif isinstance(release.leaves, ExponentialLeaves):
        single = logistic_outline(release.leaves.eta, precision.polygon)
        if release.neighbors == "add_remove":
            game.play_pairs(single, release.trees)
            return
        # A replaced row changes two weights of one leaf, or one weight in each of two leaves.
        double = logistic_outline(2 * release.leaves.eta, precision.polygon)
        for _ in range(release.trees):
            apart = game.copy()
            apart.play_pairs(single, 2)
            game.play_pairs(double, 1)
            game.maximum_with(apart)


def _play_gaussian(game: Game, sigma: float, draws: int) -> None:
    """Play discrete Gaussian noise: its sum at once, or draw by draw where sigma is small."""
    if draws == 0:
        return
    if sigma >= SUM_SIGMA:
        game.play_law(discrete_gaussian_law(sigma, draws))
        return
    law = discrete_gaussian_law(sigma, 1)
    for _ in range(draws):
        game.play_law(law)
