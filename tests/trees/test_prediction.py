"""The scoring kernel against a walk of each row by itself."""

import numpy as np
import pytest

from lumberjack_spark.trees import ONE_OF, Structure, sum_leaf_values


def random_forest(rng, *, n_trees, n_columns, n_codes, most_splits):
    """A forest of random shape: split nodes in preorder, leaves from left to right."""
    nodes, roots, offsets, n_leaves = [], [], [0], 0

    def grow(splits):
        nonlocal n_leaves
        if splits == 0:
            n_leaves += 1
            return ~(n_leaves - 1)
        at = len(nodes)
        nodes.append([rng.integers(n_columns), rng.integers(n_codes), 0, 0])
        on_the_left = int(rng.integers(splits))
        nodes[at][2] = grow(on_the_left)
        nodes[at][3] = grow(splits - 1 - on_the_left)
        return at

    for _ in range(n_trees):
        roots.append(grow(int(rng.integers(most_splits + 1))))
        offsets.append(n_leaves)
    kinds = rng.integers(2, size=n_columns).astype(np.uint8)
    table = np.array(nodes, np.int32).reshape(-1, 4)
    return Structure(np.array(roots, np.int32), table, np.array(offsets), kinds)


def walk(row, root, structure):
    """The leaf that a row ends in."""
    at = root
    while at >= 0:
        column, code, left, right = structure.nodes[at]
        is_one_of = structure.kinds[column] == ONE_OF
        goes_left = row[column] == code if is_one_of else row[column] <= code
        at = left if goes_left else right
    return ~at


def naive_sums(columns, structure, values):
    """Sum of leaf values, one row and one tree at a time."""
    sums = np.zeros((columns.shape[1], values.shape[1]))
    for i, row in enumerate(columns.T):
        for root in structure.roots:
            sums[i] += values[walk(row, root, structure)]
    return sums


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_the_kernel_equals_a_walk_of_each_row(seed, n):
    rng = np.random.default_rng(seed)
    structure = random_forest(rng, n_trees=4, n_columns=3, n_codes=6, most_splits=12)
    columns = rng.integers(8, size=(3, n)).astype(np.uint16)
    values = rng.random((structure.num_leaves, 3)).astype(np.float32)
    found = sum_leaf_values(columns, structure, values)
    assert (found == naive_sums(columns, structure, values)).all()


def test_a_row_scores_the_same_beside_any_others():
    rng = np.random.default_rng(3)
    structure = random_forest(rng, n_trees=9, n_columns=3, n_codes=6, most_splits=40)
    columns = rng.integers(8, size=(3, 40_000)).astype(np.uint16)
    values = rng.random((structure.num_leaves, 2)).astype(np.float32)
    whole = sum_leaf_values(columns, structure, values)
    for part in (slice(0, 1), slice(7, 1000), slice(30_000, 40_000)):
        assert (sum_leaf_values(columns[:, part], structure, values) == whole[part]).all()


def test_codes_beyond_15_bits_are_not_signed():
    nodes = np.array([[0, 40_000, ~0, ~1]], np.int32)
    structure = Structure(np.zeros(1, np.int32), nodes, np.array([0, 2]), np.zeros(1, np.uint8))
    columns = np.array([[0, 39_999, 40_000, 40_001, 65_535]], np.uint16)
    values = np.array([[1], [2]], np.float32)
    assert sum_leaf_values(columns, structure, values).ravel().tolist() == [1, 1, 1, 2, 2]


def test_arrays_that_may_not_be_written_serve_too():
    nodes = np.array([[0, 3, ~0, ~1]], np.int32)
    structure = Structure(np.zeros(1, np.int32), nodes, np.array([0, 2]), np.zeros(1, np.uint8))
    columns, values = np.array([[1, 5]], np.uint16), np.array([[1], [2]], np.float32)
    for array in (nodes, structure.roots, structure.kinds, columns, values):
        array.flags.writeable = False
    assert sum_leaf_values(columns, structure, values).ravel().tolist() == [1, 2]
