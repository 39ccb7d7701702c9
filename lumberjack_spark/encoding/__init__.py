"""From clean columns to the integer codes that trees split on.

codes      how one feature is coded
encoder    FeatureEncoder: all features of a row
packing    an encoder as flat arrays
plain      the paper's encoding, made from declarations alone
"""

from lumberjack_spark.encoding.codes import CategoryCodes, LinearCodes, StepCodes
from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.encoding.plain import plain_encoder

__all__ = ["CategoryCodes", "FeatureEncoder", "LinearCodes", "StepCodes", "plain_encoder"]
