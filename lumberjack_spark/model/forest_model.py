"""The released model: a forest, what it says, and its certificate. Needs no Spark.

Holds      public declarations and released values only. No exact count was ever in here.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model.certificate import certificate_text, make_certificate, with_schema
from lumberjack_spark.model.description import describe_forest
from lumberjack_spark.model.estimate import leaf_values
from lumberjack_spark.model.importance import feature_importances
from lumberjack_spark.model.predictions import Predictions
from lumberjack_spark.model.scorer import Scorer
from lumberjack_spark.model.soundness import forest_mistakes
from lumberjack_spark.privacy import NoisePlan
from lumberjack_spark.schema import DataSchema, batch_from_numpy, batch_from_pandas
from lumberjack_spark.training import ReleasedForest
from lumberjack_spark.trees import Structure

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class ForestModel:
    """A fitted forest that may be published.

    Attributes:
        schema: public declarations.
        encoder: codes of the features.
        structure: pruned trees.
        leaf_counts: int64[num_leaves, n_classes], class counts with noise; with majority leaves
            1 for the drawn label.
        leaf_values: float32[num_leaves, n_classes], what each leaf says, made from leaf_counts.
        record: certificate without the schema; JSON-able.

    Raises:
        ModelFormatError: the parts do not fit together.
    """

    schema: DataSchema
    encoder: FeatureEncoder
    structure: Structure
    leaf_counts: np.ndarray
    leaf_values: np.ndarray
    record: Mapping[str, Any]

    def __post_init__(self) -> None:
        mistakes = forest_mistakes(
            self.structure,
            self.leaf_counts,
            self.leaf_values,
            n_columns=self.encoder.n_columns,
            n_classes=len(self.schema.classes),
        )
        if len(self.encoder.features) != len(self.schema.features):
            mistakes.append("the encoder must have one entry for each feature of the schema")
        if mistakes:
            raise ModelFormatError("; ".join(mistakes))

    @classmethod
    def of_release(
        cls,
        forest: ReleasedForest,
        *,
        schema: DataSchema,
        plan: NoisePlan,
        seed: int,
        private_key: bool,
        searched: bool = False,
        warnings: Iterable[str] = (),
    ) -> "ForestModel":
        """Model of what a fit released.

        Args:
            forest: the release.
            schema: declarations that it was fitted with.
            plan: its noise.
            seed: structure seed.
            private_key: whether nobody knows the key of the noise; NoiseKey.private.
            searched: whether a search by exact metrics chose the fit.
            warnings: what the guarantee does not cover in this fit.
        """
        values = leaf_values(forest, plan)
        record = make_certificate(
            plan=plan, seed=seed, private_key=private_key, searched=searched, warnings=warnings
        )
        return cls(schema, forest.encoder, forest.structure, forest.leaf_counts, values, record)

    @property
    def certificate(self) -> dict[str, Any]:
        """Unit, neighbours, epsilon, delta, all mechanisms, and what was declared public."""
        return with_schema(self.record, self.schema)

    @property
    def certificate_text(self) -> str:
        """The certificate for people to read."""
        return certificate_text(self.certificate)

    @property
    def is_private(self) -> bool:
        """Whether the guarantee holds; false for ever when the noise key was known to anyone."""
        return bool(self.record.get("private", False))

    @property
    def classes(self) -> tuple[str | int | bool, ...]:
        """Declared classes."""
        return self.schema.classes

    @cached_property
    def scorer(self) -> Scorer:
        """The parts that scoring needs."""
        return Scorer(self.schema, self.encoder, self.structure, self.leaf_values)

    @property
    def nodes_of_trees(self) -> list[int]:
        """Number of nodes of each tree, split nodes and leaves."""
        leaves = np.diff(self.structure.leaf_offsets)
        return [2 * int(count) - 1 for count in leaves]

    @property
    def feature_importances(self) -> Mapping[str, float]:
        """Importance of each feature by name, from released values; see importance."""
        sigma = self.record.get("plan", {}).get("leaves", {}).get("sigma")
        return feature_importances(
            self.schema, self.encoder, self.structure, self.leaf_counts, sigma
        )

    def describe(self) -> str:
        """All trees as text: public splits and released leaf values."""
        return describe_forest(self.schema, self.encoder, self.structure, self.leaf_values)

    def predict_raw(self, batch: pa.RecordBatch) -> np.ndarray:
        """Sum over trees of what each row's leaf says: float64[n, n_classes]."""
        return self.scorer.raw(batch)

    def predict(self, data: "pd.DataFrame | np.ndarray | pa.RecordBatch | pa.Table") -> Predictions:
        """Score rows in this process.

        Args:
            data: frame or Arrow data with the schema's feature columns, in any order and beside
                any others; or a matrix [n, n_features] in the order of `schema.features`.

        Raises:
            SchemaError: a column is missing or of a type that cannot serve.
        """
        raw = [self.predict_raw(batch) for batch in self._batches(data)]
        empty = np.zeros((0, len(self.classes)))
        return Predictions(np.concatenate([empty, *raw]), self.classes)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model to a local folder; see storage.save_model."""
        from lumberjack_spark.model.storage import save_model

        save_model(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ForestModel":
        """Read a model from a local folder; see storage.load_model."""
        from lumberjack_spark.model.storage import load_model

        return load_model(path)

    def _batches(self, data: Any) -> list[pa.RecordBatch]:
        """Rows as Arrow batches whose types suit the schema."""
        if isinstance(data, np.ndarray):
            return [batch_from_numpy(data, self.schema)]
        if isinstance(data, (pa.RecordBatch, pa.Table)):
            kinds = dict(zip(data.schema.names, data.schema.types, strict=True))
            self.schema.check_columns(kinds, with_label=False)
            return [data] if isinstance(data, pa.RecordBatch) else data.to_batches()
        import pandas as pd

        if isinstance(data, pd.DataFrame):
            return [batch_from_pandas(data, self.schema)]
        kind = f"{type(data).__module__}.{type(data).__qualname__}"
        raise TypeError(
            "data must be a pandas frame, a numpy matrix or Arrow data, "
            f"got {kind}; a Spark table goes to transform"
        )

    def __repr__(self) -> str:
        trees, nodes = self.structure.num_trees, len(self.structure.nodes)
        return f"ForestModel({trees} trees, {nodes} split nodes, {len(self.classes)} classes)"
