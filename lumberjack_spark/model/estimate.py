"""Class probabilities of the leaves from their noisy counts.

Post-processing of released values alone: it costs no privacy.
"""

import numpy as np

from lumberjack_spark.privacy import GaussianLeaves, NoisePlan
from lumberjack_spark.training import ReleasedForest


def leaf_values(forest: ReleasedForest, plan: NoisePlan) -> np.ndarray:
    """Estimate what each leaf says of a row that falls into it.

    Args:
        forest: what a fit released.
        plan: its noise.

    Returns:
        float32[num_leaves, n_classes], nonnegative rows that sum to 1: class probabilities, with
        majority leaves the vote for one class. A forest's estimate is the mean over its trees.
    """
    counts = forest.leaf_counts
    if not isinstance(plan.leaves, GaussianLeaves):
        return counts.astype(np.float32)
    known = np.maximum(counts, 0).astype(np.float64)
    # The noise of a count is worth this many rows that say nothing.
    weight = plan.leaves.sigma
    smoothed = known + weight / counts.shape[1]
    return (smoothed / smoothed.sum(axis=1, keepdims=True)).astype(np.float32)
