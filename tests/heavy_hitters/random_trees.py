"""Random incomplete trees for the tests, and their nodes as the package's arrays."""

from collections.abc import Collection
from random import Random

import numpy as np

from tests.naive_heavy_hitters import level_of, path_to_root


def random_leaves(random: Random, height: int, paths: int) -> dict[int, int]:
    """Rows at the ends of random paths of all lengths that share beginnings of all lengths."""
    leaves: dict[int, int] = {}
    ends = [1]
    for _ in range(paths):
        end = random.choice(ends)
        end >>= random.randint(0, level_of(end))
        for _ in range(random.randint(0, height - 1 - level_of(end))):
            end = 2 * end + random.randint(0, 1)
        ends.append(end)
        leaves[end] = random.randint(1, 9)
    return leaves


def nodes_of(leaves: Collection[int]) -> set[int]:
    return {node for leaf in leaves for node in path_to_root(leaf)}


def random_bits(random: Random, nodes: Collection[int]) -> dict[int, bool]:
    share = random.choice([0.05, 0.3, 0.5, 0.9])
    return {node: random.random() < share for node in sorted(nodes)}


def arrays_of(labels: Collection[int], height: int, words: int) -> list[np.ndarray]:
    """Prefixes of each level as sorted uint64[n, words]."""
    bits = 64 * words
    levels = []
    for level in range(height):
        codes = sorted((v << (bits - level)) % 2**bits for v in labels if level_of(v) == level)
        rows = [[c >> 64 * (words - 1 - w) & (2**64 - 1) for w in range(words)] for c in codes]
        levels.append(np.array(rows, np.uint64).reshape(-1, words))
    return levels
