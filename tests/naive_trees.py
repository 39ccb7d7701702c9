"""Slow, obvious twins of the tree kernels: one row, one node at a time, paths as text."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from lumberjack_spark.trees import SplitSpace
from lumberjack_spark.trees.space import ONE_OF

_MASK = (1 << 64) - 1


def mix(x: int) -> int:
    """Finaliser of splitmix64 in plain integers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


class Node:
    """A node of the implicit tree, found by walking from the root with fresh state."""

    def __init__(self, space: SplitSpace, seed: int, tree: int, path: str) -> None:
        golden = 0x9E3779B97F4A7C15
        self.hash = mix((mix((seed + golden) & _MASK) + tree * golden) & _MASK)
        self.space = space
        self.low = [int(x) for x in space.low]
        self.high = [int(x) for x in space.high]
        self.asked: dict[int, set[int]] = defaultdict(set)
        self.alive = [f for f in range(space.n_features) if self.low[f] < self.high[f]]
        for branch in path:
            self.step(branch == "1")

    def split(self) -> tuple[int, int, int] | None:
        """(place among the features left, feature, code), or None where nothing is left."""
        if not self.alive:
            return None
        place = ((self.hash >> 32) * len(self.alive)) >> 32
        feature = self.alive[place]
        draw = self.hash & 0xFFFFFFFF
        if self.space.kinds[feature] == ONE_OF:
            left_over = [c for c in range(self.space.high[feature]) if c not in self.asked[feature]]
            return place, feature, left_over[(draw * len(left_over)) >> 32]
        room = self.high[feature] - self.low[feature]
        return place, feature, self.low[feature] + ((draw * room) >> 32)

    def step(self, right: bool) -> None:
        """Go to a child."""
        found = self.split()
        assert found is not None
        place, feature, code = found
        if self.space.kinds[feature] == ONE_OF:
            if right:
                self.asked[feature].add(code)
            gone = not right or len(self.asked[feature]) == self.space.high[feature]
        else:
            if right:
                self.low[feature] = int(self.space.upper[feature, code])
            else:
                self.high[feature] = int(self.space.lower[feature, code])
            gone = self.low[feature] == self.high[feature]
        if gone:
            # The last feature takes the place of the exhausted one.
            self.alive[place] = self.alive[-1]
            self.alive.pop()
        side = 0x8CB92BA72F3D8DD7 if right else 0xD1B54A32D192ED03
        self.hash = mix((self.hash + side) & _MASK)


def path_of(row: Sequence[int], space: SplitSpace, *, seed: int, tree: int, max_depth: int) -> str:
    """Branches of one row, as text of 0 and 1."""
    node, path = Node(space, seed, tree, ""), ""
    while len(path) < max_depth and (found := node.split()) is not None:
        _, feature, code = found
        one_of = space.kinds[feature] == ONE_OF
        right = row[feature] != code if one_of else row[feature] > code
        node.step(bool(right))
        path += "1" if right else "0"
    return path


def path_code(path: str, n_words: int) -> list[int]:
    """A path as the words of its code."""
    bits = (path + "1").ljust(64 * n_words, "0")
    return [int(bits[64 * w : 64 * w + 64], 2) for w in range(n_words)]


def prefix_text(prefix: np.ndarray, level: int) -> str:
    """A node's label as the text of its branches."""
    return "".join(format(int(word), "064b") for word in prefix)[:level]


def node_counts(
    paths: Sequence[str], labels: Sequence[int], n_classes: int
) -> Mapping[str, np.ndarray]:
    """Class counts of every node and path end, by the text of its branches."""
    counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(n_classes, np.int64))
    for path, label in zip(paths, labels, strict=True):
        for level in range(len(path) + 1):
            counts[path[:level]][label] += 1
    return counts
