"""From clean columns to the integer codes that trees split on.

codes         how one feature is coded
joint         columns made from several features: scores and pairs
encoder       FeatureEncoder: all columns of a row; cell_encoder: the same from cells
packing       an encoder as flat arrays
plain         the paper's encoding, made from declarations alone
bins          the cells of private marginals, public
smoothing     rows and class rates of cells from their noisy counts
marginals     what they say of each feature; places: where its cells lie in [0, 1]
pairs         the cells of two-way counts; interactions: the columns made of them
scores        columns that add up what all features say
private       the encoder made from all of it
"""

from lumberjack_spark.encoding.bins import MarginalBins, marginal_histograms, pair_shape
from lumberjack_spark.encoding.cell_encoder import CellEncoder
from lumberjack_spark.encoding.codes import CategoryCodes, LinearCodes, StepCodes
from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.encoding.interactions import pair_columns
from lumberjack_spark.encoding.joint import PairCodes, ScoreCodes
from lumberjack_spark.encoding.marginals import read_marginals
from lumberjack_spark.encoding.pairs import PairBins
from lumberjack_spark.encoding.plain import plain_encoder
from lumberjack_spark.encoding.private import private_encoder

__all__ = [
    "CategoryCodes",
    "CellEncoder",
    "FeatureEncoder",
    "LinearCodes",
    "MarginalBins",
    "PairBins",
    "PairCodes",
    "ScoreCodes",
    "StepCodes",
    "marginal_histograms",
    "pair_columns",
    "pair_shape",
    "plain_encoder",
    "private_encoder",
    "read_marginals",
]
