"""Training without Spark: what tasks do, what the driver does, and a backend in one process.

marginals  private marginals: counting task, noise
tasks      routing and counting tasks, from Arrow batches to Arrow batches
fit        the driver's side: encode, count, mark, noise
local      runs the tasks in this process
"""

from lumberjack_spark.training.fit import Backend, ReleasedForest, fit_forest
from lumberjack_spark.training.local import LocalBackend
from lumberjack_spark.training.marginals import MarginalCounting, add_counts, count_marginals
from lumberjack_spark.training.tasks import Counting, Routing, count_nodes, route_rows

__all__ = [
    "Backend",
    "Counting",
    "LocalBackend",
    "MarginalCounting",
    "ReleasedForest",
    "Routing",
    "add_counts",
    "count_marginals",
    "count_nodes",
    "fit_forest",
    "route_rows",
]
