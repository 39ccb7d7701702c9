"""Random splits of an endless implicit tree: a pure function of (seed, tree, path).

The hash of a node is mixed from the hash of its parent and the branch taken, so that visited and
unvisited nodes alike have one fixed split that no row can change.

Split      a feature uniformly among those with something left to split on; then, for an ordered
           feature, a threshold uniform in the node's current range of codes (left iff code <= it);
           for a one-of feature, a category not yet asked about on the path (left iff code == it).
Source     section 5 of the paper.

Numba's cache does not notice a change in another file: after changing this one, touch routing.py.
"""

from typing import Any

import numpy as np
from numba import njit

from lumberjack_spark.trees.space import SplitSpace

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LEFT = np.uint64(0xD1B54A32D192ED03)
_LEFT_XOR_RIGHT = np.uint64(0xD1B54A32D192ED03 ^ 0x8CB92BA72F3D8DD7)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)
_ZERO = np.uint64(0)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


MAX_DEPTH = 126

Array = np.ndarray[Any, np.dtype[Any]]

# What is left to split on, one column a feature: LOW and HIGH bound the codes of an ordered
# feature; of a one-of feature LOW counts the categories asked about, HIGH the declared ones, and
# `asked` holds the former, sorted. The first n_alive entries of ALIVE have LOW < HIGH.
LOW, HIGH, ALIVE, VALUE = range(4)
# What was done at each level of the path at hand: place in ALIVE, feature and code of the split,
# branch taken, the feature's old LOW and HIGH, whether it was exhausted, and n_alive before.
PLACE, FEATURE, CODE, RIGHT, OLD_LOW, OLD_HIGH, GONE, N_ALIVE = range(8)


@njit(cache=True, inline="always")
def _mix(x: Any) -> Any:
    """Finaliser of splitmix64: uint64 -> well-mixed uint64."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@njit(cache=True, inline="always")
def child_hash(node_hash: Any, right: Any) -> Any:
    """Hash of the left (right = 0) or right (right = 1) child of a node."""
    return _mix(node_hash + (_LEFT ^ (_LEFT_XOR_RIGHT * np.uint64(right))))


@njit(cache=True, inline="always")
def draw(node_hash: Any, base: Any, n_alive: Any, low: Any, high: Any, alive: Any) -> Any:
    """(place in alive, feature, threshold code or rank among all categories not asked yet)."""
    place = ((node_hash >> _S32) * np.uint64(n_alive)) >> _S32
    feature = np.uint64(alive[base + place])
    least = np.uint64(low[base + feature])
    room = np.uint64(high[base + feature]) - least
    return place, feature, least + (((node_hash & _LOW_32) * room) >> _S32)


@njit(cache=True)
def category_of(code: Any, n_asked: Any, asked: Any) -> Any:
    """The category of a drawn code: its rank counts only those not in asked[:n_asked], sorted."""
    category = code - n_asked
    for i in range(n_asked):
        if category >= asked[i]:
            category += 1
    return category


@njit(cache=True)
def ask(category: Any, n_asked: Any, asked: Any) -> None:
    """Insert a category into asked[:n_asked], sorted."""
    i = n_asked
    while i > 0 and asked[i - 1] > category:
        asked[i] = asked[i - 1]
        i -= 1
    asked[i] = category


@njit(cache=True)
def unask(category: Any, n_asked: Any, asked: Any) -> None:
    """Take back _ask, with the same n_asked."""
    i = 0
    while asked[i] != category:
        i += 1
    while i < n_asked:
        asked[i] = asked[i + 1]
        i += 1


@njit(cache=True)
def at_root(seed: Any, tree: Any, max_depth: Any, space: SplitSpace) -> Any:
    """State of the path of no branches: (ranges, asked, hashes, steps)."""
    n_features = space.kinds.size
    ranges = np.zeros((3, n_features), np.int64)
    asked = np.zeros((n_features if space.kinds.max() != 0 else 1, max_depth + 1), np.int32)
    hashes = np.zeros(max_depth + 2, np.uint64)
    steps = np.zeros((max_depth + 2, 8), np.int64)
    for f in range(n_features):
        ranges[LOW, f], ranges[HIGH, f] = space.low[f], space.high[f]
        if ranges[LOW, f] < ranges[HIGH, f]:
            ranges[ALIVE, steps[0, N_ALIVE]] = f
            steps[0, N_ALIVE] += 1
    hashes[0] = _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(tree) * _GOLDEN)
    return ranges, asked, hashes, steps


@njit(cache=True, inline="always")
def split(level: Any, kinds: Any, ranges: Any, asked: Any, hashes: Any, steps: Any) -> None:
    """Draw the split of the node at level."""
    place, feature, code = draw(
        hashes[level], _ZERO, steps[level, N_ALIVE], ranges[LOW], ranges[HIGH], ranges[ALIVE]
    )
    if kinds[feature] != 0:
        code = np.uint64(category_of(np.int64(code), ranges[LOW, feature], asked[feature]))
    steps[level, PLACE], steps[level, FEATURE], steps[level, CODE] = place, feature, code


@njit(cache=True, inline="always")
def descend(level: Any, right: Any, kinds: Any, lower: Any, upper: Any, ranges: Any, asked: Any, hashes: Any, steps: Any) -> None:  # noqa: E501  # fmt: skip
    """Go from the node at level, whose split is drawn, to one of its children."""
    place, feature = steps[level, PLACE], steps[level, FEATURE]
    code = steps[level, CODE]
    low, high = ranges[LOW, feature], ranges[HIGH, feature]
    steps[level, OLD_LOW], steps[level, OLD_HIGH], steps[level, RIGHT] = low, high, right
    if kinds[feature] == 0:
        if right:
            low = np.int64(upper[feature, code])
        else:
            high = np.int64(lower[feature, code])
    elif right:
        ask(code, low, asked[feature])
        low += 1
    else:
        low = high
    ranges[LOW, feature], ranges[HIGH, feature] = low, high
    gone = np.int64(low == high)
    n_alive = steps[level, N_ALIVE] - gone
    if gone:  # the last feature takes the place of the exhausted one
        ranges[ALIVE, place] = ranges[ALIVE, n_alive]
        ranges[ALIVE, n_alive] = feature
    steps[level, GONE], steps[level + 1, N_ALIVE] = gone, n_alive
    hashes[level + 1] = child_hash(hashes[level], right)


@njit(cache=True, inline="always")
def ascend(level: Any, kinds: Any, ranges: Any, asked: Any, steps: Any) -> None:
    """Take back the descent from the node at level."""
    place, feature = steps[level, PLACE], steps[level, FEATURE]
    if steps[level, GONE]:
        ranges[ALIVE, steps[level, N_ALIVE] - 1] = ranges[ALIVE, place]
        ranges[ALIVE, place] = feature
    if kinds[feature] != 0 and steps[level, RIGHT]:
        unask(steps[level, CODE], steps[level, OLD_LOW], asked[feature])
    ranges[LOW, feature] = steps[level, OLD_LOW]
    ranges[HIGH, feature] = steps[level, OLD_HIGH]


@njit(cache=True)
def _splits(levels: Any, prefixes: Any, seed: Any, tree: Any, max_depth: Any, space: SplitSpace, features: Any, codes: Any) -> None:  # noqa: E501  # fmt: skip
    """Fill features and codes; see splits."""
    kinds, _, _, lower, upper = space
    ranges, asked, hashes, steps = at_root(seed, tree, max_depth, space)
    depth = 0
    for node in range(levels.size):
        while depth > 0 and depth >= levels[node]:
            depth -= 1
            ascend(depth, kinds, ranges, asked, steps)
        if levels[node] > 0:
            bit = (prefixes[node, depth >> 6] >> np.uint64(63 - (depth & 63))) & ONE
            descend(depth, np.int64(bit), kinds, lower, upper, ranges, asked, hashes, steps)
            depth += 1
        split(depth, kinds, ranges, asked, hashes, steps)
        features[node], codes[node] = steps[depth, FEATURE], steps[depth, CODE]


def splits(
    levels: Array, prefixes: Array, *, seed: int, tree: int, max_depth: int, space: SplitSpace
) -> tuple[Array, Array]:
    """Splits of the nodes of one tree.

    Args:
        levels: int64[n], levels of nodes in preorder, closed under parents.
        prefixes: uint64[n, n_words], the branches to them, left-aligned.
        seed: as for route.
        tree: as for route.
        max_depth: as for route.
        space: as for route.

    Returns:
        (features uint16[n], codes uint16[n]): left iff the row's code is <= the node's (ordered
        feature) or equal to it (one-of feature).
    """
    features, codes = np.zeros(len(levels), np.uint16), np.zeros(len(levels), np.uint16)
    if len(levels):
        _splits(levels, prefixes, seed, tree, max_depth, space, features, codes)
    return features, codes
