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
_SMALL_GROUP = 8  # up to so many rows, walking each alone beats partitioning the group


@njit(cache=True, inline="always")
def _mix(x):  # type: ignore[no-untyped-def]
    """Finaliser of splitmix64: uint64 -> well-mixed uint64."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@njit(cache=True, inline="always")
def _child(node_hash, right):  # type: ignore[no-untyped-def]
    """Hash of the left (right = 0) or right (right = 1) child of a node."""
    return _mix(node_hash + (_LEFT ^ (_LEFT_XOR_RIGHT * np.uint64(right))))


@njit(cache=True)
def _root(seed, tree):  # type: ignore[no-untyped-def]
    """Hash of the root of a tree."""
    return _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(tree) * _GOLDEN)


@njit(cache=True, inline="always")
def _draw(node_hash, base, n_alive, low, high, alive):  # type: ignore[no-untyped-def]
    """(place in alive, feature, code below which to split or rank of the category asked)."""
    place = np.int64(((node_hash >> _S32) * np.uint64(n_alive)) >> _S32)
    feature = np.int64(alive[base + place])
    least = np.int64(low[base + feature])
    room = np.uint64(np.int64(high[base + feature]) - least)
    return place, feature, least + np.int64(((node_hash & _LOW_32) * room) >> _S32)


@njit(cache=True)
def _category(code, n_asked, asked):  # type: ignore[no-untyped-def]
    """The category of a drawn code: its rank counts only those not in asked[:n_asked], sorted."""
    category = code - n_asked
    for i in range(n_asked):
        if category >= asked[i]:
            category += 1
    return category


@njit(cache=True)
def _ask(category, n_asked, asked):  # type: ignore[no-untyped-def]
    """Insert a category into asked[:n_asked], sorted."""
    i = n_asked
    while i > 0 and asked[i - 1] > category:
        asked[i] = asked[i - 1]
        i -= 1
    asked[i] = category


@njit(cache=True)
def _unask(category, n_asked, asked):  # type: ignore[no-untyped-def]
    """Take back _ask, with the same n_asked."""
    i = 0
    while asked[i] != category:
        i += 1
    while i < n_asked:
        asked[i] = asked[i + 1]
        i += 1


@njit(cache=True)
def _walk_alone(
    n,
    max_depth,
    kinds,
    lower,
    upper,
    values,
    low,
    high,
    alive,
    n_alive,
    asked,
    hashes,
    levels,
    slots,
    active,
    codes,
):  # type: ignore[no-untyped-def]
    """Walk the walkers 1..n to their ends, one level each in turn."""
    d = kinds.size
    for i in range(n):
        active[i] = i + 1
    while n > 0:
        i = 0
        while i < n:
            w = active[i]
            base = w * d
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
            last = np.int64(alive[base + n_alive[w]])
            alive[base + place] += (last - feature) * gone
            codes[slots[w], level >> 6] |= bit * np.uint64(right)
            hashes[w] = _child(node_hash, right)
            levels[w] = level + 1
            i += 1


@njit(cache=True)
def _sort_small_groups(starts, ends, n_groups, order, codes):  # type: ignore[no-untyped-def]
    """Sort the codes of each group in place, order with them."""
    two_words = codes.shape[1] == 2
    for g in range(n_groups):
        for i in range(starts[g] + 1, ends[g]):
            first, unit = codes[i, 0], order[i]
            second = codes[i, 1] if two_words else np.uint64(0)
            j = i - 1
            while j >= starts[g] and (
                codes[j, 0] > first or (two_words and codes[j, 0] == first and codes[j, 1] > second)
            ):
                codes[j + 1, 0] = codes[j, 0]
                if two_words:
                    codes[j + 1, 1] = codes[j, 1]
                order[j + 1] = order[j]
                j -= 1
            codes[j + 1, 0], order[j + 1] = first, unit
            if two_words:
                codes[j + 1, 1] = second


@njit(cache=True)
def _route(columns, rows, seed, tree, max_depth, kinds, low_0, high_0, lower, upper, order, codes):  # type: ignore[no-untyped-def]
    """Fill order and codes; see route."""
    d, n = columns.shape
    any_one_of = kinds.max() != 0
    two_words = codes.shape[1] == 2
    # Walker 0 is the group of rows being partitioned, the others are single rows.
    low = np.zeros((_WALKERS + 1) * d, np.int32)
    high = np.zeros((_WALKERS + 1) * d, np.int32)
    alive = np.zeros((_WALKERS + 1) * d, np.int32)
    values = np.zeros((_WALKERS + 1) * d, np.int32)
    n_alive = np.zeros(_WALKERS + 1, np.int64)
    asked = np.zeros((_WALKERS + 1, d if any_one_of else 1, max_depth + 1), np.int32)
    hashes = np.zeros(_WALKERS + 1, np.uint64)
    levels = np.zeros(_WALKERS + 1, np.int64)
    slots = np.zeros(_WALKERS + 1, np.int64)
    active = np.zeros(_WALKERS + 1, np.int64)
    n_walkers = 0
    group_starts, group_ends = np.empty(n // 2 + 1, np.int32), np.empty(n // 2 + 1, np.int32)
    n_groups = 0
    # One entry a level of the path to the current node; begin, middle, end are places in order.
    begin, middle, end = np.zeros((3, max_depth + 2), np.int64)
    stage = np.zeros(
        max_depth + 2, np.int64
    )  # 0 new, 1 left branch entered, 2 right branch entered
    place_at, feature_at, code_at, low_at, high_at, gone_at = np.zeros((6, max_depth + 2), np.int64)
    hash_at = np.zeros(max_depth + 2, np.uint64)
    right_side = np.empty(n, np.int32)
    word = np.zeros(2, np.uint64)

    for f in range(d):
        low[f], high[f] = low_0[f], high_0[f]
        if low[f] < high[f]:
            alive[n_alive[0]] = f
            n_alive[0] += 1
    end[0], hash_at[0] = n, _root(seed, tree)
    level = 0
    while level >= 0:
        if stage[level] > 0:  # back from a child: take its step back
            feature = feature_at[level]
            if gone_at[level]:
                alive[n_alive[0]] = alive[place_at[level]]
                alive[place_at[level]] = feature
                n_alive[0] += 1
            if kinds[feature] != 0 and stage[level] == 2:
                _unask(code_at[level], low_at[level], asked[0, feature])
            low[feature], high[feature] = low_at[level], high_at[level]
            word[level >> 6] &= ~(_ONE << np.uint64(63 - (level & 63)))
        a, b = begin[level], end[level]
        if stage[level] == 0:
            if b - a <= _SMALL_GROUP:
                for slot in range(a, b):
                    n_walkers += 1
                    w, unit = n_walkers, order[slot]
                    base = w * d
                    for f in range(d):
                        low[base + f], high[base + f] = low[f], high[f]
                        alive[base + f], values[base + f] = alive[f], rows[unit, f]
                        if any_one_of and kinds[f] != 0 and low[f] < high[f]:
                            for i in range(low[f]):
                                asked[w, f, i] = asked[0, f, i]
                    n_alive[w], hashes[w] = n_alive[0], hash_at[level]
                    levels[w], slots[w] = level, slot
                    codes[slot, 0] = word[0]
                    if two_words:
                        codes[slot, 1] = word[1]
                    if n_walkers == _WALKERS:
                        _walk_alone(n_walkers, max_depth, kinds, lower, upper, values, low, high, alive, n_alive, asked, hashes, levels, slots, active, codes)  # noqa: E501  # fmt: skip
                        n_walkers = 0
                if b - a > 1:
                    group_starts[n_groups], group_ends[n_groups] = a, b
                    n_groups += 1
                level -= 1
                continue
            if level == max_depth or n_alive[0] == 0:
                word[level >> 6] |= _ONE << np.uint64(63 - (level & 63))
                for slot in range(a, b):
                    codes[slot, 0] = word[0]
                    if two_words:
                        codes[slot, 1] = word[1]
                word[level >> 6] &= ~(_ONE << np.uint64(63 - (level & 63)))
                level -= 1
                continue
            place, feature, code = _draw(hash_at[level], 0, n_alive[0], low, high, alive)
            if kinds[feature] != 0:
                code = _category(code, low[feature], asked[0, feature])
            place_at[level], feature_at[level], code_at[level] = place, feature, code
            low_at[level], high_at[level] = low[feature], high[feature]
            at, n_right = a, 0
            for i in range(a, b):
                unit = order[i]
                value = np.int64(columns[feature, unit])
                right = np.int64(value > code if kinds[feature] == 0 else value != code)
                order[at] = unit
                right_side[n_right] = unit
                n_right += right
                at += 1 - right
            for i in range(n_right):
                order[at + i] = right_side[i]
            middle[level] = at
        right = stage[level]
        if right == 2:
            level -= 1
            continue
        stage[level] += 1
        a, b = (begin[level], middle[level]) if right == 0 else (middle[level], end[level])
        feature, code, place = feature_at[level], code_at[level], place_at[level]
        if kinds[feature] == 0:
            if right:
                low[feature] = upper[feature, code]
            else:
                high[feature] = lower[feature, code]
        elif right:
            _ask(code, low[feature], asked[0, feature])
            low[feature] += 1
        else:
            low[feature] = high[feature]
        gone_at[level] = low[feature] == high[feature]
        if gone_at[level]:
            n_alive[0] -= 1
            alive[place] = alive[n_alive[0]]
            alive[n_alive[0]] = feature
        word[level >> 6] |= np.uint64(right) << np.uint64(63 - (level & 63))
        hash_at[level + 1] = _child(hash_at[level], right)
        level += 1
        begin[level], end[level], stage[level] = a, b, 0
    _walk_alone(n_walkers, max_depth, kinds, lower, upper, values, low, high, alive, n_alive, asked, hashes, levels, slots, active, codes)  # noqa: E501  # fmt: skip
    _sort_small_groups(group_starts, group_ends, n_groups, order, codes)


def code_words(max_depth: int) -> int:
    """Words of a path code: its bits and its end mark fit one word up to depth 63, else two."""
    return 1 if max_depth < 64 else 2


def route(
    columns: np.ndarray, *, seed: int, tree: int, max_depth: int, space: SplitSpace
) -> tuple[np.ndarray, np.ndarray]:
    """Walk rows down one tree.

    Args:
        columns: uint16[d, n], codes by feature and row.
        seed: structure seed, 0 <= seed < 2^63.
        tree: number of the tree.
        max_depth: largest number of branches on a path, 1..126.
        space: what the splits choose from.

    Returns:
        (order int32[n], codes uint64[n, n_words]): codes ascending, codes[i] of row order[i].
    """
    n = columns.shape[1]
    order = np.arange(n, dtype=np.int32)
    codes = np.zeros((n, code_words(max_depth)), np.uint64)
    if n:
        columns = np.ascontiguousarray(columns)
        rows = np.ascontiguousarray(columns.T)
        _route(
            columns, rows, seed, tree, max_depth, space.kinds, space.low, space.high,
            space.lower, space.upper, order, codes,
        )  # fmt: skip
    return order, codes


@njit(cache=True)
def _splits(
    levels,
    prefixes,
    seed,
    tree,
    max_depth,
    kinds,
    low_0,
    high_0,
    lower,
    upper,
    features,
    thresholds,
):  # type: ignore[no-untyped-def]
    """Fill features and thresholds; see splits."""
    d = kinds.size
    low, high, alive = low_0.copy(), high_0.copy(), np.zeros(d, np.int32)
    asked = np.zeros((d, max_depth + 1), np.int32)
    place_at, low_at, high_at, gone_at, node_at, right_at = np.zeros((6, max_depth + 2), np.int64)
    hash_at = np.zeros(max_depth + 2, np.uint64)
    n_alive = 0
    for f in range(d):
        if low[f] < high[f]:
            alive[n_alive] = f
            n_alive += 1
    hash_at[0] = _root(seed, tree)
    depth = 0
    for node in range(levels.size):
        while depth > max(levels[node] - 1, 0) or (depth > 0 and levels[node] == 0):
            depth -= 1
            feature = features[node_at[depth]]
            if gone_at[depth]:
                alive[n_alive] = alive[place_at[depth]]
                alive[place_at[depth]] = feature
                n_alive += 1
            if kinds[feature] != 0 and right_at[depth]:
                _unask(thresholds[node_at[depth]], low_at[depth], asked[feature])
            low[feature], high[feature] = low_at[depth], high_at[depth]
        if levels[node] > 0:
            parent = node_at[depth]
            feature, code = np.int64(features[parent]), np.int64(thresholds[parent])
            right = np.int64((prefixes[node, depth >> 6] >> np.uint64(63 - (depth & 63))) & _ONE)
            low_at[depth], high_at[depth], right_at[depth] = low[feature], high[feature], right
            if kinds[feature] == 0:
                if right:
                    low[feature] = upper[feature, code]
                else:
                    high[feature] = lower[feature, code]
            elif right:
                _ask(code, low[feature], asked[feature])
                low[feature] += 1
            else:
                low[feature] = high[feature]
            gone_at[depth] = low[feature] == high[feature]
            if gone_at[depth]:
                n_alive -= 1
                alive[place_at[depth]] = alive[n_alive]
                alive[n_alive] = feature
            hash_at[depth + 1] = _child(hash_at[depth], right)
            depth += 1
        place, feature, code = _draw(hash_at[depth], 0, n_alive, low, high, alive)
        if kinds[feature] != 0:
            code = _category(code, low[feature], asked[feature])
        features[node], thresholds[node] = feature, code
        place_at[depth], node_at[depth] = place, node


def splits(
    levels: np.ndarray,
    prefixes: np.ndarray,
    *,
    seed: int,
    tree: int,
    max_depth: int,
    space: SplitSpace,
) -> tuple[np.ndarray, np.ndarray]:
    """Splits of the nodes of one tree.

    Args:
        levels: int64[n], levels of nodes in preorder, closed under parents.
        prefixes: uint64[n, n_words], the branches to them, left-aligned.
        seed, tree, max_depth, space: as for route.

    Returns:
        (features uint16[n], codes uint16[n]): left iff the row's code is <= the node's (ordered
        feature) or equal to it (one-of feature).
    """
    features, codes = np.zeros(len(levels), np.uint16), np.zeros(len(levels), np.uint16)
    if len(levels):
        _splits(
            levels, prefixes, seed, tree, max_depth, space.kinds, space.low, space.high,
            space.lower, space.upper, features, codes,
        )  # fmt: skip
    return features, codes
