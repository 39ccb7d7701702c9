"""Names of the columns that scoring adds, shared by the estimator and its model."""

from typing import Self

from pyspark.ml.param import Param, Params, TypeConverters

from lumberjack_spark.spark.score import ScoreColumns

DEFAULT_COLUMNS = {
    "rawPredictionCol": "rawPrediction",
    "probabilityCol": "probability",
    "predictionCol": "prediction",
    "predictedLabelCol": "predictedLabel",
    "labelIndexCol": "",
}


class ScoreParams(Params):
    """Columns that transform adds; an empty name leaves one out."""

    rawPredictionCol: Param[str] = Param(
        Params._dummy(),
        "rawPredictionCol",
        "vector: sum over trees of what the row's leaves say of each class",
        TypeConverters.toString,
    )
    probabilityCol: Param[str] = Param(
        Params._dummy(),
        "probabilityCol",
        "vector: one share for each declared class",
        TypeConverters.toString,
    )
    predictionCol: Param[str] = Param(
        Params._dummy(),
        "predictionCol",
        "double: index of the most likely class",
        TypeConverters.toString,
    )
    predictedLabelCol: Param[str] = Param(
        Params._dummy(),
        "predictedLabelCol",
        "the most likely class itself, in the classes' own type",
        TypeConverters.toString,
    )
    labelIndexCol: Param[str] = Param(
        Params._dummy(),
        "labelIndexCol",
        "double: index of the row's own label, null where it is not declared; for evaluators, "
        "which take numbers only; added where the table has the label column",
        TypeConverters.toString,
    )

    def setRawPredictionCol(self, value: str) -> Self:
        """Set the column of scores by class."""
        return self._set(rawPredictionCol=value)

    def getRawPredictionCol(self) -> str:
        """Column of scores by class."""
        return self.getOrDefault(self.rawPredictionCol)

    def setProbabilityCol(self, value: str) -> Self:
        """Set the column of shares by class."""
        return self._set(probabilityCol=value)

    def getProbabilityCol(self) -> str:
        """Column of shares by class."""
        return self.getOrDefault(self.probabilityCol)

    def setPredictionCol(self, value: str) -> Self:
        """Set the column of class indices."""
        return self._set(predictionCol=value)

    def getPredictionCol(self) -> str:
        """Column of class indices."""
        return self.getOrDefault(self.predictionCol)

    def setPredictedLabelCol(self, value: str) -> Self:
        """Set the column of predicted classes."""
        return self._set(predictedLabelCol=value)

    def getPredictedLabelCol(self) -> str:
        """Column of predicted classes."""
        return self.getOrDefault(self.predictedLabelCol)

    def setLabelIndexCol(self, value: str) -> Self:
        """Set the column of the rows' own class indices."""
        return self._set(labelIndexCol=value)

    def getLabelIndexCol(self) -> str:
        """Column of the rows' own class indices."""
        return self.getOrDefault(self.labelIndexCol)

    @property
    def _score_columns(self) -> ScoreColumns:
        return ScoreColumns(
            raw=self.getRawPredictionCol(),
            probability=self.getProbabilityCol(),
            prediction=self.getPredictionCol(),
            label=self.getPredictedLabelCol(),
            label_index=self.getLabelIndexCol(),
        )
