"""Private heavy hitters in a tree given by the counts of its leaves: a function usable by itself.

Adjacency  one row added or removed: one leaf's count changes by one.
Questions  at most 1 + floor(log2 height) of those asked contain any one row; what the bit table
           costs for that many is for `privacy` to say.
Labels     the root is 1, the children of i are 2i and 2i + 1; level 0 is the root.
Source     Algorithm 1 and Appendix J of the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from lumberjack_spark.heavy_hitters import prefixes
from lumberjack_spark.heavy_hitters.labels import labels_of_nodes, path_codes, whole_numbers
from lumberjack_spark.heavy_hitters.marking import run_rounds
from lumberjack_spark.heavy_hitters.prefixes import Keys
from lumberjack_spark.heavy_hitters.schedule import Part, levels_of_rounds
from lumberjack_spark.noise import NoiseKey, draw_bits
from lumberjack_spark.privacy.plan import BitTable

STAGE = "heavy_hitters.find"

LeafCounts = Mapping[int, int] | tuple[Iterable[int], Iterable[int]]


def find_heavy_hitters(
    counts: LeafCounts, *, height: int, bits: BitTable, key: NoiseKey | None = None
) -> set[int]:
    """Find the nodes of a tree that hold many rows, privately.

    The rows of a node are those of its own label and of all labels below it.

    Args:
        counts: rows by leaf label, as a mapping or as a pair (labels, counts) of equal lengths, in
            any order; the counts of a repeated label add up.  Labels are integers in
            1..2^height - 1, of any level since paths may end early; counts are integers >= 0.
        height: number of levels of the tree, 1..126: nodes on a longest path from the root.
        bits: law of the bit of each question, from a plan made for one tree of this height.
        key: None draws a fresh key, which is right for every release.  An injected one is for
            tests; no key may serve two different inputs.

    Returns:
        Labels of the Heavy nodes; with a node the set holds all its ancestors.

    Raises:
        ValueError: height, a label or a count is outside its range; the message shows none.

    A table without weights is an exact threshold, so this example is not private:

    >>> more_than_9 = BitTable(minimum_count=9, weights=np.empty(0, np.uint64))
    >>> sorted(find_heavy_hitters({4: 8, 5: 7, 3: 20, 7: 1}, height=3, bits=more_than_9))
    [1, 2, 3]
    """
    levels_of_rounds(height)  # Refuses a wrong height before anything else is read.
    leaves, rows = _sorted_leaves(counts, height)
    stream = (NoiseKey.fresh() if key is None else key).stream(STAGE)

    def ask(part: Part, parents: Keys | None) -> Keys:
        """Draw the bits of the middle level's nodes below Heavy parents; return those with a 1."""
        if parents is None:
            nodes, node_rows = count_nodes(leaves, rows, part.middle)
        else:
            below = prefixes.rows_below(leaves, parents, part.low - 1)
            nodes, node_rows = count_nodes(leaves[below], rows[below], part.middle)
        counted = node_rows > bits.minimum_count
        nodes, node_rows = nodes[counted], node_rows[counted]
        return nodes[draw_bits(stream, node_rows, bits)]

    return labels_of_nodes(run_rounds(height, ask))


def count_nodes(
    leaves: Keys, rows: NDArray[np.int64], level: int
) -> tuple[Keys, NDArray[np.int64]]:
    """Count the rows of every node of one level.

    Args:
        leaves: sorted path codes, as keys.
        rows: int64[n], rows of each.
        level: of the nodes, 0..height - 1.

    Returns:
        The nodes as sorted keys, and their rows, int64[n_nodes].
    """
    reaching = prefixes.has_bits_after(leaves, level)
    heads = prefixes.first_bits(leaves[reaching], level)
    starts = prefixes.starts_of_runs(heads)
    if not starts.size:
        return heads, np.empty(0, np.int64)
    return heads[starts], np.add.reduceat(rows[reaching], starts)


def _sorted_leaves(counts: LeafCounts, height: int) -> tuple[Keys, NDArray[np.int64]]:
    """Return the leaves' path codes, sorted, and the rows of each."""
    labels: Iterable[int]
    values: Iterable[int]
    if isinstance(counts, Mapping):
        labels, values = counts.keys(), counts.values()
    else:
        labels, values = counts
    leaves = path_codes(labels, height)
    rows = whole_numbers(values, "counts")
    if rows.shape != leaves.shape:
        raise ValueError("counts must have as many entries as labels, got another number")
    if rows.size and not (rows.min() >= 0 and int(rows.max()) < 1 << 63):
        raise ValueError("counts must be integers in 0..2^63 - 1, got another one")
    order = np.argsort(leaves, kind="stable")
    return leaves[order], rows.astype(np.int64)[order]
