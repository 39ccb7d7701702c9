import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumberjack_spark.trees import grow_tree, join_trees, preorder, sum_leaf_values
from tests.naive_trees import path_of
from tests.trees.strategies import cases


def heavy_nodes(paths: list[str], least: int) -> list[str]:
    nodes = {path[:level] for path in paths for level in range(len(path))}
    return [n for n in nodes if sum(p.startswith(n) for p in paths) >= least]


def labels_of(nodes: list[str], n_words: int) -> tuple[np.ndarray, np.ndarray]:
    prefixes = np.zeros((len(nodes), n_words), np.uint64)
    for i, node in enumerate(nodes):
        bits = node.ljust(64 * n_words, "0")
        prefixes[i] = [int(bits[64 * w : 64 * w + 64], 2) for w in range(n_words)]
    return np.array([len(n) for n in nodes], np.int64), prefixes


@settings(max_examples=40)
@given(cases(), st.sampled_from([1, 3, 1000]))
def test_scored_rows_reach_the_leaf_of_their_path(case, least):
    trees, leaves = [], []
    for tree in range(2):
        shape = {**case.shape, "tree": tree}
        paths = [path_of(row, **shape) for row in case.columns.T]
        heavy = set(heavy_nodes(paths, least))
        levels, prefixes = labels_of(sorted(heavy), 1 if case.max_depth < 64 else 2)
        order = preorder(levels, prefixes)
        trees.append(grow_tree(levels[order], prefixes[order], **shape))
        leaves.append(
            [next((p[:i] for i in range(len(p) + 1) if p[:i] not in heavy), p) for p in paths]
        )
    structure = join_trees(trees)
    for tree in range(2):
        first, last = structure.leaf_offsets[tree : tree + 2]
        values = np.zeros((structure.num_leaves, last - first), np.float32)
        values[first:last] = np.eye(last - first)
        reached = sum_leaf_values(case.columns, structure, values).argmax(axis=1)
        # Same leaf for the same path end, another leaf for another.
        pairs = set(zip(reached.tolist(), leaves[tree], strict=True))
        assert len(pairs) == len(set(leaves[tree])) == len(set(reached.tolist()))


def test_a_light_root_is_the_only_leaf(any_space):
    empty = (np.zeros(0, np.int64), np.zeros((0, 1), np.uint64))
    tree = grow_tree(*empty, seed=0, tree=0, max_depth=5, space=any_space)
    structure = join_trees([tree, tree])
    assert structure.roots.tolist() == [-1, -2]
    values = np.array([[1.0], [10.0]], np.float32)
    columns = np.zeros((any_space.n_features, 3), np.uint16)
    assert sum_leaf_values(columns, structure, values).tolist() == [[11.0]] * 3


@pytest.fixture
def any_space():
    from lumberjack_spark.trees import SplitSpace

    return SplitSpace.of([np.arange(10), 3])
