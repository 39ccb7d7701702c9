from random import Random

import numpy as np
import pytest

from lumberjack_spark.heavy_hitters.labels import labels_of_nodes, path_codes
from tests.naive_heavy_hitters import level_of


def labels_of_level(random, level):
    """Both ends of the level, labels with long runs of equal bits, and others."""
    first = 1 << level
    runs = [first | (first - 1 >> random.randint(0, level)) for _ in range(3)]
    return sorted({first, 2 * first - 1, *runs, first | random.getrandbits(level or 1) % first})


@pytest.mark.parametrize("height", [1, 2, 33, 34, 63, 64, 65, 126])
def test_path_codes_equal_those_of_python_integers(height):
    random = Random(f"codes {height}")
    labels = [label for level in range(height) for label in labels_of_level(random, level)]
    random.shuffle(labels)
    bits = 64 if height <= 63 else 128
    codes = [((2 * v + 1) << (bits - 1 - level_of(v))) % 2**bits for v in labels]
    keys = path_codes(labels, height)
    found = keys.tolist()
    if bits == 128:
        found = [int.from_bytes(key.ljust(16, b"\0"), "big") for key in found]
    assert found == codes
    # Sorted codes put a node's subtree together.
    assert np.array_equal(np.argsort(keys), np.argsort(np.array(codes, object)))


@pytest.mark.parametrize("words", [1, 2])
def test_labels_of_nodes_come_back(words):
    random = Random("labels")
    bits = 64 * words
    levels, labels = [], set()
    for level in range(63 * words):
        of_level = labels_of_level(random, level)
        codes = [(v << (bits - level)) % 2**bits for v in of_level]
        if words == 1:
            levels.append(np.array(codes, np.uint64))
        else:
            packed = b"".join(code.to_bytes(16, "big") for code in codes)
            levels.append(np.frombuffer(packed, "S16"))
        labels.update(of_level)
    assert labels_of_nodes(levels) == labels
