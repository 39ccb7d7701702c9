"""The paper's encoding, which looks at no data: numbers by place, categories one by one."""

import numpy as np

from lumberjack_spark.encoding.codes import (
    MOST_CODES,
    CategoryCodes,
    FeatureCodes,
    LinearCodes,
)
from lumberjack_spark.encoding.encoder import FeatureEncoder
from lumberjack_spark.schema import DataSchema, Numeric


def plain_encoder(schema: DataSchema) -> FeatureEncoder:
    """Encoder made from declarations alone.

    A number keeps its place within its bounds on a grid of 65,535 steps; a missing one has a code
    of its own at the declared end. Categories stay themselves (one-hot, section 5 of the paper).
    """
    features: list[FeatureCodes] = []
    for feature in schema.features:
        declared = feature.declaration
        if isinstance(declared, Numeric):
            low_end = declared.missing != "high"
            first, missing = (1, 0) if low_end else (0, MOST_CODES - 1)
            features.append(
                LinearCodes(declared.min, declared.max, first, first + MOST_CODES - 2, missing)
            )
        else:
            codes = np.arange(declared.size + 2, dtype=np.uint16)
            features.append(CategoryCodes(codes, one_of=True))
    return FeatureEncoder(tuple(features))
