from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from lumberjack_spark.noise import NoiseKey, choose_labels, label_choice_total_variation
from lumberjack_spark.noise.label_choice import weight_table
from tests.stats import clopper_pearson

KEY = NoiseKey.injected(b"an injected key for the tests...")


def exact_chances(counts, eta):
    """Probabilities of the exponential mechanism at 60 digits."""
    with localcontext() as context:
        context.prec = 60
        powers = [(Decimal(eta) * (count - max(counts))).exp() for count in counts]
        return [power / sum(powers) for power in powers]


def weights_of(counts, eta):
    """Weights as the module's header has them, by Python integers from the two tables."""
    table = weight_table(eta)
    shift = (len(counts) - 1).bit_length()
    weights = []
    for count in counts:
        gap = max(counts) - count
        high, low = divmod(gap, 1 << table.fine_bits)
        inside = gap <= table.largest_gap
        product = int(table.coarse[high]) * int(table.fine[low]) >> 63 if inside else 0
        weights.append(product >> shift)
    return weights


def label_of(word, weights):
    target = word * sum(weights) >> 64
    for label, weight in enumerate(weights):
        if target < weight:
            return label
        target -= weight
    raise AssertionError("the target lies beyond the weights")


def random_counts(random, num_classes, eta):
    spread = random.choice([1, 3, 10, 60]) / eta
    return [int(random.random() * spread) for _ in range(num_classes)]


@pytest.mark.parametrize("num_classes", [1, 2, 3, 7, 64, 65])
@pytest.mark.parametrize("eta", [1e-6, 0.013, 0.5, 8.0])
def test_labels_equal_those_of_python_integers(num_classes, eta):
    random = Random(f"{num_classes} {eta}")
    counts = [random_counts(random, num_classes, eta) for _ in range(300)]
    words = KEY.stream("twin").take(300).tolist()
    expected = [label_of(w, weights_of(c, eta)) for w, c in zip(words, counts, strict=True)]
    labels = choose_labels(KEY.stream("twin"), np.array(counts), eta)
    assert labels.dtype == np.int64
    assert labels.tolist() == expected


@pytest.mark.parametrize("num_classes", [2, 3, 5, 8, 9, 100])
@pytest.mark.parametrize("eta", [1e-9, 0.003, 0.1, 2.0, 50.0])
def test_the_total_variation_is_within_its_bound(num_classes, eta):
    random = Random(f"variation {num_classes} {eta}")
    for _ in range(40):
        counts = random_counts(random, num_classes, eta)
        weights = weights_of(counts, eta)
        # The label is below c for the words below ceil(2^64 * cumulative weight / total).
        edges = [-(-(sum(weights[:c]) << 64) // sum(weights)) for c in range(num_classes + 1)]
        law = [Fraction(high - low, 2**64) for low, high in pairwise(edges)]
        exact = [Fraction(chance) for chance in exact_chances(counts, eta)]
        actual = sum(abs(a - b) for a, b in zip(law, exact, strict=True)) / 2
        assert actual <= label_choice_total_variation(num_classes) <= num_classes**2 * 2.0**-61


@pytest.mark.parametrize("eta", [1e-9, 0.003, 0.1, 50.0])
def test_weights_are_right_to_two_units(eta):
    table = weight_table(eta)
    random = Random(f"weights {eta}")
    gaps = [0, 1, table.largest_gap, table.largest_gap + 1, 2**62]
    gaps += [int(table.largest_gap * random.random() ** 3) for _ in range(500)]
    weights = table.weigh(np.array(gaps)).tolist()
    assert weights[0] == 2**63
    with localcontext() as context:
        context.prec = 60
        for gap, weight in zip(gaps, weights, strict=True):
            assert abs(weight - (Decimal(eta) * -gap).exp() * 2**63) <= 2


def test_labels_have_the_probabilities_of_the_mechanism():
    counts, eta = [40, 25, 33, 0], 0.1
    labels = choose_labels(KEY.stream("law"), np.tile(counts, (200_000, 1)), eta)
    for label, chance in enumerate(exact_chances(counts, eta)):
        low, high = clopper_pearson(int((labels == label).sum()), labels.size)
        assert low <= chance <= high
    # Power: a tenth more eta would be caught.
    wrong = exact_chances(counts, 0.11)[0] - exact_chances(counts, eta)[0]
    low, high = clopper_pearson(int((labels == 0).sum()), labels.size)
    assert wrong > Decimal(high - low)


def test_words_on_a_boundary_belong_to_the_next_label():
    class FixedWords:
        def take(self, size):
            return np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)

    labels = choose_labels(FixedWords(), np.full((4, 2), 7), 0.1)
    assert labels.tolist() == [0, 0, 1, 1]


def test_equal_counts_are_chosen_equally():
    labels = choose_labels(KEY.stream("ties"), np.full((90_000, 3), 17), 4.0)
    for label in range(3):
        low, high = clopper_pearson(int((labels == label).sum()), labels.size)
        assert low <= 1 / 3 <= high


@pytest.mark.parametrize("gap", [1000, 2**40, 2**62])
def test_an_overwhelming_count_always_wins(gap):
    counts = np.tile([0, gap, 0], (10_000, 1))
    assert (choose_labels(KEY.stream("gap"), counts, 1.0) == 1).all()


def test_only_differences_of_counts_matter():
    counts = np.array([[3, 9], [0, 0], [50, 1]] * 500)
    shifted = choose_labels(KEY.stream("shift"), counts + 10**15, 0.2)
    assert np.array_equal(shifted, choose_labels(KEY.stream("shift"), counts, 0.2))


def test_leaves_are_independent_of_how_many_are_drawn_at_a_time():
    counts = np.random.default_rng(5).integers(0, 30, (150_000, 2))
    whole, stream = choose_labels(KEY.stream("parts"), counts, 0.1), KEY.stream("parts")
    parts = [choose_labels(stream, part, 0.1) for part in (counts[:7], counts[7:])]
    assert np.array_equal(np.concatenate(parts), whole)


def test_no_leaves_give_no_labels():
    assert choose_labels(KEY.stream("none"), np.empty((0, 2), np.int64), 0.1).shape == (0,)


@pytest.mark.parametrize("eta", [0.0, -1.0, 1e-10, float("nan"), float("inf")])
def test_etas_outside_the_range_are_refused(eta):
    with pytest.raises(ValueError, match="eta must be finite and >= 1e-09"):
        choose_labels(KEY.stream("refused"), np.zeros((1, 2), np.int64), eta)


def test_counts_of_another_shape_are_refused():
    for shape in [(3,), (3, 0), (3, 2, 2)]:
        with pytest.raises(ValueError, match="counts must be int64"):
            choose_labels(KEY.stream("refused"), np.zeros(shape, np.int64), 0.1)
    with pytest.raises(ValueError, match="num_classes must be in"):
        label_choice_total_variation(0)
