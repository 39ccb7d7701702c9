"""The released model: what can be computed from released values alone.

estimate   class probabilities of the leaves from their noisy counts
"""

from lumberjack_spark.model.estimate import leaf_values

__all__ = ["leaf_values"]
