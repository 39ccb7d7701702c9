"""Splits that parted nothing are taken out of a forest, by its released counts alone.

Random splits often send all rows of a node one way. Where the noisy counts of a leaf say that it is
empty or nearly so, its parent is replaced by the other child: whoever lands there is judged with
the rows next door instead of by noise. Post-processing of released values; it costs no budget.
"""

from typing import Any

import numpy as np
from numba import njit

from lumberjack_spark.trees.forest import LEFT, RIGHT, Structure


@njit(cache=True)
def _resolve(nodes: Any, empty: Any, standing: Any, kept: Any, roots: Any) -> None:
    """Find what takes the place of each node (standing), and which nodes stay (kept).

    Parents come before children in nodes, whose references are changed to what stands there.
    """
    for i in range(nodes.shape[0] - 1, -1, -1):
        for side in (LEFT, RIGHT):
            child = nodes[i, side]
            if child >= 0:
                nodes[i, side] = standing[child]
        left, right = nodes[i, LEFT], nodes[i, RIGHT]
        no_left = left < 0 and empty[~left]
        no_right = right < 0 and empty[~right]
        standing[i] = i
        if no_left and not no_right:
            standing[i] = right
        elif no_right and not no_left:
            standing[i] = left
    for t in range(roots.size):
        if roots[t] >= 0:
            roots[t] = standing[roots[t]]
            if roots[t] >= 0:
                kept[roots[t]] = True
    for i in range(nodes.shape[0]):
        if kept[i]:
            for side in (LEFT, RIGHT):
                if nodes[i, side] >= 0:
                    kept[nodes[i, side]] = True


def drop_empty_leaves(
    structure: Structure, leaf_counts: np.ndarray, *, limit: float
) -> tuple[Structure, np.ndarray]:
    """Take out every leaf with a noisy total below limit, unless its sibling is one too.

    Args:
        structure: the forest, nodes of a tree in preorder.
        leaf_counts: int64[num_leaves, n_classes], released counts.
        limit: in rows; about the standard deviation of a leaf's noisy total.

    Returns:
        The shorter forest, and the counts of the leaves that stay.
    """
    nodes, roots = structure.nodes.copy(), structure.roots.copy()
    kept = np.zeros(len(nodes), np.bool_)
    standing = np.zeros(len(nodes), np.int32)
    _resolve(nodes, leaf_counts.sum(axis=1) < limit, standing, kept, roots)
    nodes = nodes[kept]
    references = np.concatenate((roots, nodes[:, LEFT:].ravel()))
    leaves = np.sort(~references[references < 0])
    new_node, new_leaf = np.cumsum(kept) - 1, np.zeros(len(leaf_counts), np.int64)
    new_leaf[leaves] = np.arange(len(leaves))

    def renumbered(old: np.ndarray) -> np.ndarray:
        is_node = old >= 0
        new = np.empty(old.shape, np.int32)
        new[is_node] = new_node[old[is_node]]
        new[~is_node] = ~new_leaf[~old[~is_node]]
        return new

    nodes[:, LEFT:] = renumbered(nodes[:, LEFT:])
    offsets = np.searchsorted(leaves, structure.leaf_offsets)
    shorter = Structure(renumbered(roots), nodes, offsets, structure.kinds)
    return shorter, leaf_counts[leaves]
