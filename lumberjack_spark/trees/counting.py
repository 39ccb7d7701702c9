"""Exact node counts of one tree from its sorted path codes, as a stream in bounded memory.

The codes of a tree come in ascending order, equal ones side by side, so that the rows of a node
are neighbours. A node closes when a code outside it comes; deeper nodes close first. A closing
node with more than minimum_count rows gets its threshold bit (Algorithm 2 of the paper, one keyed
word a node, see PROOF.md), drawn in this fixed order of nodes. Kept are the nodes that Algorithm 1
may mark heavy: those with a 1-bit of their own or below them. With each go the class counts of its
two children, since the leaves of the forest are children of heavy nodes.

Memory     follows the depth, the number of classes and the kept nodes, never the rows.
Privacy    counts are exact and stay inside fit; bits are functions of counts and keyed words only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from lumberjack_spark.trees.paths import MAX_DEPTH

PAYLOAD_COUNT_BITS = 20  # a payload is class << 20 | count: at most 4096 classes, 2^20 - 1 rows
_COUNT_MASK = np.uint32((1 << PAYLOAD_COUNT_BITS) - 1)
_CLASS_SHIFT = np.uint32(PAYLOAD_COUNT_BITS)
_ONE = np.uint64(1)
_SLOTS = MAX_DEPTH + 2  # nodes that one code can close, and entries of the stack


@dataclass(frozen=True, eq=False)
class NodeRecords:
    """Nodes of one tree that may be heavy, with exact counts of their children.

    Attributes:
        levels: int64[n], levels of the nodes; the root is 0.
        prefixes: uint64[n, n_words], branches to the nodes, left-aligned, zeros after.
        bits: bool[n], the threshold bit of each node.
        children: int64[n, 2, n_classes], exact class counts of the left and the right child.
    """

    levels: np.ndarray
    prefixes: np.ndarray
    bits: np.ndarray
    children: np.ndarray


@njit(cache=True, inline="always")
def _leading_zeros(x: Any) -> Any:
    """Number of zero bits before the first 1 of a non-zero uint64."""
    n = np.int64(0)
    for width in (32, 16, 8, 4, 2, 1):  # without branches: they would be mispredicted
        step = np.int64((x >> np.uint64(64 - width)) == 0) * width
        x <<= np.uint64(step)
        n += step
    return n


@njit(cache=True)
def _length(code: Any) -> Any:
    """Number of branches in a path code: the place of its last 1."""
    word = code.size - 1
    while code[word] == 0:
        word -= 1
    x = code[word]
    return 64 * word + 63 - (63 - _leading_zeros(x & (~x + _ONE)))


@njit(cache=True)
def _first_difference(code: Any, codes: Any, i: Any) -> Any:
    """Place of the first bit in which code and codes[i] differ; -1 if they are equal."""
    for word in range(code.size):
        if code[word] != codes[i, word]:
            return 64 * word + _leading_zeros(code[word] ^ codes[i, word])
    return -1


@njit(cache=True, inline="always")  # a call would copy the descriptors of 13 arrays
def _close(down_to: Any, code: Any, sums: Any, stack_levels: Any, stack_sums: Any, stack_flags: Any, n_stack: Any, first_level: Any, minimum_count: Any, weights: Any, words: Any, n_words_used: Any, levels: Any, prefixes: Any, bits: Any, children: Any, n_records: Any) -> Any:  # noqa: E501  # fmt: skip
    """Close the open nodes at levels > down_to; returns (n_stack, n_words_used, n_records)."""
    n_classes = sums.size - 1
    top = -1  # deepest level of the entry at hand; that of the last entry is found when needed
    flag = False
    right_level, right_entry = -1, 0
    entry = n_stack - 1
    while True:
        first = stack_levels[entry]
        flag = flag or stack_flags[entry]
        count = sums[n_classes] - stack_sums[entry, n_classes]
        if count > minimum_count:
            if top < 0:
                top = _length(code) - 1
            for level in range(top, max(first, down_to + 1, first_level) - 1, -1):
                place = count - minimum_count - 1
                bit = True
                if place < weights.size:
                    bit = words[n_words_used] < weights[place]
                    n_words_used += 1
                flag = flag or bit
                if flag:
                    levels[n_records] = level
                    bits[n_records] = bit
                    for word in range(code.size):
                        kept = min(max(level - 64 * word, 0), 64)
                        prefixes[n_records, word] = 0
                        if kept > 0:
                            drop = np.uint64(64 - kept)
                            prefixes[n_records, word] = (code[word] >> drop) << drop
                    side = np.int64((code[level >> 6] >> np.uint64(63 - (level & 63))) & _ONE)
                    for c in range(n_classes):
                        both = sums[c] - stack_sums[entry, c]
                        children[n_records, 0, c] = 0
                        children[n_records, 1, c] = 0
                        if right_level == level + 1:
                            right = sums[c] - stack_sums[right_entry, c]
                            children[n_records, 0, c] = both - right
                            children[n_records, 1, c] = right
                        else:
                            children[n_records, side, c] = both
                    n_records += 1
        if first <= down_to:
            break
        right_level, right_entry = first, entry
        top = first - 1
        entry -= 1
        if top <= down_to:
            break
    if entry >= 0:
        stack_flags[entry] = stack_flags[entry] or flag
    return entry + 1, n_words_used, n_records


@njit(cache=True)
def _count(codes: Any, payload: Any, start: Any, code: Any, sums: Any, stack_levels: Any, stack_sums: Any, stack_flags: Any, n_stack: Any, first_level: Any, minimum_count: Any, weights: Any, words: Any, levels: Any, prefixes: Any, bits: Any, children: Any) -> Any:  # noqa: E501  # fmt: skip
    """Take records start.. until they, the words or the output run out.

    Returns (first record not taken, n_stack, words used, nodes kept).
    """
    n_classes = sums.size - 1
    used, kept = 0, 0
    for i in range(start, codes.shape[0]):
        differs = 0
        if n_stack > 0:
            differs = _first_difference(code, codes, i)
        if n_stack == 0 or differs >= 0:
            if used + _SLOTS > words.size or kept + _SLOTS > levels.size:
                return i, n_stack, used, kept
            level = 0
            if n_stack > 0:
                level = differs + 1
                n_stack, used, kept = _close(differs, code, sums, stack_levels, stack_sums, stack_flags, n_stack, first_level, minimum_count, weights, words, used, levels, prefixes, bits, children, kept)  # noqa: E501  # fmt: skip
            stack_levels[n_stack] = level
            stack_flags[n_stack] = False
            for c in range(n_classes + 1):  # loops: numba's slice assignments cost more
                stack_sums[n_stack, c] = sums[c]
            n_stack += 1
            for word in range(code.size):
                code[word] = codes[i, word]
        count = np.int64(payload[i] & _COUNT_MASK)
        sums[np.int64(payload[i] >> _CLASS_SHIFT)] += count
        sums[n_classes] += count
    return codes.shape[0], n_stack, used, kept


class NodeCounter:
    """Counts the nodes of one tree from ascending path codes, fed in any number of pieces.

    Args:
        n_words: words of a path code, 1 or 2.
        n_classes: number of declared classes.
        minimum_count: nodes with so many rows or fewer get no bit (c0 of Algorithm 2).
        weights: uint64[m]; a node with minimum_count + 1 + i rows has bit 1 with probability
            weights[i] / 2^64, and with certainty where i >= m.
        first_level: nodes above it are neither counted nor kept.
        take_words: returns the next n words of the tree's noise stream as uint64[n].
    """

    def __init__(
        self,
        *,
        n_words: int,
        n_classes: int,
        minimum_count: int,
        weights: np.ndarray,
        take_words: Callable[[int], np.ndarray],
        first_level: int = 0,
        room: int = 1 << 14,
    ) -> None:
        self._first_level = first_level
        self._minimum_count = minimum_count
        self._weights = np.array(weights, np.uint64)
        self._take_words = take_words
        self._code = np.zeros(n_words, np.uint64)
        self._sums = np.zeros(n_classes + 1, np.int64)  # rows so far by class, and of all classes
        self._stack_levels = np.zeros(_SLOTS, np.int64)
        self._stack_sums = np.zeros((_SLOTS, n_classes + 1), np.int64)
        self._stack_flags = np.zeros(_SLOTS, np.bool_)
        self._n_stack = 0
        self._words = np.empty(0, np.uint64)
        self._room = max(room, _SLOTS)
        self._out = self._new_buffers()
        self._done: list[NodeRecords] = []

    def _new_buffers(self) -> NodeRecords:
        n, n_classes = self._room, self._sums.size - 1
        return NodeRecords(
            np.empty(n, np.int64),
            np.empty((n, self._code.size), np.uint64),
            np.empty(n, np.bool_),
            np.empty((n, 2, n_classes), np.int64),
        )

    def _refill(self) -> None:
        missing = self._room - self._words.size
        if missing > 0:
            self._words = np.concatenate((self._words, self._take_words(missing)))

    def _keep(self, used: int, kept: int) -> None:
        self._words = self._words[used:]
        if kept:
            out = self._out
            self._done.append(
                NodeRecords(
                    out.levels[:kept].copy(),
                    out.prefixes[:kept].copy(),
                    out.bits[:kept].copy(),
                    out.children[:kept].copy(),
                )
            )

    def feed(self, codes: np.ndarray, payload: np.ndarray) -> None:
        """Take the next records: codes uint64[n, n_words] ascending, payload uint32[n]."""
        start = 0
        while start < len(codes):
            self._refill()
            out = self._out
            start, self._n_stack, used, kept = _count(
                codes, payload, start, self._code, self._sums,
                self._stack_levels, self._stack_sums, self._stack_flags, self._n_stack,
                self._first_level, self._minimum_count, self._weights, self._words,
                out.levels, out.prefixes, out.bits, out.children,
            )  # fmt: skip
            self._keep(used, kept)

    def finish(self) -> NodeRecords:
        """Close all open nodes and return the kept ones, each before its parent."""
        if self._n_stack:
            self._refill()
            out = self._out
            self._n_stack, used, kept = _close(
                -1, self._code, self._sums,
                self._stack_levels, self._stack_sums, self._stack_flags, self._n_stack,
                self._first_level, self._minimum_count, self._weights, self._words, 0,
                out.levels, out.prefixes, out.bits, out.children, 0,
            )  # fmt: skip
            self._keep(used, kept)
        empty = self._new_buffers()
        parts = self._done or [
            NodeRecords(empty.levels[:0], empty.prefixes[:0], empty.bits[:0], empty.children[:0])
        ]
        return NodeRecords(
            np.concatenate([p.levels for p in parts]),
            np.concatenate([p.prefixes for p in parts]),
            np.concatenate([p.bits for p in parts]),
            np.concatenate([p.children for p in parts]),
        )

    @property
    def class_counts(self) -> np.ndarray:
        """Rows fed so far by class: int64[n_classes]."""
        return self._sums[:-1]
