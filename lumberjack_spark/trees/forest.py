"""The pruned forest as flat arrays: public splits and released leaf statistics, nothing exact."""

from collections.abc import Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, eq=False)
class GrownTree:
    """One pruned tree: its split nodes in preorder.

    Attributes:
        features: uint16[n], codes: uint16[n], the splits.
        children: int32[n, 2], row of the left and the right child; -1 where it is a leaf.
    """

    features: np.ndarray
    codes: np.ndarray
    children: np.ndarray


def preorder(levels: np.ndarray, prefixes: np.ndarray) -> np.ndarray:
    """Order that sorts nodes parents first, left to right: int64[n]."""
    return np.lexsort((levels, *prefixes.T[::-1]))


@njit(cache=True)
def _link(levels, prefixes, children):  # type: ignore[no-untyped-def]
    last = np.zeros(levels.max() + 2, np.int64)
    for node in range(levels.size):
        level = levels[node]
        if level > 0:
            place = level - 1
            side = np.int64(
                (prefixes[node, place >> 6] >> np.uint64(63 - (place & 63))) & np.uint64(1)
            )
            children[last[place], side] = node
        last[level] = node


def grow_tree(
    levels: np.ndarray,
    prefixes: np.ndarray,
    *,
    seed: int,
    tree: int,
    max_depth: int,
    space: SplitSpace,
) -> GrownTree:
    """Build a tree from its heavy nodes, in preorder and closed under parents."""
    features, codes = splits(
        levels, prefixes, seed=seed, tree=tree, max_depth=max_depth, space=space
    )
    children = np.full((len(levels), 2), -1, np.int32)
    if len(levels):
        _link(levels, prefixes, children)
    return GrownTree(features, codes, children)


def assemble(trees: Sequence[GrownTree], space: SplitSpace) -> Structure:
    """Put trees together; the leaves of a tree are numbered as its missing children come."""
    roots = np.zeros(len(trees), np.int32)
    nodes, leaf_offsets = [np.zeros((0, 4), np.int32)], np.zeros(len(trees) + 1, np.int64)
    n_nodes, n_leaves = 0, 0
    for t, tree in enumerate(trees):
        leaf = tree.children < 0
        references = tree.children + n_nodes
        references[leaf] = ~(n_leaves + np.arange(leaf.sum(), dtype=np.int32))
        roots[t] = n_nodes if len(references) else ~n_leaves
        nodes.append(
            np.column_stack(
                (tree.features.astype(np.int32), tree.codes.astype(np.int32), references)
            )
        )
        n_nodes += len(references)
        n_leaves += max(int(leaf.sum()), 1)
        leaf_offsets[t + 1] = n_leaves
    return Structure(roots, np.concatenate(nodes).astype(np.int32), leaf_offsets, space.kinds)
