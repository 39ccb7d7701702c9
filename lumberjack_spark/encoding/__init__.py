"""From clean columns to the integer codes that trees split on.

codes      how one feature is coded
encoder    FeatureEncoder: all features of a row, and score columns
packing    an encoder as flat arrays
plain      the paper's encoding, made from declarations alone
bins       the cells of private marginals, public
smoothing  rows and class rates of cells from their noisy counts
private    the encoder made from them
scores     columns that add up what all features say
"""

from lumberjack_spark.encoding.bins import MarginalBins, marginal_histograms
from lumberjack_spark.encoding.codes import CategoryCodes, LinearCodes, StepCodes
from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.encoding.plain import plain_encoder
from lumberjack_spark.encoding.private import private_encoder
from lumberjack_spark.encoding.scores import ScoreCodes

__all__ = [
    "CategoryCodes",
    "FeatureEncoder",
    "LinearCodes",
    "MarginalBins",
    "ScoreCodes",
    "StepCodes",
    "marginal_histograms",
    "plain_encoder",
    "private_encoder",
]
