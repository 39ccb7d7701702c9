"""Which features a forest's splits use to tell classes apart, from released values alone.

For each split node the noisy counts of its leaves tell how many rows each child holds and, drawn
towards the parent, their class rates; the node's gain is the drop of the Gini impurity times its
rows. A feature's importance is the sum over its nodes in all trees, as a share of the whole. A node
that splits on a joint column counts for its features: those of a score by their part in its
variance, those of a pair by halves.
"""

from collections.abc import Mapping

import numpy as np

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.model.estimate import class_shares_of, rates_of_forest
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.trees.forest import FEATURE, LEFT, RIGHT, Structure


def feature_importances(
    schema: DataSchema,
    encoder: FeatureEncoder,
    structure: Structure,
    leaf_counts: np.ndarray,
    sigma: float | None,
) -> Mapping[str, float]:
    """Importance of each feature by name; >= 0, sums to 1 unless no tree has a split.

    Args:
        schema: declarations, in the order of the encoder's features.
        encoder: released encoder.
        structure: the forest.
        leaf_counts: int64[num_leaves, n_classes], released counts, or votes.
        sigma: noise of the counts, in rows; None for votes.
    """
    counts = leaf_counts.astype(np.float64)
    rates = rates_of_forest(
        structure, counts, sigma or 1.0, class_shares_of(encoder, leaf_counts, sigma or 1.0)
    )
    left, right = structure.nodes[:, LEFT], structure.nodes[:, RIGHT]
    rows = [np.maximum(rates.rows_of(side), 0.0) for side in (left, right)]
    share = rows[0] / np.maximum(rows[0] + rows[1], 1e-300)
    squares = [(rates.of(side) ** 2).sum(axis=1) for side in (left, right)]
    mixed = share[:, None] * rates.of(left) + (1 - share)[:, None] * rates.of(right)
    drop = share * squares[0] + (1 - share) * squares[1] - (mixed**2).sum(axis=1)
    gains = np.bincount(
        structure.nodes[:, FEATURE], (rows[0] + rows[1]) * drop, minlength=encoder.n_columns
    )
    d = len(encoder.features)
    by_feature = gains[:d].copy()
    for gain, column in zip(gains[d:], encoder.joint, strict=True):
        by_feature += gain * column.weights
    by_feature = np.maximum(by_feature, 0.0)
    total = max(float(by_feature.sum()), 1e-300)
    return {f.name: float(v) / total for f, v in zip(schema.features, by_feature, strict=True)}
