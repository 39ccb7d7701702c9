"""Random splits of an endless implicit tree, and the walk of rows down to their path codes.

A split is a pure function of (seed, tree, path): the hash of a node is mixed from the hash of its
parent and the branch taken, so that visited and unvisited nodes alike have one fixed split that no
row can change.

Split      a feature uniformly among those with something left to split on; then, for an ordered
           feature, a threshold uniform in the node's current range of codes (left iff code <= it);
           for a one-of feature, a category not yet asked about on the path (left iff code == it).
Path code  the branches taken (left 0, right 1) left-aligned in one or two 64-bit words, then a
           single 1, then zeros. A walk ends at max_depth, or where nothing is left to split on.
Source     section 5 of the paper (random splits). A walk never stops at a small group of rows,
           since one more row would then move the codes of others.

The kernels share this file because numba's cache does not notice a change in another file. Their
inner loops are free of branches that depend on rows: those would be mispredicted half of the time.
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
_ONE = np.uint64(1)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)

MAX_DEPTH = 126
_WALKERS = 32  # single rows walked in turn, so that the latencies of their steps overlap
_ROWS_IN_CACHE = 1 << 15  # up to so many rows, reading them row by row stays in the cache
_SMALL_GROUP = 16  # up to so many rows, walking each alone beats partitioning the group

Array = np.ndarray[Any, np.dtype[Any]]


# What is left to split on, one column a feature: LOW and HIGH bound the codes of an ordered
# feature; of a one-of feature LOW counts the categories asked about, HIGH the declared ones, and
# `asked` holds the former, sorted. The first n_alive entries of ALIVE have LOW < HIGH.
_LOW, _HIGH, _ALIVE, _VALUE = range(4)
# What was done at each level of the path at hand: place in ALIVE, feature and code of the split,
# branch taken, the feature's old LOW and HIGH, whether it was exhausted, and n_alive before.
_PLACE, _FEATURE, _CODE, _RIGHT, _OLD_LOW, _OLD_HIGH, _GONE, _N_ALIVE = range(8)


@njit(cache=True, inline="always")
def _mix(x: Any) -> Any:
    """Finaliser of splitmix64: uint64 -> well-mixed uint64."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@njit(cache=True, inline="always")
def _child(node_hash: Any, right: Any) -> Any:
    """Hash of the left (right = 0) or right (right = 1) child of a node."""
    return _mix(node_hash + (_LEFT ^ (_LEFT_XOR_RIGHT * np.uint64(right))))


@njit(cache=True, inline="always")
def _draw(node_hash: Any, base: Any, n_alive: Any, low: Any, high: Any, alive: Any) -> Any:
    """(place in alive, feature, threshold code or rank among all categories not asked yet)."""
    place = np.int64(((node_hash >> _S32) * np.uint64(n_alive)) >> _S32)
    feature = np.int64(alive[base + place])
    least = np.int64(low[base + feature])
    room = np.uint64(np.int64(high[base + feature]) - least)
    return place, feature, least + np.int64(((node_hash & _LOW_32) * room) >> _S32)


@njit(cache=True)
def _category(code: Any, n_asked: Any, asked: Any) -> Any:
    """The category of a drawn code: its rank counts only those not in asked[:n_asked], sorted."""
    category = code - n_asked
    for i in range(n_asked):
        if category >= asked[i]:
            category += 1
    return category


@njit(cache=True)
def _ask(category: Any, n_asked: Any, asked: Any) -> None:
    """Insert a category into asked[:n_asked], sorted."""
    i = n_asked
    while i > 0 and asked[i - 1] > category:
        asked[i] = asked[i - 1]
        i -= 1
    asked[i] = category


@njit(cache=True)
def _unask(category: Any, n_asked: Any, asked: Any) -> None:
    """Take back _ask, with the same n_asked."""
    i = 0
    while asked[i] != category:
        i += 1
    while i < n_asked:
        asked[i] = asked[i + 1]
        i += 1


@njit(cache=True)
def _at_root(seed: Any, tree: Any, max_depth: Any, space: SplitSpace) -> Any:
    """State of the path of no branches: (ranges, asked, hashes, steps)."""
    n_features = space.kinds.size
    ranges = np.zeros((3, n_features), np.int64)
    asked = np.zeros((n_features if space.kinds.max() != 0 else 1, max_depth + 1), np.int32)
    hashes = np.zeros(max_depth + 2, np.uint64)
    steps = np.zeros((max_depth + 2, 8), np.int64)
    for f in range(n_features):
        ranges[_LOW, f], ranges[_HIGH, f] = space.low[f], space.high[f]
        if ranges[_LOW, f] < ranges[_HIGH, f]:
            ranges[_ALIVE, steps[0, _N_ALIVE]] = f
            steps[0, _N_ALIVE] += 1
    hashes[0] = _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(tree) * _GOLDEN)
    return ranges, asked, hashes, steps


@njit(cache=True, inline="always")
def _split(level: Any, kinds: Any, ranges: Any, asked: Any, hashes: Any, steps: Any) -> None:
    """Draw the split of the node at level."""
    place, feature, code = _draw(
        hashes[level], 0, steps[level, _N_ALIVE], ranges[_LOW], ranges[_HIGH], ranges[_ALIVE]
    )
    if kinds[feature] != 0:
        code = _category(code, ranges[_LOW, feature], asked[feature])
    steps[level, _PLACE], steps[level, _FEATURE], steps[level, _CODE] = place, feature, code


@njit(cache=True, inline="always")
def _descend(level: Any, right: Any, kinds: Any, lower: Any, upper: Any, ranges: Any, asked: Any, hashes: Any, steps: Any) -> None:  # noqa: E501  # fmt: skip
    """Go from the node at level, whose split is drawn, to one of its children."""
    place, feature = steps[level, _PLACE], steps[level, _FEATURE]
    code = steps[level, _CODE]
    low, high = ranges[_LOW, feature], ranges[_HIGH, feature]
    steps[level, _OLD_LOW], steps[level, _OLD_HIGH], steps[level, _RIGHT] = low, high, right
    if kinds[feature] == 0:
        if right:
            low = np.int64(upper[feature, code])
        else:
            high = np.int64(lower[feature, code])
    elif right:
        _ask(code, low, asked[feature])
        low += 1
    else:
        low = high
    ranges[_LOW, feature], ranges[_HIGH, feature] = low, high
    gone = np.int64(low == high)
    n_alive = steps[level, _N_ALIVE] - gone
    if gone:  # the last feature takes the place of the exhausted one
        ranges[_ALIVE, place] = ranges[_ALIVE, n_alive]
        ranges[_ALIVE, n_alive] = feature
    steps[level, _GONE], steps[level + 1, _N_ALIVE] = gone, n_alive
    hashes[level + 1] = _child(hashes[level], right)


@njit(cache=True, inline="always")
def _ascend(level: Any, kinds: Any, ranges: Any, asked: Any, steps: Any) -> None:
    """Take back the descent from the node at level."""
    place, feature = steps[level, _PLACE], steps[level, _FEATURE]
    if steps[level, _GONE]:
        ranges[_ALIVE, steps[level, _N_ALIVE] - 1] = ranges[_ALIVE, place]
        ranges[_ALIVE, place] = feature
    if kinds[feature] != 0 and steps[level, _RIGHT]:
        _unask(steps[level, _CODE], steps[level, _OLD_LOW], asked[feature])
    ranges[_LOW, feature] = steps[level, _OLD_LOW]
    ranges[_HIGH, feature] = steps[level, _OLD_HIGH]


@njit(cache=True)
def _walk_alone(n: Any, max_depth: Any, kinds: Any, lower: Any, upper: Any, left_over: Any, asked: Any, hashes: Any, n_alive: Any, levels: Any, slots: Any, codes: Any) -> None:  # noqa: E501  # fmt: skip
    """Walk the walkers 0..n-1 to their ends, one level each in turn.

    left_over int32[4, walkers * d] holds LOW, HIGH, ALIVE and the row's codes of each walker.
    """
    low, high, alive, values = (
        left_over[_LOW],
        left_over[_HIGH],
        left_over[_ALIVE],
        left_over[_VALUE],
    )
    active = np.arange(n)
    while n > 0:
        i = 0
        while i < n:
            w = active[i]
            base = w * kinds.size
            level = levels[w]
            bit = _ONE << np.uint64(63 - (level & 63))
            if level == max_depth or n_alive[w] == 0:
                codes[slots[w], level >> 6] |= bit
                n -= 1
                active[i] = active[n]
                continue
            node_hash = hashes[w]
            place, feature, code = _draw(node_hash, base, n_alive[w], low, high, alive)
            value = np.int64(values[base + feature])
            least, most = np.int64(low[base + feature]), np.int64(high[base + feature])
            if kinds[feature] == 0:
                right = np.int64(value > code)
                most += (np.int64(lower[feature, code]) - most) * (1 - right)
                least += (np.int64(upper[feature, code]) - least) * right
            else:
                code = _category(code, least, asked[w, feature])
                right = np.int64(value != code)
                if right:
                    _ask(code, least, asked[w, feature])
                least = least + 1 if right else most
            low[base + feature], high[base + feature] = least, most
            gone = np.int64(least == most)
            n_alive[w] -= gone
            alive[base + place] += (np.int64(alive[base + n_alive[w]]) - feature) * gone
            codes[slots[w], level >> 6] |= bit * np.uint64(right)
            hashes[w] = _child(node_hash, right)
            levels[w] = level + 1
            i += 1


@njit(cache=True)
def _sort_groups(starts: Any, ends: Any, n_groups: Any, order: Any, codes: Any) -> None:
    """Sort the codes of each small group in place, order with them."""
    last = codes.shape[1] - 1
    for g in range(n_groups):
        for i in range(starts[g] + 1, ends[g]):
            first, second, unit = codes[i, 0], codes[i, last], order[i]
            j = i - 1
            while j >= starts[g] and (
                codes[j, 0] > first or (codes[j, 0] == first and codes[j, last] > second)
            ):
                codes[j + 1, 0], codes[j + 1, last] = codes[j, 0], codes[j, last]
                order[j + 1] = order[j]
                j -= 1
            codes[j + 1, 0], codes[j + 1, last], order[j + 1] = first, second, unit


@njit(cache=True)
def _partition(columns: Any, rows: Any, feature: Any, code: Any, kind: Any, a: Any, b: Any, order: Any, spare: Any) -> Any:  # noqa: E501  # fmt: skip
    """Bring the rows order[a:b] that go left to the front, stably; returns where right begins."""
    by_row = b - a <= _ROWS_IN_CACHE
    at, n_right = a, np.int64(0)
    for i in range(a, b):
        unit = order[i]
        value = np.int64(rows[unit, feature] if by_row else columns[feature, unit])
        right = np.int64(value > code if kind == 0 else value != code)
        order[at] = unit
        spare[n_right] = unit
        n_right += right
        at += 1 - right
    for i in range(n_right):
        order[at + i] = spare[i]
    return at


@njit(cache=True)
def _first_with(bit: Any, nodes: Any, first: Any, last: Any) -> Any:
    """Place of the first of nodes[first:last] that has the bit; those without it come before."""
    while first < last:
        middle = (first + last) // 2
        if nodes[middle] & bit:
            last = middle
        else:
            first = middle + 1
    return first


@njit(cache=True)
def _route(columns: Any, rows: Any, seed: Any, tree: Any, max_depth: Any, space: SplitSpace, within: Any, within_level: Any, order: Any, codes: Any) -> None:  # noqa: E501  # fmt: skip
    """Fill order and codes; see route. Rows outside `within` keep the code 0."""
    kinds, _, _, lower, upper = space
    d, n = columns.shape
    n_words = codes.shape[1]
    ranges, asked, hashes, steps = _at_root(seed, tree, max_depth, space)
    bits = np.zeros(2, np.uint64)  # the branches to the node at hand, left-aligned
    left_over = np.zeros((4, _WALKERS * d), np.int32)
    asked_alone = np.zeros((_WALKERS, *asked.shape), np.int32)
    n_alive, levels, slots = np.zeros((3, _WALKERS), np.int64)
    hashes_alone = np.zeros(_WALKERS, np.uint64)
    n_walkers, n_groups = 0, 0
    group_starts, group_ends = np.empty((2, n // 2 + 1), np.int32)
    spare = np.empty(n, np.int32)
    # Rows order[begin[level]:end[level]] reach the node at hand; the right ones from middle on.
    begin, middle, end = np.zeros((3, max_depth + 2), np.int64)
    branches = np.zeros(max_depth + 2, np.int64)  # branches entered so far: 0, 1 or 2
    entered = np.zeros(max_depth + 2, np.bool_)  # whether the last of these had any rows
    # The nodes within[first_in[level]:last_in[level]] lie below the node at hand, or are it.
    first_in, last_in = np.zeros((2, max_depth + 2), np.int64)
    end[0], last_in[0] = n, within.size
    level = 0
    while level >= 0:
        a, b = begin[level], end[level]
        mark = _ONE << np.uint64(63 - (level & 63))
        if branches[level] > 0:
            if entered[level]:
                _ascend(level, kinds, ranges, asked, steps)
                bits[level >> 6] &= ~mark
        elif level <= within_level and first_in[level] == last_in[level]:
            level -= 1
            continue
        elif b - a <= _SMALL_GROUP and level >= within_level:
            for slot in range(a, b):
                w = n_walkers
                for f in range(d):
                    for part in range(3):
                        left_over[part, w * d + f] = ranges[part, f]
                    left_over[_VALUE, w * d + f] = rows[order[slot], f]
                    if kinds[f] != 0 and ranges[_LOW, f] < ranges[_HIGH, f]:
                        for i in range(ranges[_LOW, f]):
                            asked_alone[w, f, i] = asked[f, i]
                hashes_alone[w], n_alive[w] = hashes[level], steps[level, _N_ALIVE]
                levels[w], slots[w] = level, slot
                for word in range(n_words):
                    codes[slot, word] = bits[word]
                n_walkers += 1
                if n_walkers == _WALKERS:
                    _walk_alone(n_walkers, max_depth, kinds, lower, upper, left_over, asked_alone, hashes_alone, n_alive, levels, slots, codes)  # noqa: E501  # fmt: skip
                    n_walkers = 0
            if b - a > 1:
                group_starts[n_groups], group_ends[n_groups] = a, b
                n_groups += 1
            level -= 1
            continue
        elif level == max_depth or steps[level, _N_ALIVE] == 0:
            for slot in range(a, b):
                for word in range(n_words):
                    codes[slot, word] = bits[word]
                codes[slot, level >> 6] |= mark
            level -= 1
            continue
        else:
            _split(level, kinds, ranges, asked, hashes, steps)
            feature = steps[level, _FEATURE]
            middle[level] = _partition(
                columns, rows, feature, steps[level, _CODE], kinds[feature], a, b, order, spare
            )
        right = branches[level]
        if right == 2:
            level -= 1
            continue
        branches[level] += 1
        a, b = (a, middle[level]) if right == 0 else (middle[level], b)
        entered[level] = a < b
        if a == b:
            continue
        _descend(level, right, kinds, lower, upper, ranges, asked, hashes, steps)
        bits[level >> 6] |= mark * np.uint64(right)
        level += 1
        begin[level], end[level] = a, b
        first_in[level], last_in[level] = first_in[level - 1], last_in[level - 1]
        if level <= within_level:
            part = _first_with(mark, within, first_in[level], last_in[level])
            if right == 0:
                last_in[level] = part
            else:
                first_in[level] = part
        branches[level] = 0
    _walk_alone(n_walkers, max_depth, kinds, lower, upper, left_over, asked_alone, hashes_alone, n_alive, levels, slots, codes)  # noqa: E501  # fmt: skip
    _sort_groups(group_starts, group_ends, n_groups, order, codes)


def code_words(max_depth: int) -> int:
    """Words of a path code: its bits and its end mark fit one word up to depth 63, else two."""
    return 1 if max_depth < 64 else 2


def route(
    columns: Array,
    *,
    seed: int,
    tree: int,
    max_depth: int,
    space: SplitSpace,
    within: Array | None = None,
    within_level: int = 0,
) -> tuple[Array, Array]:
    """Walk rows down one tree.

    Args:
        columns: uint16[d, n], codes by feature and row.
        seed: structure seed, 0 <= seed < 2^63.
        tree: number of the tree.
        max_depth: largest number of branches on a path, 1..126.
        space: what the splits choose from.
        within: uint64[m], left-aligned branches to nodes at within_level, ascending; only rows
            that reach one of them are walked. None for all rows.
        within_level: 1..63, below max_depth.

    Returns:
        (order int32[k], codes uint64[k, n_words]): codes ascending, codes[i] of row order[i].
    """
    n = columns.shape[1]
    order = np.arange(n, dtype=np.int32)
    codes = np.zeros((n, code_words(max_depth)), np.uint64)
    if n == 0:
        return order, codes
    columns = np.ascontiguousarray(columns)
    rows = np.ascontiguousarray(columns.T)
    nodes = np.zeros(1, np.uint64) if within is None else within
    level = 0 if within is None else within_level
    _route(columns, rows, seed, tree, max_depth, space, nodes, level, order, codes)
    if within is not None:
        walked = codes.any(axis=1)  # the end mark of a code is a 1
        order, codes = order[walked], codes[walked]
    return order, codes


@njit(cache=True)
def _splits(levels: Any, prefixes: Any, seed: Any, tree: Any, max_depth: Any, space: SplitSpace, features: Any, codes: Any) -> None:  # noqa: E501  # fmt: skip
    """Fill features and codes; see splits."""
    kinds, _, _, lower, upper = space
    ranges, asked, hashes, steps = _at_root(seed, tree, max_depth, space)
    depth = 0
    for node in range(levels.size):
        while depth > 0 and depth >= levels[node]:
            depth -= 1
            _ascend(depth, kinds, ranges, asked, steps)
        if levels[node] > 0:
            bit = (prefixes[node, depth >> 6] >> np.uint64(63 - (depth & 63))) & _ONE
            _descend(depth, np.int64(bit), kinds, lower, upper, ranges, asked, hashes, steps)
            depth += 1
        _split(depth, kinds, ranges, asked, hashes, steps)
        features[node], codes[node] = steps[depth, _FEATURE], steps[depth, _CODE]


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
