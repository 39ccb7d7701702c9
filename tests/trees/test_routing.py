import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lumberjack_spark.trees import ONE_OF, SplitSpace, code_words, route
from lumberjack_spark.trees.paths import splits
from tests.naive_trees import Node, path_code, path_of
from tests.trees.strategies import Case, cases


def naive_paths(case: Case) -> list[str]:
    return [
        path_of(row, case.space, seed=case.seed, tree=case.tree, max_depth=case.max_depth)
        for row in case.columns.T.astype(int)
    ]


@settings(max_examples=60)
@given(cases())
def test_codes_equal_a_walk_of_each_row_alone(case):
    order, codes = route(case.columns, **case.shape)
    paths = naive_paths(case)
    assert sorted(order) == list(range(case.columns.shape[1]))
    expected = [path_code(paths[i], code_words(case.max_depth)) for i in order]
    assert codes.tolist() == expected
    assert codes.tolist() == sorted(codes.tolist())


@settings(max_examples=20)
@given(cases())
def test_one_more_row_moves_no_other_row(case):
    order, codes = route(case.columns, **case.shape)
    less_order, less_codes = route(case.columns[:, 1:], **case.shape)
    keep = order != 0
    assert np.array_equal(codes[keep], less_codes[np.argsort(less_order)][order[keep] - 1])


@settings(max_examples=40)
@given(cases(), st.integers(1, 63), st.integers(0, 2**31))
def test_only_rows_within_the_given_nodes_are_walked(case, level, seed):
    if level >= case.max_depth:
        return
    order, codes = route(case.columns, **case.shape)
    heads = codes[:, 0] >> np.uint64(64 - level) << np.uint64(64 - level)
    walked_on = (codes[:, 0] != heads) | (codes.shape[1] == 2)
    lengths = np.array([len(path) for path in naive_paths(case)])[order]
    nodes = np.unique(heads[lengths > level])
    chosen = nodes[np.random.default_rng(seed).random(len(nodes)) < 0.5]
    got_order, got = route(case.columns, **case.shape, within=chosen, within_level=level)
    keep = np.isin(heads, chosen) & (lengths > level)
    assert walked_on[keep].all()
    assert np.array_equal(got, codes[keep])
    assert sorted(got_order.tolist()) == sorted(order[keep].tolist())


@settings(max_examples=40)
@given(cases())
def test_splits_of_nodes_are_those_that_rows_met(case):
    paths = naive_paths(case)
    nodes = sorted({path[:level] for path in paths for level in range(len(path))})
    n_words = code_words(case.max_depth)
    prefixes = np.zeros((len(nodes), n_words), np.uint64)
    for i, node in enumerate(nodes):
        bits = node.ljust(64 * n_words, "0")
        prefixes[i] = [int(bits[64 * w : 64 * w + 64], 2) for w in range(n_words)]
    levels = np.array([len(node) for node in nodes], np.int64)
    features, codes = splits(levels, prefixes, **case.shape)
    expected = [Node(case.space, case.seed, case.tree, node).split() for node in nodes]
    assert list(zip(features.tolist(), codes.tolist(), strict=True)) == [e[1:] for e in expected]


def test_every_threshold_has_possible_codes_on_both_sides():
    possible = [np.array([0, 1000]), np.array([5, 7, 300]), 2]
    space = SplitSpace.of(possible)
    for tree in range(50):
        node = Node(space, 3, tree, "")
        while (found := node.split()) is not None:
            _, feature, code = found
            if space.kinds[feature] != ONE_OF:
                inside = [
                    c for c in possible[feature] if node.low[feature] <= c <= node.high[feature]
                ]
                assert min(inside) <= code < max(inside)
            node.step(right=True)


def test_features_and_thresholds_are_drawn_evenly():
    space = SplitSpace.of([np.arange(100), np.arange(100), 4, 1])
    draws = [Node(space, seed, tree, "").split() for seed in range(40) for tree in range(100)]
    features = np.bincount([d[1] for d in draws], minlength=4) / len(draws)
    # Hoeffding at 1e-9 for 4,000 draws: 0.052.
    assert np.abs(features - 0.25).max() < 0.052
    codes = np.array([d[2] for d in draws if d[1] < 2])
    assert abs((codes < 50).mean() - 50 / 99) < 0.08


def test_a_path_ends_where_nothing_is_left_to_split_on():
    space = SplitSpace.of([np.array([0, 1]), 1])
    columns = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.uint16)
    _, codes = route(columns, seed=0, tree=0, max_depth=63, space=space)
    assert len(np.unique(codes)) == 4
    lengths = {format(int(code), "064b").rindex("1") for code in codes[:, 0]}
    assert lengths == {2}


def test_one_value_everywhere_makes_an_empty_path():
    space = SplitSpace.of([np.array([4])])
    _, codes = route(np.full((1, 5), 4, np.uint16), seed=1, tree=0, max_depth=10, space=space)
    assert codes[:, 0].tolist() == [1 << 63] * 5


def test_ten_thousand_categories_fit_in_linear_memory():
    space = SplitSpace.of([10_000])
    columns = (np.arange(20_000) % 10_002).astype(np.uint16)[None]
    for max_depth in (63, 100):
        order, codes = route(columns, seed=2, tree=1, max_depth=max_depth, space=space)
        assert len(order) == len(codes) == 20_000
