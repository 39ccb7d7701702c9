"""What privacy costs: from a budget and the shape of a forest to a plan of all noise.

Start with planning.make_plan. The map:

    plan         value types that the rest of the program sees: BitTable, leaf noise, NoisePlan
    request      the inputs of a plan, checked
    planning     make_plan: cache, then calibration or the paper's plan
    release      the exact accountant: delta at an epsilon, epsilon at a delta
    game         the game it plays, on a grid; game_kernel is the inner loop
    pairs        what one step may choose from: bits and label choices
    ratio_law    what discrete Gaussian noise reveals
    bit_tables   laws of the threshold bit as integer weights; equal_cost makes the default one
    calibration  the largest spending within a budget, along the designs of designs
    budget_cap   how much of a large epsilon can be spent
    certified    a release with the delta that was found for it; cache keeps it on disk
    paper_plan   plans by the paper's accounting: theorem6 for the trees, zcdp for the leaves
    gaussian     curve of the Gaussian mechanism

PROOF.md has the theorem, its proof and every error term.

Imports neither pyspark nor any source of randomness.
"""

from lumberjack_spark.privacy.plan import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
    Guarantee,
    NoisePlan,
)
from lumberjack_spark.privacy.planning import make_plan
from lumberjack_spark.privacy.release import (
    Release,
    release_delta,
    release_epsilon,
    release_of,
)
from lumberjack_spark.privacy.request import PlanRequest, questions_per_tree
from lumberjack_spark.privacy.theorem6 import calibrate_theorem6, theorem6_delta

__all__ = [
    "BitTable",
    "ExponentialLeaves",
    "GaussianLeaves",
    "GaussianMarginals",
    "Guarantee",
    "NoisePlan",
    "PlanRequest",
    "Release",
    "calibrate_theorem6",
    "make_plan",
    "questions_per_tree",
    "release_delta",
    "release_epsilon",
    "release_of",
    "theorem6_delta",
]
