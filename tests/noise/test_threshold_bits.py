import numpy as np
import pytest

from lumberjack_spark.noise import NoiseKey, draw_bits
from lumberjack_spark.privacy import BitTable
from tests.stats import clopper_pearson

KEY = NoiseKey.injected(b"an injected key for the tests...")
QUARTER = 1 << 62


def table(minimum_count, *weights):
    return BitTable(minimum_count=minimum_count, weights=np.array(weights, np.uint64))


def test_bits_equal_a_comparison_of_python_integers():
    bit_table = table(3, 0, 5, QUARTER, 2 * QUARTER, 2**64 - 1)
    counts = np.tile(np.arange(12), 500)
    words = KEY.stream("twin").take(counts.size).tolist()
    chances = {4: 0, 5: 5, 6: QUARTER, 7: 2 * QUARTER, 8: 2**64 - 1}
    expected = [
        q > 8 or (q > 3 and word < chances[q])
        for q, word in zip(counts.tolist(), words, strict=True)
    ]
    assert draw_bits(KEY.stream("twin"), counts, bit_table).tolist() == expected


def test_a_word_equal_to_the_weight_gives_zero():
    class FixedWords:
        def take(self, size):
            return np.array([0, QUARTER - 1, QUARTER], np.uint64)

    assert draw_bits(FixedWords(), np.full(3, 5), table(4, QUARTER)).tolist() == [True, True, False]
    assert draw_bits(FixedWords(), np.full(3, 5), table(4, 0)).tolist() == [False] * 3


@pytest.mark.parametrize("minimum_count", [0, 1, 8, 10_000])
def test_counts_outside_the_table_are_certain(minimum_count):
    bit_table = table(minimum_count, QUARTER, 3 * QUARTER)
    low = np.repeat([0, minimum_count // 2, minimum_count], 1000)
    high = np.repeat([minimum_count + 3, minimum_count + 4, 2**40], 1000)
    assert not draw_bits(KEY.stream("low"), low, bit_table).any()
    assert draw_bits(KEY.stream("high"), high, bit_table).all()


def test_a_table_without_weights_is_an_exact_threshold():
    counts = np.arange(20)
    assert draw_bits(KEY.stream("exact"), counts, table(7)).tolist() == (counts > 7).tolist()


def test_bits_have_the_probability_of_the_table():
    bit_table = table(2, QUARTER, 3 * QUARTER)
    for count, chance in [(3, 0.25), (4, 0.75)]:
        bits = draw_bits(KEY.stream("law", count), np.full(100_000, count), bit_table)
        low, high = clopper_pearson(int(bits.sum()), 100_000)
        assert low <= chance <= high
        assert high - low < 0.02


def test_every_count_takes_one_word_even_if_its_bit_is_certain():
    stream = KEY.stream("words")
    draw_bits(stream, np.array([0, 3, 99]), table(2, QUARTER))
    assert stream.take(1).tolist() == KEY.stream("words").take(4)[3:].tolist()


def test_no_counts_give_no_bits():
    assert draw_bits(KEY.stream("none"), np.empty(0, np.int64), table(0, QUARTER)).shape == (0,)
