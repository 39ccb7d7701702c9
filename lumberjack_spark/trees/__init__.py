"""Random trees: routing rows, counting nodes, the pruned forest. No budget, no noise, no Spark.

space       SplitSpace: what random splits can choose from
paths       splits as a function of (seed, tree, path)
routing     rows -> path codes
runs        sorted runs of path codes: made, packed, merged
counting    node counts as a stream over sorted codes
forest      the pruned forest as flat arrays
prediction  scoring encoded rows
"""

from lumberjack_spark.trees.counting import NodeCounter, NodeRecords
from lumberjack_spark.trees.forest import Structure, grow_tree, join_trees, preorder
from lumberjack_spark.trees.paths import MAX_DEPTH
from lumberjack_spark.trees.prediction import sum_leaf_values
from lumberjack_spark.trees.routing import code_words, route
from lumberjack_spark.trees.runs import (
    MAX_CHUNK_ROWS,
    MAX_CLASSES,
    DistinctRows,
    Run,
    merge_runs,
    merge_stream,
)
from lumberjack_spark.trees.space import ONE_OF, ORDERED, SplitSpace

__all__ = [
    "MAX_CHUNK_ROWS",
    "MAX_CLASSES",
    "MAX_DEPTH",
    "ONE_OF",
    "ORDERED",
    "DistinctRows",
    "NodeCounter",
    "NodeRecords",
    "Run",
    "SplitSpace",
    "Structure",
    "code_words",
    "grow_tree",
    "join_trees",
    "merge_runs",
    "merge_stream",
    "preorder",
    "route",
    "sum_leaf_values",
]
