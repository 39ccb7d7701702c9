"""Training without Spark: what tasks do, what the driver does, and a backend in one process.

tasks   plain functions from Arrow batches to Arrow batches
fit     the driver's side: encode, count, mark, noise
local   runs the tasks in this process
"""

from lumberjack_spark.training.fit import Backend, ReleasedForest, fit_forest
from lumberjack_spark.training.local import LocalBackend
from lumberjack_spark.training.tasks import Counting, Routing, count_nodes, route_rows

__all__ = [
    "Backend",
    "Counting",
    "LocalBackend",
    "ReleasedForest",
    "Routing",
    "count_nodes",
    "fit_forest",
    "route_rows",
]
