"""Private heavy hitters in a tree: which nodes hold many rows (Algorithm 1 of the paper).

The tree has levels 0..height-1, so height nodes on a longest path.  A binary search over levels
asks one bit per node, "does it hold many rows?": first at the middle level.  A 1 marks the node and
all its ancestors Heavy; below a 0 nothing is asked.  Then the parts below Heavy nodes and the part
above the middle are searched the same way.  A row takes part in at most 1 + floor(log2 height)
questions, since on its path each answer leaves only one of the two parts open.  Each bit is drawn
by `noise`, and `privacy` knows what that many bits cost; this package does neither.

schedule   the rounds: which levels are asked, and in which part of the tree
prefixes   sorted sets of node labels as arrays
marking    Algorithm 1 over such sets, round by round
labels     labels 1, 2i, 2i+1 into sorted path codes, and back
search     find_heavy_hitters: the whole search over counts of leaves, usable by itself
"""

from lumberjack_spark.heavy_hitters.marking import mark_heavy_hitters
from lumberjack_spark.heavy_hitters.schedule import Part, levels_of_rounds
from lumberjack_spark.heavy_hitters.search import find_heavy_hitters

__all__ = [
    "Part",
    "find_heavy_hitters",
    "levels_of_rounds",
    "mark_heavy_hitters",
]
