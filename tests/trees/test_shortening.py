import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lumberjack_spark.trees import SplitSpace, Structure, drop_empty_leaves, join_trees
from lumberjack_spark.trees.prediction import sum_leaf_values

SPACE = SplitSpace.of([np.arange(64), np.arange(64), np.arange(64)])


def random_tree(rng, n_nodes):
    """A tree of n_nodes splits in preorder; not every split can part rows."""
    children = np.full((n_nodes, 2), -1, np.int32)
    free = [(0, 0), (0, 1)] if n_nodes else []
    tree = {}
    for node in range(1, n_nodes):
        tree[node] = free.pop(rng.integers(len(free)))
        free += [(node, 0), (node, 1)]
    for node, (parent, side) in tree.items():
        children[parent, side] = node
    order, stack = [], [0] if n_nodes else []
    while stack:
        node = stack.pop()
        order.append(node)
        stack += [c for c in children[node][::-1] if c >= 0]
    place = np.argsort(order).astype(np.int32) if order else np.zeros(0, np.int32)
    moved = children[order]
    moved[moved >= 0] = place[moved[moved >= 0]]
    moved[moved < 0] = ~np.arange(n_nodes + 1)
    nodes = np.column_stack(
        (rng.integers(0, 3, n_nodes), rng.integers(0, 63, n_nodes), moved)
    ).astype(np.int32)
    root = np.array([0 if n_nodes else -1], np.int32)
    return Structure(root, nodes, np.array([0, n_nodes + 1]), SPACE.kinds)


def naive_leaf(structure, empty, reference, row):
    """The leaf of a row where a split with one empty leaf is skipped."""

    def resolve(ref):
        if ref < 0:
            return ("leaf", ~ref, bool(empty[~ref]))
        feature, code, left, right = structure.nodes[ref]
        a, b = resolve(left), resolve(right)
        a_empty, b_empty = (x[0] == "leaf" and x[2] for x in (a, b))
        if a_empty != b_empty:
            return b if a_empty else a
        return ("node", feature, code, a, b)

    at = resolve(reference)
    while at[0] == "node":
        at = at[3] if row[at[1]] <= at[2] else at[4]
    return at[1]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from([0, 1, 2, 15]))
def test_rows_skip_splits_with_one_empty_leaf(seed, n_nodes):
    rng = np.random.default_rng(seed)
    structure = join_trees([random_tree(rng, n_nodes), random_tree(rng, 3)])
    counts = rng.integers(-5, 20, (structure.num_leaves, 2))
    empty = counts.sum(axis=1) < 10
    shorter, kept = drop_empty_leaves(structure, counts, limit=10)
    columns = rng.integers(0, 64, (3, 40)).astype(np.uint16)
    for tree in range(2):
        wanted = np.array(
            [counts[naive_leaf(structure, empty, structure.roots[tree], r)] for r in columns.T]
        )
        first, last = shorter.leaf_offsets[tree : tree + 2]
        values = np.zeros((len(kept), 2), np.float32)
        values[first:last] = kept[first:last]
        assert np.array_equal(sum_leaf_values(columns, shorter, values), wanted)
    assert len(shorter.nodes) <= len(structure.nodes)


def test_nothing_is_dropped_below_every_count():
    rng = np.random.default_rng(4)
    structure = join_trees([random_tree(rng, 20)])
    counts = rng.integers(0, 20, (structure.num_leaves, 3))
    shorter, kept = drop_empty_leaves(structure, counts, limit=-1)
    assert np.array_equal(shorter.nodes, structure.nodes)
    assert np.array_equal(kept, counts)
