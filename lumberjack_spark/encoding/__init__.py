"""From clean columns to the integer codes that trees split on.

encoder    FeatureEncoder: how each feature is coded
plain      the paper's encoding, made from declarations alone
"""

from lumberjack_spark.encoding.encoder import (
    CategoryCodes,
    FeatureEncoder,
    LinearCodes,
    StepCodes,
)
from lumberjack_spark.encoding.plain import plain_encoder

__all__ = ["CategoryCodes", "FeatureEncoder", "LinearCodes", "StepCodes", "plain_encoder"]
