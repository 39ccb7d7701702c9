"""The released model: what can be computed from released values alone. Needs no Spark.

forest_model   ForestModel: predict, certificate, save and load
scorer         what scoring needs, and what travels to workers
predictions    scores of rows, and their most likely classes
estimate       class probabilities of the leaves from their noisy counts
importance     which features tell classes apart, from released values alone
certificate    what a fit promises, for machines and for people
saved_format   the format of a saved model, documented there
packed_scorer  a scorer as one file, for models too large for a function
storage        saved models on local paths
description    a forest as text for people
soundness      whether the parts of a forest fit together
"""

from lumberjack_spark.model.certificate import certificate_text
from lumberjack_spark.model.estimate import leaf_values
from lumberjack_spark.model.forest_model import ForestModel
from lumberjack_spark.model.predictions import Predictions
from lumberjack_spark.model.scorer import Scorer
from lumberjack_spark.model.storage import load_model, save_model

__all__ = [
    "ForestModel",
    "Predictions",
    "Scorer",
    "certificate_text",
    "leaf_values",
    "load_model",
    "save_model",
]
