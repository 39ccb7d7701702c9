"""The pruned forest as flat arrays: public splits and released leaf statistics, nothing exact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from lumberjack_spark.trees.paths import splits
from lumberjack_spark.trees.space import SplitSpace

FEATURE, CODE, LEFT, RIGHT = range(4)


@dataclass(frozen=True, eq=False)
class Structure:
    """Split nodes of all trees.

    A reference >= 0 is a row of nodes; a reference r < 0 is leaf ~r. The leaves of tree t are
    leaf_offsets[t]..leaf_offsets[t + 1] - 1, in preorder of their parents.

    Attributes:
        roots: int32[k], reference of each tree's root; a tree whose root is Light is one leaf.
        nodes: int32[n, 4], feature, code, left and right reference of each split node.
        leaf_offsets: int64[k + 1].
        kinds: uint8[d], ORDERED (left iff code of the row <= code) or ONE_OF (iff equal).
    """

    roots: np.ndarray
    nodes: np.ndarray
    leaf_offsets: np.ndarray
    kinds: np.ndarray

    @property
    def num_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def num_leaves(self) -> int:
        """Number of leaves of all trees."""
        return int(self.leaf_offsets[-1])


def preorder(levels: np.ndarray, prefixes: np.ndarray) -> np.ndarray:
    """Order that sorts nodes parents first, left to right: int64[n]."""
    return np.lexsort((levels, *prefixes.T[::-1]))


@njit(cache=True)
def _link(levels: Any, prefixes: Any, nodes: Any) -> None:
    """Fill the references of nodes; a child that is not among them is the next leaf."""
    last = np.zeros(levels.max() + 2, np.int64)
    for node in range(levels.size):
        level = levels[node]
        if level > 0:
            place = level - 1
            bit = prefixes[node, place >> 6] >> np.uint64(63 - (place & 63))
            nodes[last[place], LEFT + np.int64(bit & np.uint64(1))] = node
        last[level] = node
    leaves = 0
    for node in range(levels.size):
        for side in (LEFT, RIGHT):
            if nodes[node, side] < 0:
                nodes[node, side] = ~leaves
                leaves += 1


def grow_tree(
    levels: np.ndarray,
    prefixes: np.ndarray,
    *,
    seed: int,
    tree: int,
    max_depth: int,
    space: SplitSpace,
) -> Structure:
    """Build the structure of one tree from its heavy nodes, in preorder and closed under parents.

    Leaves are numbered as the missing children of the nodes come, left before right.
    """
    features, codes = splits(
        levels, prefixes, seed=seed, tree=tree, max_depth=max_depth, space=space
    )
    nodes = np.full((len(levels), 4), -1, np.int32)
    nodes[:, FEATURE], nodes[:, CODE] = features, codes
    if len(levels):
        _link(levels, prefixes, nodes)
    root = np.array([0 if len(levels) else -1], np.int32)
    return Structure(root, nodes, np.array([0, len(levels) + 1]), space.kinds)


def join_trees(trees: Sequence[Structure]) -> Structure:
    """Put forests together, in order; there must be one at least."""
    n_nodes = np.cumsum([0, *(len(tree.nodes) for tree in trees)])
    n_leaves = np.cumsum([0, *(tree.num_leaves for tree in trees)])

    def moved(references: np.ndarray, tree: int) -> np.ndarray:
        """References of one of the forests, as they are in the joint one."""
        shift = np.where(references >= 0, n_nodes[tree], -n_leaves[tree])
        new: np.ndarray = (references + shift).astype(np.int32)
        return new

    nodes = np.concatenate([tree.nodes for tree in trees])
    for i, tree in enumerate(trees):
        nodes[n_nodes[i] : n_nodes[i + 1], LEFT:] = moved(tree.nodes[:, LEFT:], i)
    offsets = [tree.leaf_offsets[:-1] + first for tree, first in zip(trees, n_leaves, strict=False)]
    return Structure(
        np.concatenate([moved(tree.roots, i) for i, tree in enumerate(trees)]),
        nodes,
        np.append(np.concatenate(offsets), n_leaves[-1]),
        trees[0].kinds,
    )
