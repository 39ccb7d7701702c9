"""Differentially private random forests on Apache Spark.

Trees split at random, without looking at the data; a private search keeps the nodes that hold
enough rows; leaf statistics get noise. What comes out is safe to publish.

Start with `LumberjackClassifier` and `DataSchema`. The map, each package using only those above it:

    errors          exceptions that a caller may want to handle
    schema          what is publicly known of a table, and the rules by which its rows are read
    encoding        features as integer codes
    privacy         what privacy costs: from a budget to a plan of all noise
    noise           the only place that draws noise
    trees           random splits, routing, counting, the pruned forest
    heavy_hitters   Algorithm 1: nodes that hold many rows
    training        one fit: what tasks do, what the driver does
    model           the released model: scoring, certificate, saving; needs no Spark
    spark           the passes over Spark tables
    ml              LumberjackClassifier and LumberjackClassificationModel for pyspark.ml

Names below are loaded when they are first used: `import lumberjack_spark` is cheap and leaves
pyspark alone.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lumberjack_spark.heavy_hitters import find_heavy_hitters
    from lumberjack_spark.ml import LumberjackClassificationModel, LumberjackClassifier
    from lumberjack_spark.model import ForestModel, load_model
    from lumberjack_spark.privacy import make_plan
    from lumberjack_spark.schema import Categorical, DataSchema, IntegerRange, Numeric, Vector

__all__ = [
    "Categorical",
    "DataSchema",
    "ForestModel",
    "IntegerRange",
    "LumberjackClassificationModel",
    "LumberjackClassifier",
    "Numeric",
    "Vector",
    "find_heavy_hitters",
    "load_model",
    "make_plan",
]

_HOMES = {
    "Categorical": "schema",
    "DataSchema": "schema",
    "ForestModel": "model",
    "IntegerRange": "schema",
    "LumberjackClassificationModel": "ml",
    "LumberjackClassifier": "ml",
    "Numeric": "schema",
    "Vector": "schema",
    "find_heavy_hitters": "heavy_hitters",
    "load_model": "model",
    "make_plan": "privacy",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
