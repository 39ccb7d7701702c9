"""The estimator: trains a private random forest on a Spark table.

Order      everything that is declared is checked, and the plan of all noise is made, before the
           first Spark job; from then on the content of rows raises nothing.
"""

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml.util import MLReadable, MLWritable
from pyspark.sql import DataFrame

from lumberjack_spark.defaults import MAX_DEPTH, NUM_TREES, FitDefaults, fit_defaults
from lumberjack_spark.encoding import marginal_histograms
from lumberjack_spark.errors import BudgetError, SchemaError
from lumberjack_spark.ml.classification_model import LumberjackClassificationModel
from lumberjack_spark.ml.persistence import EstimatorReader, EstimatorWriter
from lumberjack_spark.ml.score_params import DEFAULT_COLUMNS, ScoreParams
from lumberjack_spark.ml.surroundings import fitted_before, is_selected
from lumberjack_spark.ml.training_params import TrainingParams
from lumberjack_spark.model import ForestModel
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import NoisePlan, make_plan
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.spark.backend import SparkBackend
from lumberjack_spark.spark.columns import select_columns
from lumberjack_spark.spark.copy import copied
from lumberjack_spark.spark.failures import without_rows
from lumberjack_spark.training import fit_forest
from lumberjack_spark.trees import MAX_CLASSES

LOGGER = logging.getLogger("lumberjack_spark")


class LumberjackClassifier(
    Estimator[LumberjackClassificationModel],
    TrainingParams,
    ScoreParams,
    MLWritable,
    MLReadable["LumberjackClassifier"],
):
    """Differentially private random forest classifier.

    Nothing is inferred from the table: features with bounds or categories, the label column and
    its classes come from `schema`; epsilon and delta have no defaults. Every fit draws its noise
    from a fresh key of the operating system and is one release: fits on the same rows add up.
    Searches such as CrossValidator look at exact metrics of held-out rows, which no guarantee
    covers.

    Parameters left at None follow `lumberjack_spark.defaults`, which looks at no data; with the
    paper's accountant ("theorem6") the encoder is the paper's too, which costs nothing.

    `labelCol` is the schema's label. Where evaluators are to read a label that is no number, set
    `labelIndexCol`.
    """

    _input_kwargs: dict[str, Any]  # set by keyword_only: what the caller gave

    @keyword_only
    def __init__(
        self,
        *,
        schema: DataSchema | Mapping[str, Any] | None = None,
        epsilon: float | None = None,
        delta: float | None = None,
        numTrees: int = NUM_TREES,
        maxDepth: int = MAX_DEPTH,
        leafMode: str = "proportions",
        accountant: str = "exact",
        threshold: str | None = None,
        neighbors: str = "add_remove",
        minExactCount: int | None = None,
        leafShare: float | None = None,
        encodingShare: float | None = None,
        structureFraction: float = 0.75,
        seed: int = 0,
        materializeDir: str = "",
        rawPredictionCol: str = "rawPrediction",
        probabilityCol: str = "probability",
        predictionCol: str = "prediction",
        predictedLabelCol: str = "predictedLabel",
        labelIndexCol: str = "",
    ) -> None:
        super().__init__()
        self._setDefault(**TRAINING_DEFAULTS, **DEFAULT_COLUMNS)
        self._set_given(self._input_kwargs)

    @keyword_only
    def setParams(self, **values: Any) -> "LumberjackClassifier":
        """Set several parameters by name; None leaves one as it is."""
        return self._set_given(self._input_kwargs)

    def getLabelCol(self) -> str:
        """Column of the label, as declared in the schema."""
        return self.getSchema().label

    def plan(self) -> NoisePlan:
        """The noise of a fit with these parameters; looks at no data.

        Raises:
            SchemaError: no schema is set.
            BudgetError: epsilon or delta is not set, or the budget cannot be planned for.
        """
        return self._plan(self._declared())

    def write(self) -> EstimatorWriter:
        """Writer of the parameters."""
        return EstimatorWriter(self)

    @classmethod
    def read(cls) -> EstimatorReader:
        """Reader of saved parameters."""
        return EstimatorReader()

    def _fit(self, dataset: DataFrame) -> LumberjackClassificationModel:
        """Train with a fresh key."""
        return self._fit_with_key(dataset, NoiseKey.fresh())

    def _fit_with_key(self, dataset: DataFrame, key: NoiseKey) -> LumberjackClassificationModel:
        """Train with a key; a known one marks the model as not private, for ever."""
        schema = self._declared()
        plan = self._plan(schema)
        seed = self._checked_seed()
        rows = select_columns(dataset, schema, with_label=True)
        warnings = self._warnings(key)
        folder = self.getMaterializeDir()
        with copied(rows, folder) if folder else nullcontext(rows) as replayable:
            backend = SparkBackend(replayable)
            forest = without_rows(
                "training", lambda: fit_forest(backend, schema, plan, seed=seed, key=key)
            )
        model = ForestModel.of_release(
            forest,
            schema=schema,
            plan=plan,
            seed=seed,
            private_key=key.private,
            searched=is_selected(),
            warnings=warnings,
        )
        return self._wrapped(model)

    def _wrapped(self, forest: ForestModel) -> LumberjackClassificationModel:
        """The model as a stage of this estimator: same uid and column names."""
        model = LumberjackClassificationModel(forest)
        model._resetUid(self.uid)
        return self._copyValues(model)

    def _declared(self) -> DataSchema:
        """The schema that was set."""
        if not self.isDefined(self.schema):
            raise SchemaError(
                "schema must be set: features, label and classes are declared, never inferred"
            )
        schema = self.getSchema()
        if len(schema.classes) > MAX_CLASSES:
            raise SchemaError(
                f"classes must be at most {MAX_CLASSES}, got {len(schema.classes)}: join rare ones"
            )
        return schema

    def _plan(self, schema: DataSchema) -> NoisePlan:
        """The noise of a fit for a schema."""
        unset = [name for name in ("epsilon", "delta") if not self.isDefined(name)]
        if unset:
            raise BudgetError(f"{' and '.join(unset)} must be set: there is no default")
        accountant = self.getAccountant()
        paper = accountant == "theorem6"
        usual = self._defaults(schema, encoding_share=0.0 if paper else None)
        threshold = "gaussian" if paper else "table"
        share = self._value_or("encodingShare", usual.encoding_share)
        return make_plan(
            epsilon=self.getEpsilon(),
            delta=self.getDelta(),
            num_trees=self.getNumTrees(),
            max_depth=self.getMaxDepth(),
            leaf_mode=self.getLeafMode(),  # type: ignore[arg-type]
            accountant=accountant,  # type: ignore[arg-type]
            threshold=self._value_or("threshold", threshold),
            min_exact_count=self._value_or("minExactCount", usual.min_exact_count),
            leaf_share=self._value_or("leafShare", usual.leaf_share),
            marginal_share=share,
            histograms=marginal_histograms(schema) if share > 0 else 0,
            structure_fraction=self.getStructureFraction(),
            neighbors=self.getNeighbors(),  # type: ignore[arg-type]
            num_classes=len(schema.classes),
        )

    def _defaults(self, schema: DataSchema, *, encoding_share: float | None) -> FitDefaults:
        """What is used where the caller says nothing; from public inputs alone."""
        try:
            return fit_defaults(
                epsilon=self.getEpsilon(),
                delta=self.getDelta(),
                n_features=len(schema.features),
                n_classes=len(schema.classes),
                encoding_share=self._value_or("encodingShare", encoding_share),
            )
        except ValueError as error:
            raise BudgetError(str(error)) from None

    def _checked_seed(self) -> int:
        """The structure seed within its range."""
        seed = self.getSeed()
        if not 0 <= seed < 2**63:
            raise SchemaError(f"seed must be >= 0 and < 2^63, got {seed}")
        return seed

    def _warnings(self, key: NoiseKey) -> list[str]:
        """What this fit's guarantee does not cover; logged, and kept in the certificate."""
        found = []
        if not key.private:
            found.append("The noise key was known to the caller: nothing here is private.")
        stages = fitted_before(self)
        if stages:
            names = ", ".join(stages)
            found.append(f"Stages fitted before this one are not covered: {names}.")
        if is_selected():
            found.append(
                "Fitted by a search that compares exact metrics of held-out rows: its choice and "
                "its other fits are not covered, so the result is not private."
            )
        for warning in found:
            LOGGER.warning(warning)
        return found

    def _value_or(self, name: str, usual: Any) -> Any:
        """The value of a parameter that need not be set."""
        return self.getOrDefault(name) if self.isDefined(name) else usual

    def _set_given(self, values: Mapping[str, Any]) -> "LumberjackClassifier":
        """Set the parameters that have a value."""
        unknown = [name for name in values if not self.hasParam(name)]
        if unknown:
            raise TypeError(f"parameters must be known ones, got {', '.join(unknown)}")
        return self._set(**{name: value for name, value in values.items() if value is not None})


TRAINING_DEFAULTS = {
    "numTrees": NUM_TREES,
    "maxDepth": MAX_DEPTH,
    "leafMode": "proportions",
    "accountant": "exact",
    "neighbors": "add_remove",
    "structureFraction": 0.75,
    "seed": 0,
    "materializeDir": "",
}
