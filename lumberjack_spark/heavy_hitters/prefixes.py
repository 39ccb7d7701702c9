"""Sorted sets of node prefixes of one level, as one-dimensional keys that numpy can sort.

A node at level v is the first v bits of the paths that reach it, left-aligned, zeros after: its
label without the leading one.  Codes are uint64[n, W], most significant word first, W = 1 or 2.
Keys are uint64[n] for one word, and 16 big-endian bytes for two: both compare as the codes do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64
Keys = np.ndarray[Any, np.dtype[Any]]


def to_keys(codes: NDArray[np.uint64]) -> Keys:
    """Turn uint64[n, W] codes into keys, in the same order."""
    if codes.shape[1] == 1:
        return np.ascontiguousarray(codes[:, 0])
    return np.ascontiguousarray(codes.astype(">u8")).view("S16")[:, 0]


def to_codes(keys: Keys) -> NDArray[np.uint64]:
    """Turn keys into uint64[n, W] codes, in the same order."""
    if keys.dtype == np.uint64:
        return keys[:, None]
    codes: NDArray[np.uint64] = keys.view(">u8").reshape(-1, 2).astype(np.uint64)
    return codes


def first_bits(keys: Keys, level: int) -> Keys:
    """Return each key's first `level` bits, zeros after."""
    return _combine(np.bitwise_and, keys, _all_ones(keys) - _tail_ones(keys, level))


def has_bits_after(keys: Keys, level: int) -> NDArray[np.bool_]:
    """Return whether any bit of each key after the first `level` is a one: bool[n]."""
    tails = _combine(np.bitwise_and, keys, _tail_ones(keys, level))
    words = tails.view(np.uint64).reshape(-1, keys.itemsize // 8)
    found: NDArray[np.bool_] = words[:, 0] != 0
    for word in range(1, words.shape[1]):
        found |= words[:, word] != 0
    return found


def starts_of_runs(keys: Keys) -> NDArray[np.intp]:
    """Return where each run of equal keys starts in a sorted array."""
    changes = np.ones(keys.size, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def ancestors(keys: Keys, level: int) -> Keys:
    """Return the distinct prefixes of `level` bits of a sorted set, sorted."""
    heads = first_bits(keys, level)
    return heads[starts_of_runs(heads)]


def contains(members: Keys, keys: Keys) -> NDArray[np.bool_]:
    """Return for each key whether it is in the sorted set `members`: bool[n]."""
    if not members.size:
        return np.zeros(keys.size, np.bool_)
    places = np.searchsorted(members, keys)
    places[places == members.size] = 0
    found: NDArray[np.bool_] = members[places] == keys
    return found


def union(left: Keys, right: Keys) -> Keys:
    """Return the sorted union of two sorted sets."""
    # The stable sort merges two sorted runs in linear time.
    both = np.sort(np.concatenate([left, right]), kind="stable")
    return both[starts_of_runs(both)]


def rows_below(rows: Keys, nodes: Keys, level: int) -> NDArray[np.intp]:
    """Return the places, in sorted `rows`, of those that pass through `nodes` of one level."""
    begins = np.searchsorted(rows, nodes)
    last = _combine(np.bitwise_or, nodes, _tail_ones(nodes, level))
    sizes = np.searchsorted(rows, last, side="right") - begins
    offsets = begins - (np.cumsum(sizes) - sizes)
    return np.repeat(offsets, sizes) + np.arange(sizes.sum(), dtype=np.intp)


def _all_ones(keys: Keys) -> int:
    """Return the integer that has all bits of a key."""
    return (1 << (8 * keys.itemsize)) - 1


def _tail_ones(keys: Keys, level: int) -> int:
    """Return the integer that has all bits of a key but the first `level`."""
    return _all_ones(keys) >> level


def _combine(operation: np.ufunc, keys: Keys, mask: int) -> Keys:
    """Combine every key with a mask, bit by bit."""
    if keys.dtype == np.uint64:
        single: Keys = operation(keys, np.uint64(mask))
        return single
    # Bitwise operations do not care about byte order, so the bytes are combined as they lie.
    words = np.frombuffer(mask.to_bytes(16, "big"), np.uint64)
    double: Keys = operation(keys.view(np.uint64).reshape(-1, 2), words).view("S16")[:, 0]
    return double
