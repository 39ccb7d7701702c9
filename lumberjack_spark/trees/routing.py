"""The walk of rows down the random trees, to their path codes.

Path code  the branches taken (left 0, right 1) left-aligned in one or two 64-bit words, then a
           single 1, then zeros. A walk ends at max_depth, or where nothing is left to split on.
Never      stops at a small group of rows: one more row would then move the codes of others.

Large groups are partitioned in place, one split drawn a node; small ones walk row by row. The inner
loops are free of branches that depend on rows: those would be mispredicted half of the time.
"""

from typing import Any

import numpy as np
from numba import njit

from lumberjack_spark.trees.paths import (
    ALIVE,
    CODE,
    FEATURE,
    HIGH,
    LOW,
    N_ALIVE,
    ONE,
    VALUE,
    Array,
    ascend,
    ask,
    at_root,
    category_of,
    child_hash,
    descend,
    draw,
    split,
)
from lumberjack_spark.trees.space import SplitSpace

# Indices of inner loops are unsigned: of a signed one numba asks each time if it is negative.
_IN_WORD, _TO_WORD = np.uint64(63), np.uint64(6)  # bits of a level's place in its word; the word
_WALKERS = 32  # single rows walked in turn, so that the latencies of their steps overlap
_ROWS_IN_CACHE = 1 << 15  # up to so many rows, reading them row by row stays in the cache
_SMALL_GROUP = 16  # up to so many rows, walking each alone beats partitioning the group


@njit(cache=True)
def _walk_alone(n: Any, max_depth: Any, kinds: Any, lower: Any, upper: Any, left_over: Any, asked: Any, hashes: Any, n_alive: Any, levels: Any, slots: Any, codes: Any) -> None:  # noqa: E501  # fmt: skip
    """Walk the walkers 0..n-1 to their ends, one level each in turn.

    left_over uint32[4, walkers * d] holds LOW, HIGH, ALIVE and the row's codes of each walker.
    """
    low, high, alive, values = (
        left_over[LOW],
        left_over[HIGH],
        left_over[ALIVE],
        left_over[VALUE],
    )
    active = np.arange(n).astype(np.uint64)
    d, deepest, n_active = np.uint64(kinds.size), np.uint64(max_depth), np.uint64(n)
    while n_active > 0:
        i = np.uint64(0)
        while i < n_active:
            w = active[i]
            base, level, left = w * d, levels[w], n_alive[w]
            bit = ONE << (_IN_WORD - (level & _IN_WORD))
            if level == deepest or left == 0:
                codes[slots[w], level >> _TO_WORD] |= bit
                n_active -= ONE
                active[i] = active[n_active]
                continue
            node_hash = hashes[w]
            place, feature, code = draw(node_hash, base, left, low, high, alive)
            at = base + feature
            least, most, value = np.uint64(low[at]), np.uint64(high[at]), np.uint64(values[at])
            if kinds[feature] == 0:
                right = np.uint64(value > code)
                above, below = np.uint64(upper[feature, code]), np.uint64(lower[feature, code])
                least, most = (above if right else least), (most if right else below)
            else:
                category = np.uint64(
                    category_of(np.int64(code), np.int64(least), asked[w, feature])
                )
                right = np.uint64(value != category)
                if right:
                    ask(np.int64(category), np.int64(least), asked[w, feature])
                least = least + ONE if right else most
            low[at], high[at] = least, most
            if least == most:
                n_alive[w] = left - ONE
                alive[base + place] = alive[base + left - ONE]
            codes[slots[w], level >> _TO_WORD] |= bit * right
            hashes[w] = child_hash(node_hash, right)
            levels[w] = level + ONE
            i += ONE


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
def _partition(columns: Any, rows: Any, feature: Any, code: Any, kind: Any, a: Any, b: Any, order: Any) -> Any:  # noqa: E501  # fmt: skip
    """Bring the rows order[a:b] that go left to the front; returns where right begins."""
    by_row = b - a <= _ROWS_IN_CACHE
    at = np.uint32(a)
    feature, code, end = np.uint32(feature), np.uint32(code), np.uint32(b)
    ordered = kind == 0
    for i in range(at, end):
        unit = order[i]
        value = np.uint32(rows[unit, feature] if by_row else columns[feature, unit])
        left = np.uint32(value <= code if ordered else value == code)
        order[i], order[at] = order[at], unit
        at = np.uint32(at + left)
    return np.int64(at)


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
    ranges, asked, hashes, steps = at_root(seed, tree, max_depth, space)
    bits = np.zeros(2, np.uint64)  # the branches to the node at hand, left-aligned
    left_over = np.zeros((4, _WALKERS * d), np.uint32)
    asked_alone = np.zeros((_WALKERS, *asked.shape), np.int32)
    n_alive, levels, slots = np.zeros((3, _WALKERS), np.uint64)
    hashes_alone = np.zeros(_WALKERS, np.uint64)
    n_walkers, n_groups = 0, 0
    group_starts, group_ends = np.empty((2, n // 2 + 1), np.int32)
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
        mark = ONE << np.uint64(63 - (level & 63))
        if branches[level] > 0:
            if entered[level]:
                ascend(level, kinds, ranges, asked, steps)
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
                    left_over[VALUE, w * d + f] = rows[order[slot], f]
                    if kinds[f] != 0 and ranges[LOW, f] < ranges[HIGH, f]:
                        for i in range(ranges[LOW, f]):
                            asked_alone[w, f, i] = asked[f, i]
                hashes_alone[w], n_alive[w] = hashes[level], steps[level, N_ALIVE]
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
        elif level == max_depth or steps[level, N_ALIVE] == 0:
            for slot in range(a, b):
                for word in range(n_words):
                    codes[slot, word] = bits[word]
                codes[slot, level >> 6] |= mark
            level -= 1
            continue
        else:
            split(level, kinds, ranges, asked, hashes, steps)
            feature = steps[level, FEATURE]
            middle[level] = _partition(
                columns, rows, feature, steps[level, CODE], kinds[feature], a, b, order
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
        descend(level, right, kinds, lower, upper, ranges, asked, hashes, steps)
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
    rows: Array | None = None,
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
        rows: uint16[n, d], contiguous, columns turned around, if the caller has it already.

    Returns:
        (order uint32[k], codes uint64[k, n_words]): codes ascending, codes[i] of row order[i].
    """
    n = columns.shape[1]
    order = np.arange(n, dtype=np.uint32)
    codes = np.zeros((n, code_words(max_depth)), np.uint64)
    if n == 0:
        return order, codes
    columns = np.ascontiguousarray(columns)
    rows = np.ascontiguousarray(columns.T) if rows is None else rows
    nodes = np.zeros(1, np.uint64) if within is None else within
    level = 0 if within is None else within_level
    _route(columns, rows, seed, tree, max_depth, space, nodes, level, order, codes)
    if within is not None:
        walked = codes.any(axis=1)  # the end mark of a code is a 1
        order, codes = order[walked], codes[walked]
    return order, codes
