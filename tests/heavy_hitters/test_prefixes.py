from random import Random

import numpy as np
import pytest

from lumberjack_spark.heavy_hitters import prefixes

WORDS = [1, 2]


def random_integers(random, words, size=150):
    """Integers of 64 * words bits that end in long runs of zeros or ones."""
    integers = set()
    for shift in random.choices(range(64 * words), k=size):
        start = random.getrandbits(64 * words) >> shift
        integers |= {start << shift, (start + 1 << shift) - 1}
    return sorted(integers)


def keys_of(integers, words):
    rows = [[v >> 64 * (words - 1 - w) & (2**64 - 1) for w in range(words)] for v in integers]
    return prefixes.to_keys(np.array(rows, np.uint64).reshape(-1, words))


def integers_of(keys):
    rows = prefixes.to_codes(keys).tolist()
    return [sum(word << 64 * place for place, word in enumerate(reversed(row))) for row in rows]


@pytest.mark.parametrize("words", WORDS)
def test_keys_sort_and_come_back_as_the_codes_do(words):
    integers = random_integers(Random("sort"), words)
    keys = keys_of(integers, words)
    assert integers_of(keys) == integers
    assert integers_of(np.sort(keys[::-1])) == integers


@pytest.mark.parametrize("words", WORDS)
def test_prefixes_equal_those_of_python_integers(words):
    integers, bits = random_integers(Random("prefix"), words), 64 * words
    keys = keys_of(integers, words)
    for level in range(bits):
        heads = [v >> (bits - level) << (bits - level) for v in integers]
        tails = [v != head for v, head in zip(integers, heads, strict=True)]
        assert integers_of(prefixes.first_bits(keys, level)) == heads
        assert integers_of(prefixes.ancestors(keys, level)) == sorted(set(heads))
        assert prefixes.has_bits_after(keys, level).tolist() == tails


@pytest.mark.parametrize("words", WORDS)
def test_sets_equal_those_of_python(words):
    random = Random("sets")
    integers = random_integers(random, words)
    for _ in range(50):
        left, right = (random.sample(integers, random.randint(0, 40)) for _ in range(2))
        left_keys, right_keys = keys_of(sorted(left), words), keys_of(sorted(right), words)
        assert integers_of(prefixes.union(left_keys, right_keys)) == sorted({*left, *right})
        inside = [v in left for v in sorted(right)]
        assert prefixes.contains(left_keys, right_keys).tolist() == inside


@pytest.mark.parametrize("words", WORDS)
def test_rows_below_nodes_are_those_that_start_with_them(words):
    random, bits = Random("below"), 64 * words
    rows = random_integers(random, words)
    for level in range(0, bits, 5):
        heads = {v >> (bits - level) << (bits - level) for v in rows}
        nodes = sorted(random.sample(sorted(heads), random.randint(0, len(heads))))
        expected = [
            place for place, v in enumerate(rows) if v >> (bits - level) << (bits - level) in nodes
        ]
        found = prefixes.rows_below(keys_of(rows, words), keys_of(nodes, words), level)
        assert found.tolist() == expected
