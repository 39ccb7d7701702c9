"""How pyspark.ml saves and loads the estimator and its model, alone and inside pipelines."""

from typing import TYPE_CHECKING, Any

from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReader, MLWriter
from pyspark.sql import SparkSession

from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model.saved_format import ESTIMATOR_CLASSES, MODEL_CLASS, SavedModel
from lumberjack_spark.spark._classic_files import remove_folder
from lumberjack_spark.spark.storage import load_anywhere, metadata_class, save_anywhere

if TYPE_CHECKING:
    from lumberjack_spark.ml.classification_model import LumberjackClassificationModel
    from lumberjack_spark.ml.classifier import LumberjackClassifier


class ModelWriter(MLWriter):
    """Saves a model; `overwrite()` replaces a model of this package and nothing else."""

    def __init__(self, instance: "LumberjackClassificationModel") -> None:
        super().__init__()
        self._instance = instance

    def save(self, path: str) -> None:
        """Write the model to a path; see spark.storage.save_anywhere."""
        model = self._instance
        saved = SavedModel(
            model.forest,
            model.uid,
            {param.name: value for param, value in model._paramMap.items()},
            {param.name: value for param, value in model._defaultParamMap.items()},
        )
        session = self._sparkSession or SparkSession.getActiveSession()
        save_anywhere(saved, path, session=session, overwrite=self.shouldOverwrite)


class ModelReader(MLReader["LumberjackClassificationModel"]):
    """Loads a model; a local one needs no running session."""

    def load(self, path: str) -> "LumberjackClassificationModel":
        """Read the model at a path; see spark.storage.load_anywhere."""
        from lumberjack_spark.ml.classification_model import LumberjackClassificationModel

        session = self._sparkSession or SparkSession.getActiveSession()
        saved = load_anywhere(path, session=session)
        model = LumberjackClassificationModel(saved.model)
        model._resetUid(saved.uid)
        # Parameters of a later minor version are left alone.
        model._setDefault(**_known(model, saved.default_params))
        return model._set(**_known(model, saved.params))


class EstimatorWriter(DefaultParamsWriter):
    """Saves an estimator that is not fitted: its parameters."""

    def _handleOverwrite(self, path: str) -> None:
        """Make room for a new save; where that cannot be, saveImpl overwrites the file."""
        remove_folder(self.sparkSession, path)

    def saveImpl(self, path: str) -> None:
        """Write the parameters."""
        line = DefaultParamsWriter._get_metadata_to_save(self.instance, self.sparkSession)
        table = self.sparkSession.createDataFrame([(line,)], "value string").coalesce(1)
        mode = "overwrite" if self.shouldOverwrite else "error"
        table.write.mode(mode).text(f"{path.rstrip('/')}/metadata")


class EstimatorReader(MLReader["LumberjackClassifier"]):
    """Loads an estimator that is not fitted."""

    def load(self, path: str) -> "LumberjackClassifier":
        """Read the parameters at a path.

        Raises:
            ModelFormatError: names what the path holds instead and the class to use.
        """
        from lumberjack_spark.ml.classifier import LumberjackClassifier

        found = metadata_class(path, session=self.sparkSession)
        if found == MODEL_CLASS:
            raise ModelFormatError(
                f"{path}: holds a fitted LumberjackClassificationModel: "
                "use LumberjackClassificationModel.load"
            )
        if found not in ESTIMATOR_CLASSES:
            what = f"a {found}" if found else "no saved estimator"
            raise ModelFormatError(f"{path}: must hold a LumberjackClassifier, got {what}")
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        estimator = LumberjackClassifier()
        estimator._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(estimator, metadata)
        return estimator


def _known(params: Any, values: Any) -> dict[str, Any]:
    """The values whose parameter exists."""
    return {name: value for name, value in values.items() if params.hasParam(name)}
