"""What privacy costs: from a budget and the shape of a forest to a plan of all noise.

Start with planning.make_plan. The map:

    plan         value types that the rest of the program sees: BitTable, leaf noise, NoisePlan
    request      the inputs of a plan, checked
    planning     make_plan
    paper_plan   plans by the paper's accounting
    theorem6     Theorem 6 of the paper: the trees
    zcdp         Lemma 9 and Appendix J of the paper: the leaves
    gaussian     curve of the Gaussian mechanism
    bit_tables   laws of the threshold bit as integer weights

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
    "calibrate_theorem6",
    "make_plan",
    "questions_per_tree",
    "theorem6_delta",
]
