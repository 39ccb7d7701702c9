"""The only place that draws noise.

Noise comes from a fresh secret key per release, never from a seed, and every draw compares integers
with uniform 64-bit words: no floating-point number is released or decides anything.

key                the secret of one release
stream             keyed streams of words: SHAKE-256 in counter mode
threshold_bits     one bit per threshold query
discrete_gaussian  integer noise for counts
label_choice       the exponential mechanism over classes
fixed_point        integer arithmetic behind the tables
"""

from lumberjack_spark.noise.discrete_gaussian import (
    DiscreteGaussianSampler,
    DiscreteGaussianTable,
    discrete_gaussian,
    discrete_gaussian_sampler,
)
from lumberjack_spark.noise.key import NoiseKey
from lumberjack_spark.noise.label_choice import choose_labels, label_choice_total_variation
from lumberjack_spark.noise.stream import WordStream
from lumberjack_spark.noise.threshold_bits import draw_bits

__all__ = [
    "DiscreteGaussianSampler",
    "DiscreteGaussianTable",
    "NoiseKey",
    "WordStream",
    "choose_labels",
    "discrete_gaussian",
    "discrete_gaussian_sampler",
    "draw_bits",
    "label_choice_total_variation",
]
