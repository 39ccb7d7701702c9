"""Integers that Spark's hash partitioning sends to chosen partitions.

Spark places a row by Murmur3 of its key, modulo the number of partitions, so that a handful of
keys would crowd some partitions and leave others empty. Choosing the integers evens that out.
Source: Murmur3_x86_32 of one 32-bit integer with seed 42, as in Spark's HashPartitioning.
"""

import itertools

_MASK = 0xFFFFFFFF
_SEED = 42


def keys_of_partitions(n_partitions: int) -> list[int]:
    """An integer key for each of n_partitions >= 1: key i goes to partition i.

    >>> keys_of_partitions(2) == [k for p in range(2) for k in [keys_of_partitions(2)[p]]]
    True
    """
    keys: dict[int, int] = {}
    for key in itertools.count():
        keys.setdefault(_signed(_murmur3(key)) % n_partitions, key)
        if len(keys) == n_partitions:
            return [keys[partition] for partition in range(n_partitions)]
    raise AssertionError("unreachable")


def _rotate(x: int, bits: int) -> int:
    return ((x << bits) | (x >> (32 - bits))) & _MASK


def _murmur3(key: int) -> int:
    """Murmur3_x86_32 of a non-negative 32-bit integer."""
    block = _rotate(key * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    h = (_rotate(_SEED ^ block, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h = (h ^ (h >> 16)) * 0x85EBCA6B & _MASK
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & _MASK
    return h ^ (h >> 16)


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x
