"""Parameters of training, as pyspark.ml keeps them: plain values that can be saved as JSON."""

from collections.abc import Mapping
from typing import Any, Self

from pyspark.ml.param import Param, Params, TypeConverters

from lumberjack_spark.schema import DataSchema


def to_schema_dict(value: object) -> dict[str, Any]:
    """Plain values of a schema; all its mistakes are named at once.

    Raises:
        SchemaError: the declarations are wrong.
        TypeError: value is neither a DataSchema nor a mapping.
    """
    if isinstance(value, DataSchema):
        return value.to_dict()
    if isinstance(value, Mapping):
        return DataSchema.from_dict(value).to_dict()
    raise TypeError(f"schema must be a DataSchema or its to_dict(), got {type(value).__name__}")


class TrainingParams(Params):
    """What a fit is asked to do; values and their ranges are judged when it starts."""

    schema: Param[Mapping[str, Any]] = Param(
        Params._dummy(),
        "schema",
        "public declarations of features, label and classes; a DataSchema or its to_dict()",
        to_schema_dict,
    )
    epsilon: Param[float] = Param(
        Params._dummy(),
        "epsilon",
        "privacy budget epsilon of one fit, in nats; > 0, no default",
        TypeConverters.toFloat,
    )
    delta: Param[float] = Param(
        Params._dummy(),
        "delta",
        "privacy budget delta of one fit; > 0 and < 1, no default",
        TypeConverters.toFloat,
    )
    numTrees: Param[int] = Param(
        Params._dummy(), "numTrees", "number of trees, 1 to 10000", TypeConverters.toInt
    )
    maxDepth: Param[int] = Param(
        Params._dummy(),
        "maxDepth",
        "largest number of splits on a path, 1 to 126",
        TypeConverters.toInt,
    )
    leafMode: Param[str] = Param(
        Params._dummy(),
        "leafMode",
        "'proportions' (noisy class counts) or 'majority' (one drawn label a leaf)",
        TypeConverters.toString,
    )
    accountant: Param[str] = Param(
        Params._dummy(),
        "accountant",
        "'exact' or 'theorem6' (the paper's)",
        TypeConverters.toString,
    )
    threshold: Param[str] = Param(
        Params._dummy(),
        "threshold",
        "'table' (least noise) or 'gaussian' (the paper's, and the only one with theorem6)",
        TypeConverters.toString,
    )
    neighbors: Param[str] = Param(
        Params._dummy(),
        "neighbors",
        "'add_remove' (one row more or less) or 'replace_one' (one row changed)",
        TypeConverters.toString,
    )
    minExactCount: Param[int] = Param(
        Params._dummy(),
        "minExactCount",
        "nodes of so few rows are never kept; the threshold rises by it; 0 is the paper's",
        TypeConverters.toInt,
    )
    leafShare: Param[float] = Param(
        Params._dummy(),
        "leafShare",
        "part of the spending that goes to the leaves; exact accountant only",
        TypeConverters.toFloat,
    )
    encodingShare: Param[float] = Param(
        Params._dummy(),
        "encodingShare",
        "part of the spending of the encoder's private marginals; 0 for none",
        TypeConverters.toFloat,
    )
    structureFraction: Param[float] = Param(
        Params._dummy(),
        "structureFraction",
        "part of epsilon and delta that goes to the trees; theorem6 only",
        TypeConverters.toFloat,
    )
    seed: Param[int] = Param(
        Params._dummy(),
        "seed",
        "seed of the trees' structure, public; 0 <= seed < 2^63. Noise has no seed",
        TypeConverters.toInt,
    )
    materializeDir: Param[str] = Param(
        Params._dummy(),
        "materializeDir",
        "folder for a copy to train from, removed afterwards; '' trains from the table itself",
        TypeConverters.toString,
    )

    def setSchema(self, value: DataSchema | Mapping[str, Any]) -> Self:
        """Set the declarations that were set."""
        return self._set(schema=value)

    def getSchema(self) -> DataSchema:
        """Declarations that were set."""
        return DataSchema.from_dict(self.getOrDefault(self.schema))

    def setEpsilon(self, value: float) -> Self:
        """Set the privacy budget epsilon."""
        return self._set(epsilon=value)

    def getEpsilon(self) -> float:
        """Privacy budget epsilon."""
        return self.getOrDefault(self.epsilon)

    def setDelta(self, value: float) -> Self:
        """Set the privacy budget delta."""
        return self._set(delta=value)

    def getDelta(self) -> float:
        """Privacy budget delta."""
        return self.getOrDefault(self.delta)

    def setNumTrees(self, value: int) -> Self:
        """Set the number of trees."""
        return self._set(numTrees=value)

    def getNumTrees(self) -> int:
        """Number of trees."""
        return self.getOrDefault(self.numTrees)

    def setMaxDepth(self, value: int) -> Self:
        """Set the largest number of splits on a path."""
        return self._set(maxDepth=value)

    def getMaxDepth(self) -> int:
        """Largest number of splits on a path."""
        return self.getOrDefault(self.maxDepth)

    def setLeafMode(self, value: str) -> Self:
        """Set the what a leaf releases."""
        return self._set(leafMode=value)

    def getLeafMode(self) -> str:
        """What a leaf releases."""
        return self.getOrDefault(self.leafMode)

    def setAccountant(self, value: str) -> Self:
        """Set the how the budget is accounted for."""
        return self._set(accountant=value)

    def getAccountant(self) -> str:
        """How the budget is accounted for."""
        return self.getOrDefault(self.accountant)

    def setThreshold(self, value: str) -> Self:
        """Set the law of the threshold bits."""
        return self._set(threshold=value)

    def getThreshold(self) -> str:
        """Law of the threshold bits."""
        return self.getOrDefault(self.threshold)

    def setNeighbors(self, value: str) -> Self:
        """Set the which tables are neighbours."""
        return self._set(neighbors=value)

    def getNeighbors(self) -> str:
        """Which tables are neighbours."""
        return self.getOrDefault(self.neighbors)

    def setMinExactCount(self, value: int) -> Self:
        """Set the rows below which no node is kept."""
        return self._set(minExactCount=value)

    def getMinExactCount(self) -> int:
        """Rows below which no node is kept."""
        return self.getOrDefault(self.minExactCount)

    def setLeafShare(self, value: float) -> Self:
        """Set the part of the spending for leaves."""
        return self._set(leafShare=value)

    def getLeafShare(self) -> float:
        """Part of the spending for leaves."""
        return self.getOrDefault(self.leafShare)

    def setEncodingShare(self, value: float) -> Self:
        """Set the part of the spending for the encoder."""
        return self._set(encodingShare=value)

    def getEncodingShare(self) -> float:
        """Part of the spending for the encoder."""
        return self.getOrDefault(self.encodingShare)

    def setStructureFraction(self, value: float) -> Self:
        """Set the part of the budget for trees."""
        return self._set(structureFraction=value)

    def getStructureFraction(self) -> float:
        """Part of the budget for trees."""
        return self.getOrDefault(self.structureFraction)

    def setSeed(self, value: int) -> Self:
        """Set the structure seed."""
        return self._set(seed=value)

    def getSeed(self) -> int:
        """Structure seed."""
        return self.getOrDefault(self.seed)

    def setMaterializeDir(self, value: str) -> Self:
        """Set the folder of the copy to train from."""
        return self._set(materializeDir=value)

    def getMaterializeDir(self) -> str:
        """Folder of the copy to train from."""
        return self.getOrDefault(self.materializeDir)
