import itertools
from collections import Counter
from random import Random
from time import process_time

import numpy as np
import pytest

from lumberjack_spark.heavy_hitters import find_heavy_hitters, levels_of_rounds
from lumberjack_spark.heavy_hitters.search import STAGE
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable
from tests.heavy_hitters.random_trees import nodes_of, random_leaves
from tests.naive_heavy_hitters import NaiveMarker, level_of, node_counts, path_to_root
from tests.stats import clopper_pearson

KEY = NoiseKey.injected(b"an injected key for the tests...")
DEEP = [63, 64, 65, 100, 126]


def table(minimum_count, *chances):
    weights = np.array([int(chance * 2**64) for chance in chances], np.uint64)
    return BitTable(minimum_count=minimum_count, weights=weights)


def bits_of_the_key(leaves, height, bit_table, key):
    """Bits in the order of the search: by rounds, parts and labels; below Heavy parents only."""
    counts, stream = node_counts(leaves), key.stream(STAGE)
    bits, heavy = {}, set()
    for part in itertools.chain.from_iterable(levels_of_rounds(height)):
        for node in sorted(node for node in counts if level_of(node) == part.middle):
            below_heavy = part.low == 0 or node >> (part.middle - part.low + 1) in heavy
            if below_heavy and counts[node] > bit_table.minimum_count:
                place = counts[node] - bit_table.minimum_count - 1
                word = int(stream.take(1)[0])
                certain = place >= bit_table.weights.size
                bits[node] = certain or word < int(bit_table.weights[place])
                if bits[node]:
                    heavy.update(path_to_root(node))
    return bits


def is_heavy_by_count(leaves, more_than):
    return {node for node, count in node_counts(leaves).items() if count > more_than}


@pytest.mark.parametrize("height", [*range(1, 41), *DEEP])
def test_the_search_equals_the_literal_algorithm_given_the_same_bits(height):
    for seed in range(8):
        random = Random(f"search {height} {seed}")
        leaves = random_leaves(random, height, paths=random.randint(1, 20))
        bit_table = table(random.choice([0, 3]), *np.linspace(0.05, 0.95, random.randint(1, 12)))
        key = NoiseKey.injected(bytes([seed]) * 32)
        bits = bits_of_the_key(leaves, height, bit_table, key)
        counts = node_counts(leaves)

        def answer(node, counts=counts, bits=bits, low=bit_table.minimum_count):
            return counts[node] > low and bits[node]

        naive = NaiveMarker(nodes_of(leaves), height, answer)
        assert find_heavy_hitters(leaves, height=height, bits=bit_table, key=key) == naive.heavy()


@pytest.mark.parametrize("height", [*range(1, 41), *DEEP])
def test_an_exact_threshold_finds_exactly_the_nodes_above_it(height):
    for seed in range(8):
        random = Random(f"exact {height} {seed}")
        leaves = random_leaves(random, height, paths=random.randint(1, 40))
        more_than = random.choice([0, 1, 5, 30])
        found = find_heavy_hitters(leaves, height=height, bits=table(more_than))
        assert found == is_heavy_by_count(leaves, more_than)


def test_heavy_sets_have_the_law_of_the_literal_algorithm():
    leaves, draws = {4: 1, 5: 2, 6: 1, 3: 1}, 6000
    bit_table = table(0, 0.1, 0.2, 0.3, 0.45, 0.6)
    nodes, counts = sorted(nodes_of(leaves)), node_counts(leaves)
    law = Counter()
    for answers in itertools.product([False, True], repeat=len(nodes)):
        bits = dict(zip(nodes, answers, strict=True))
        chances = [bit_table.probability(counts[node]) for node in nodes]
        weight = np.prod([p if bits[n] else 1 - p for n, p in zip(nodes, chances, strict=True)])
        law[frozenset(NaiveMarker(nodes, 3, bits.__getitem__).heavy())] += weight
    seen = Counter(
        frozenset(find_heavy_hitters(leaves, height=3, bits=bit_table)) for _ in range(draws)
    )
    assert sum(law.values()) == pytest.approx(1)
    assert set(seen) <= {heavy for heavy, chance in law.items() if chance}
    for heavy, chance in law.items():
        low, high = clopper_pearson(seen[heavy], draws)
        assert low <= chance <= high
        assert high - low < 0.09
    # Power: from the top down the set would be empty whenever the root's bit is 0.
    low, high = clopper_pearson(seen[frozenset()], draws)
    assert not low <= 1 - bit_table.probability(5) <= high


def test_the_form_of_the_input_does_not_matter():
    random = Random("forms")
    leaves = random_leaves(random, 40, paths=60)
    bit_table = table(2, *np.linspace(0.1, 0.9, 20))
    labels, counts = np.array(list(leaves)), np.array(list(leaves.values()))
    order = np.random.default_rng(3).permutation(labels.size)
    halves = np.concatenate([labels, labels]), np.concatenate([counts // 2, counts - counts // 2])
    forms = [
        leaves,
        (labels, counts),
        (labels[order], counts[order].astype(np.uint8)),
        (labels.astype(np.uint64), counts.tolist()),
        (labels.astype(object), iter(counts.tolist())),
        halves,
        leaves | {1 << 39: 0},
    ]
    found = [find_heavy_hitters(form, height=40, bits=bit_table, key=KEY) for form in forms]
    assert all(heavy == found[0] for heavy in found)
    assert 1 < len(found[0]) < len(nodes_of(leaves))
    assert all(type(label) is int for label in found[0])


def test_two_words_find_what_one_word_finds():
    """The same paths hung 63 levels deeper, under one long stem."""
    leaves = random_leaves(Random("words"), 63, paths=60)
    stem = (1 << 63) + 12345
    deep = {stem << level_of(v) | (v - (1 << level_of(v))): rows for v, rows in leaves.items()}
    found = find_heavy_hitters(deep, height=126, bits=table(20))
    below = {v - ((stem - 1) << level_of(v) - 63) for v in found if level_of(v) >= 63}
    assert below == find_heavy_hitters(leaves, height=63, bits=table(20))


@pytest.mark.parametrize("height", [1, 2, 63, 126])
@pytest.mark.parametrize("empty", [{}, ([], []), (np.empty(0, np.int64), np.empty(0, np.int64))])
def test_no_leaves_give_no_heavy_nodes(height, empty):
    assert find_heavy_hitters(empty, height=height, bits=table(0)) == set()


@pytest.mark.parametrize("height", [1, 2, 63, 126])
def test_only_the_root(height):
    assert find_heavy_hitters({1: 10}, height=height, bits=table(9)) == {1}
    assert find_heavy_hitters({1: 10}, height=height, bits=table(10)) == set()


@pytest.mark.parametrize("height", [2, 63, 126])
def test_all_rows_alike_make_one_path_heavy(height):
    leaf = (1 << height) - 2
    found = find_heavy_hitters({leaf: 10**12}, height=height, bits=table(8, 0.5))
    assert found == set(path_to_root(leaf))


def test_a_node_holds_the_rows_that_end_in_it():
    assert find_heavy_hitters({2: 6, 4: 5, 6: 9}, height=3, bits=table(10)) == {1, 2}


def test_the_same_key_finds_the_same_and_fresh_keys_differ():
    leaves = {(1 << 8) + leaf: 1 for leaf in range(256)}
    settings = {"height": 9, "bits": table(0, 0.5)}
    assert find_heavy_hitters(leaves, key=KEY, **settings) == find_heavy_hitters(
        leaves, key=KEY, **settings
    )
    found = {frozenset(find_heavy_hitters(leaves, **settings)) for _ in range(20)}
    assert len(found) == 20


@pytest.mark.parametrize(
    ("counts", "name"),
    [
        ({0: 5}, "labels"),
        ({-4: 5}, "labels"),
        ({1 << 40: 5}, "labels"),
        ({1 << 130: 5}, "labels"),
        ({4.5: 5}, "labels"),
        ({"4": 5}, "labels"),
        ({4: -5}, "counts"),
        ({4: 5.5}, "counts"),
        ({4: 1 << 63}, "counts"),
        ({4: 1 << 70}, "counts"),
        (([4, 5], [1]), "counts"),
        (([[4], [5]], [1, 1]), "labels"),
    ],
)
def test_wrong_inputs_are_refused_without_being_shown(counts, name):
    with pytest.raises(ValueError, match=f"{name} must") as refusal:
        find_heavy_hitters(counts, height=40, bits=table(0))
    assert not any(digits in str(refusal.value) for digits in ("4.5", "5.5", "-4", "-5"))


@pytest.mark.parametrize("label", [0, -1, 4.5, "4", [4], 1 << 100])
def test_labels_outside_a_deep_tree_are_refused(label):
    with pytest.raises(ValueError, match=r"labels must be integers in 1..2\^100 - 1"):
        find_heavy_hitters(([label], [5]), height=100, bits=table(0))


@pytest.mark.parametrize("height", [0, 127, -3])
def test_heights_outside_the_range_are_refused(height):
    with pytest.raises(ValueError, match="height must be in"):
        find_heavy_hitters({}, height=height, bits=table(0))


@pytest.mark.slow
@pytest.mark.parametrize(("minimum_count", "seconds"), [(8, 1.0), (0, 8.0)])
def test_a_million_leaves_take_a_moment(minimum_count, seconds):
    rng = np.random.default_rng(11)
    labels = rng.integers(2**62, 2**63, 1_000_000)
    leaves = dict(zip(labels.tolist(), rng.geometric(0.4, labels.size).tolist(), strict=True))
    bit_table = table(minimum_count, *np.linspace(1e-9, 0.99, 300))
    best = min(timed_search(leaves, bit_table) for _ in range(3))
    assert best < seconds


def timed_search(leaves, bit_table):
    begin = process_time()
    find_heavy_hitters(leaves, height=63, bits=bit_table)
    return process_time() - begin
