"""Whether the parts of a forest fit together, so that scoring cannot leave its arrays or loop."""

import numpy as np

from lumberjack_spark.trees import MAX_DEPTH, Structure
from lumberjack_spark.trees.forest import FEATURE, LEFT, RIGHT

_ARRAYS = {"roots": np.int32, "nodes": np.int32, "leaf_offsets": np.int64, "kinds": np.uint8}


def forest_mistakes(
    structure: Structure,
    leaf_counts: np.ndarray,
    leaf_values: np.ndarray,
    *,
    n_columns: int,
    n_classes: int,
) -> list[str]:
    """What is wrong with a forest, one line each; see Structure for its rules."""
    found = [
        f"array {name} must be of type {np.dtype(kind).name}"
        for name, kind in _ARRAYS.items()
        if getattr(structure, name).dtype != kind
    ]
    if found:
        return found
    nodes, offsets = structure.nodes, structure.leaf_offsets
    if nodes.ndim != 2 or nodes.shape[1] != 4 or len(offsets) != len(structure.roots) + 1:
        return ["arrays roots, nodes and leaf_offsets must have the shapes of a forest"]
    if offsets[0] != 0 or (np.diff(offsets) < 1).any():
        return ["array leaf_offsets must start at 0 and give each tree a leaf"]
    if structure.kinds.shape != (n_columns,):
        found.append("array kinds must have an entry for each column of the encoder")
    if not _within(nodes[:, FEATURE], 0, n_columns):
        found.append("split nodes must name a column of the encoder")
    found += _reference_mistakes(structure)
    shape = (structure.num_leaves, n_classes)
    if leaf_counts.shape != shape or leaf_counts.dtype != np.int64:
        found.append("array leaf_counts must be int64 with a row for each leaf, a column a class")
    if leaf_values.shape != shape or leaf_values.dtype != np.float32:
        found.append("array leaf_values must be float32 with a row for each leaf, a column a class")
    elif not np.isfinite(leaf_values).all() or (leaf_values < 0).any():
        found.append("array leaf_values must be finite and >= 0")
    return found


def _reference_mistakes(structure: Structure) -> list[str]:
    """References that lead out of the arrays, meet or go too deep."""
    n_nodes, n_leaves = len(structure.nodes), structure.num_leaves
    references = np.concatenate([structure.roots, structure.nodes[:, [LEFT, RIGHT]].ravel()])
    if not _within(references, -n_leaves, n_nodes):
        return ["references must be nodes or leaves of the forest"]
    # Shifted, so that leaves count from 0 and nodes from n_leaves.
    if (np.bincount(references + n_leaves, minlength=n_leaves + n_nodes) != 1).any():
        return ["every node and leaf must be referred to once"]
    reached = structure.roots
    for _ in range(MAX_DEPTH + 1):
        reached = structure.nodes[reached[reached >= 0]][:, [LEFT, RIGHT]].ravel()
    if len(reached):
        return [f"paths must have at most {MAX_DEPTH} split nodes"]
    return []


def _within(values: np.ndarray, low: int, high: int) -> bool:
    """Whether all values are >= low and < high."""
    return not len(values) or bool(values.min() >= low and values.max() < high)
