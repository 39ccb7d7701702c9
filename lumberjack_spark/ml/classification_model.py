"""The fitted model on Spark: adds scores to a table; holds released values only."""

from typing import TYPE_CHECKING, Any

from pyspark.ml import Model
from pyspark.ml.util import MLReadable, MLWritable
from pyspark.sql import DataFrame

from lumberjack_spark.ml.persistence import ModelReader, ModelWriter
from lumberjack_spark.ml.score_params import DEFAULT_COLUMNS, ScoreParams
from lumberjack_spark.model import ForestModel, Predictions
from lumberjack_spark.spark.score import add_scores

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    from pyspark.ml.linalg import DenseVector

    from lumberjack_spark.schema import DataSchema


class LumberjackClassificationModel(
    Model, ScoreParams, MLWritable, MLReadable["LumberjackClassificationModel"]
):
    """A private random forest that scores Spark tables.

    Made by `LumberjackClassifier.fit` or by `load`; safe to publish if `certificate["private"]`.

    Args:
        forest: the released forest.
    """

    def __init__(self, forest: ForestModel) -> None:
        super().__init__()
        self._forest = forest
        self._setDefault(**DEFAULT_COLUMNS)

    @property
    def forest(self) -> ForestModel:
        """The released forest, which works without Spark."""
        return self._forest

    @property
    def schema(self) -> "DataSchema":
        """Public declarations that the forest was fitted with."""
        return self._forest.schema

    @property
    def classes(self) -> tuple[str | int | bool, ...]:
        """Declared classes; `prediction` is a position in them."""
        return self._forest.classes

    @property
    def certificate(self) -> dict[str, Any]:
        """Unit, neighbours, epsilon, delta, all mechanisms, and what was declared public."""
        return self._forest.certificate

    @property
    def certificateText(self) -> str:
        """The certificate for people to read."""
        return self._forest.certificate_text

    @property
    def numClasses(self) -> int:
        """Number of declared classes."""
        return len(self._forest.classes)

    @property
    def numFeatures(self) -> int:
        """Number of declared features."""
        return len(self._forest.schema.features)

    @property
    def numTrees(self) -> int:
        """Number of trees."""
        return self._forest.structure.num_trees

    @property
    def numNodes(self) -> list[int]:
        """Number of nodes of each tree, split nodes and leaves."""
        return self._forest.nodes_of_trees

    @property
    def totalNumNodes(self) -> int:
        """Number of nodes of all trees, split nodes and leaves."""
        return sum(self.numNodes)

    @property
    def toDebugString(self) -> str:
        """All trees as text: public splits and released leaf values."""
        return self._forest.describe()

    @property
    def featureImportances(self) -> "DenseVector":
        """Importance of each feature in schema order, from released values; sums to 1."""
        from pyspark.ml.linalg import Vectors

        return Vectors.dense(list(self._forest.feature_importances.values()))

    def predict(self, data: "pd.DataFrame | np.ndarray | pa.RecordBatch | pa.Table") -> Predictions:
        """Score rows in this process, without Spark; see ForestModel.predict."""
        return self._forest.predict(data)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        """The table with scores beside its columns."""
        return add_scores(dataset, self._forest.scorer, self._score_columns)

    def write(self) -> ModelWriter:
        """Writer of this model, in the format of model.saved_format."""
        return ModelWriter(self)

    @classmethod
    def read(cls) -> ModelReader:
        """Reader of saved models."""
        return ModelReader()

    def __repr__(self) -> str:
        return f"LumberjackClassificationModel(uid={self.uid}, {self._forest!r})"
