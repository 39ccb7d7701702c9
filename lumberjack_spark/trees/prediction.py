"""Scoring encoded rows with a pruned forest."""

import numpy as np
from numba import njit

from lumberjack_spark.trees.forest import Structure

_BLOCK = 64  # rows walked in turn, so that the latencies of their steps overlap


@njit(cache=True)
def _sum_leaves(rows, roots, nodes, kinds, values, totals):  # type: ignore[no-untyped-def]
    """Add values[leaf] of each row's leaf in each tree to totals."""
    n = rows.shape[0]
    n_values = values.shape[1]
    any_one_of = kinds.max() != 0
    at = np.empty(_BLOCK, np.int32)
    active = np.empty(_BLOCK, np.int32)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for t in range(roots.size):
            n_active = 0
            for i in range(size):
                at[i] = roots[t]
                active[n_active] = i
                n_active += roots[t] >= 0
            while n_active > 0:
                still = 0
                for j in range(n_active):
                    i = active[j]
                    node = nodes[at[i]]
                    value = np.int32(rows[start + i, node[0]])
                    right = np.int32(value > node[1])
                    if any_one_of and kinds[node[0]] != 0:
                        right = np.int32(value != node[1])
                    at[i] = node[2 + right]
                    active[still] = i
                    still += at[i] >= 0
                n_active = still
            for i in range(size):
                leaf = ~at[i]
                for c in range(n_values):
                    totals[start + i, c] += values[leaf, c]


def sum_leaf_values(columns: np.ndarray, structure: Structure, values: np.ndarray) -> np.ndarray:
    """Sum of the values of each row's leaves over all trees.

    Args:
        columns: uint16[d, n], codes by feature and row.
        structure: the forest.
        values: float32[num_leaves, m].

    Returns:
        float64[n, m].
    """
    totals = np.zeros((columns.shape[1], values.shape[1]))
    if len(totals):
        rows = np.ascontiguousarray(columns.T)
        _sum_leaves(rows, structure.roots, structure.nodes, structure.kinds, values, totals)
    return totals
