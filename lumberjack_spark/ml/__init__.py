"""Private random forests as stages of pyspark.ml. Importing this starts no session.

classifier             LumberjackClassifier: training
classification_model   LumberjackClassificationModel: scoring, certificate
training_params        parameters of training
score_params           names of the columns that scoring adds
persistence            saving and loading, alone and inside pipelines
surroundings           what a fit can see of the pipeline or search around it
"""

from lumberjack_spark.ml.classification_model import LumberjackClassificationModel
from lumberjack_spark.ml.classifier import LumberjackClassifier

__all__ = ["LumberjackClassificationModel", "LumberjackClassifier"]
