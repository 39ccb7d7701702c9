"""Keyed streams of uniform 64-bit words: SHAKE-256 in counter mode.

Word j of a stream is a function of (key, stage, ids, j) alone: not of how many words are taken at a
time, of the machine's byte order, or of other streams.  Chunk c of 65,536 words is
SHAKE-256(length-prefixed key, stage, ids; c), read as little-endian words.
Source     FIPS 202; the guarantee is computational: delta + (1 + e^epsilon) * Adv.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

CHUNK_WORDS = 65_536
_FIRST_WORDS = 64
_DOMAIN = b"lumberjack_spark noise stream 1"


class WordStream:
    """The words of one (key, stage, ids), in order; every word is handed out once.

    A stream holds the key, so it is never shown, and it is made where it is used: pickled or copied
    it would hand out its words twice.
    """

    __slots__ = ("_chunk", "_place", "_position", "_words")

    def __init__(self, secret: bytes, stage: str, ids: Sequence[int]) -> None:
        self._place = _encode_place(secret, stage, ids)
        self._chunk = 0
        self._position = 0
        self._words: NDArray[np.uint64] = np.empty(0, np.uint64)

    def take(self, size: int) -> NDArray[np.uint64]:
        """Return the next words.

        Args:
            size: how many, >= 0.  Taking a and then b words gives the words of taking a + b.

        Returns:
            uint64[size], each uniform on 0..2^64 - 1 and independent.

        Raises:
            ValueError: size is negative.
        """
        if not size >= 0:
            raise ValueError(f"size must be >= 0, got {size!r}")
        taken = np.empty(size, np.uint64)
        filled = 0
        while filled < size:
            if self._position == CHUNK_WORDS:
                self._chunk, self._position = self._chunk + 1, 0
                self._words = np.empty(0, np.uint64)
            count = min(size - filled, CHUNK_WORDS - self._position)
            self._hold(self._position + count)
            taken[filled : filled + count] = self._words[self._position : self._position + count]
            self._position += count
            filled += count
        return taken

    def _hold(self, size: int) -> None:
        """Hold at least the first size words of the current chunk."""
        if self._words.size >= size:
            return
        # Shorter SHAKE outputs are prefixes of longer ones, so a small stream costs little: the
        # chunk grows fourfold, and its words stay the same.
        size = min(CHUNK_WORDS, max(size, 4 * self._words.size, _FIRST_WORDS))
        digest = hashlib.shake_256(self._place + _encode_integer(self._chunk)).digest(8 * size)
        self._words = np.frombuffer(digest, "<u8").astype(np.uint64, copy=False)

    def __repr__(self) -> str:
        return "WordStream(<hidden>)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a WordStream must be made where it is used; send the NoiseKey instead")


def _encode_place(secret: bytes, stage: str, ids: Sequence[int]) -> bytes:
    """Encode (secret, stage, ids) so that no two of them share their bytes."""
    if not stage:
        raise ValueError("stage must be a non-empty name, got ''")
    whole = [operator.index(number) for number in ids]
    if any(number < 0 for number in whole):
        raise ValueError("ids must be integers >= 0, got a negative one")
    parts = [_DOMAIN, secret, stage.encode(), len(whole).to_bytes(8, "little")]
    return b"".join(map(_encode_bytes, parts)) + b"".join(map(_encode_integer, whole))


def _encode_bytes(content: bytes) -> bytes:
    """Put the length of content before it."""
    return len(content).to_bytes(8, "little") + content


def _encode_integer(number: int) -> bytes:
    """Encode an integer >= 0 of any size."""
    return _encode_bytes(number.to_bytes((number.bit_length() + 7) // 8, "little"))
