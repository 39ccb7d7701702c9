from random import Random

import numpy as np
import pytest

from lumberjack_spark.heavy_hitters import mark_heavy_hitters
from tests.heavy_hitters.random_trees import arrays_of, nodes_of, random_bits, random_leaves
from tests.naive_heavy_hitters import NaiveMarker, path_to_root


def labels_of(levels):
    """Labels 1, 2i, 2i+1 of prefixes by level."""
    labels = []
    for level, codes in enumerate(levels):
        bits = 64 * codes.shape[1]
        for row in codes.tolist():
            code = sum(word << 64 * place for place, word in enumerate(reversed(row)))
            labels.append(1 << level | code >> (bits - level))
    return labels


def mark(bits, height, words):
    ones = {node for node, bit in bits.items() if bit}
    labels = labels_of(mark_heavy_hitters(arrays_of(ones, height, words), height))
    assert labels == sorted(set(labels))
    return set(labels)


@pytest.mark.parametrize("height", range(1, 41))
def test_marking_equals_the_literal_algorithm_given_the_same_bits(height):
    for seed in range(60):
        random = Random(f"{height} {seed}")
        nodes = nodes_of(random_leaves(random, height, paths=random.randint(1, 25)))
        bits = random_bits(random, nodes)
        naive = NaiveMarker(nodes, height, bits.__getitem__)
        assert mark(bits, height, words=1 + seed % 2) == naive.heavy()


@pytest.mark.parametrize("height", [64, 65, 66, 100, 126])
def test_marking_equals_the_literal_algorithm_in_deep_trees(height):
    for seed in range(8):
        random = Random(f"deep {height} {seed}")
        nodes = nodes_of(random_leaves(random, height, paths=12))
        bits = random_bits(random, nodes)
        naive = NaiveMarker(nodes, height, bits.__getitem__)
        assert mark(bits, height, words=2) == naive.heavy()
        if height <= 65:
            assert mark(bits, height, words=1) == naive.heavy()


@pytest.mark.parametrize("height", range(1, 41))
def test_no_row_is_in_more_questions_than_one_plus_log2_of_the_height(height):
    most = 0
    for seed in range(60):
        random = Random(f"questions {height} {seed}")
        leaves = random_leaves(random, height, paths=random.randint(1, 25))
        nodes = nodes_of(leaves)
        asked = NaiveMarker(nodes, height, random_bits(random, nodes).__getitem__).asked
        assert len(asked) == len(set(asked))
        most = max([most, *(sum(node in asked for node in path_to_root(leaf)) for leaf in leaves)])
    assert most == height.bit_length()


@pytest.mark.parametrize("height", range(1, 41))
def test_the_result_depends_on_exactly_the_bits_that_the_literal_algorithm_asks(height):
    """An asked bit decides the mark of its own node; a bit not asked decides nothing."""
    for seed in range(3):
        random = Random(f"influence {height} {seed}")
        nodes = nodes_of(random_leaves(random, height, paths=6))
        bits = random_bits(random, nodes)
        asked = set(NaiveMarker(nodes, height, bits.__getitem__).asked)
        heavy = mark(bits, height, words=1)
        deciding = {v for v in nodes if mark(bits | {v: not bits[v]}, height, 1) != heavy}
        assert deciding == asked
        redrawn = {v: bits[v] if v in asked else random.random() < 0.5 for v in sorted(nodes)}
        assert mark(redrawn, height, words=1) == heavy


@pytest.mark.parametrize("height", [1, 2, 7, 40, 126])
def test_the_heavy_set_is_closed_upwards(height):
    for seed in range(20):
        random = Random(f"closed {height} {seed}")
        nodes = nodes_of(random_leaves(random, height, paths=12))
        heavy = mark(random_bits(random, nodes), height, words=2)
        assert heavy == nodes_of(heavy)


def test_only_the_root():
    assert mark({1: True}, 1, 1) == {1}
    assert mark({1: False}, 1, 1) == set()
    assert mark({1: True}, 63, 1) == {1}


@pytest.mark.parametrize("words", [1, 2])
def test_no_ones_make_nothing_heavy(words):
    assert mark({}, 63, words) == set()


def test_all_rows_alike_make_one_path_heavy():
    leaf = 1 << 125 | 12345678901234567890
    path = set(path_to_root(leaf))
    assert mark(dict.fromkeys(path, True), 126, words=2) == path


def test_a_zero_at_the_middle_hides_the_ones_below_it_alone():
    # Height 3: the middle is level 1.  Node 2 answers 0, so node 4 is not asked; node 3 answers 1.
    bits = {1: False, 2: False, 3: True, 4: True, 7: True}
    assert mark(bits, 3, words=1) == {1, 3, 7}


def test_inputs_of_another_form_are_refused():
    empty = np.empty((0, 1), np.uint64)
    with pytest.raises(ValueError, match="must have 3 levels, got 2"):
        mark_heavy_hitters([empty, empty], 3)
    with pytest.raises(ValueError, match="same W"):
        mark_heavy_hitters([empty, np.empty((0, 2), np.uint64)], 2)
    with pytest.raises(ValueError, match="must be uint64"):
        mark_heavy_hitters([empty.astype(np.int64)], 1)
    with pytest.raises(ValueError, match="two words per prefix at height 66"):
        mark_heavy_hitters([empty] * 66, 66)
    with pytest.raises(ValueError, match="ascending"):
        mark_heavy_hitters([empty, np.array([[1 << 63], [0]], np.uint64)], 2)
    with pytest.raises(ValueError, match="ascending"):
        mark_heavy_hitters([empty, np.zeros((2, 2), np.uint64)[:, :1]], 2)
