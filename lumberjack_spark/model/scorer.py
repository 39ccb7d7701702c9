"""Scoring rows with a released forest: what travels to workers, and no more.

Input      Arrow batches with the schema's feature columns. Content never raises.
Same       rows give the same numbers from Spark, pandas, numpy and Arrow, whatever the batching:
           the leaves of a row are added in the order of the trees.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.schema import DataSchema, RowReader
from lumberjack_spark.trees import Structure, sum_leaf_values

CHUNK_ROWS = 1 << 16  # rows encoded together; bounds the memory of scoring one large batch


@dataclass(frozen=True, eq=False)
class Scorer:
    """The parts of a model that scoring needs; pickles.

    Attributes:
        schema: declarations of the features.
        encoder: codes of the features.
        structure: the forest.
        leaf_values: float32[num_leaves, n_classes], what each leaf says; >= 0.
    """

    schema: DataSchema
    encoder: FeatureEncoder
    structure: Structure
    leaf_values: np.ndarray

    @cached_property
    def reader(self) -> RowReader:
        """Row rules of the schema."""
        return RowReader(self.schema)

    def raw(self, batch: pa.RecordBatch) -> np.ndarray:
        """Sum over trees of what each row's leaf says: float64[n, n_classes], >= 0."""
        raw = np.zeros((batch.num_rows, self.leaf_values.shape[1]))
        for start in range(0, batch.num_rows, CHUNK_ROWS):
            codes = self.encoder.read(self.reader, batch.slice(start, CHUNK_ROWS))
            raw[start : start + CHUNK_ROWS] = sum_leaf_values(
                codes, self.structure, self.leaf_values
            )
        return raw


def probabilities(raw: np.ndarray) -> np.ndarray:
    """Shares of the classes: float64[n, n_classes], >= 0, sum 1; uniform where nothing is known."""
    total = raw.sum(axis=1, keepdims=True)
    known = total > 0
    shares: np.ndarray = np.where(known, raw, 1.0) / np.where(known, total, raw.shape[1])
    return shares


def class_indices(raw: np.ndarray) -> np.ndarray:
    """Index of the strongest class of each row, the first one among equals: int64[n]."""
    strongest: np.ndarray = raw.argmax(axis=1)
    return strongest
