"""Training without Spark: what tasks do, what the driver does, and a backend in one process.

reading    rows read once, as cells
marginals  private marginals: counts and noise
tasks      routing and counting tasks
fit        the driver's side: encode, count, mark, noise
local      runs the tasks in this process
"""

from lumberjack_spark.training.fit import Backend, CellTable, ReleasedForest, fit_forest
from lumberjack_spark.training.local import LocalBackend, LocalCells
from lumberjack_spark.training.marginals import CellCounts, count_pairs
from lumberjack_spark.training.reading import Reading, read_blocks, read_rows
from lumberjack_spark.training.tasks import Counting, Routing, count_nodes, route_rows

__all__ = [
    "Backend",
    "CellCounts",
    "CellTable",
    "Counting",
    "LocalBackend",
    "LocalCells",
    "Reading",
    "ReleasedForest",
    "Routing",
    "count_nodes",
    "count_pairs",
    "fit_forest",
    "read_blocks",
    "read_rows",
    "route_rows",
]
