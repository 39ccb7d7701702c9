"""Sorted runs of path codes: made from a chunk of rows, packed for the shuffle, merged again.

A run holds one record a distinct (code, class) of its chunk: codes uint64[n, n_words] ascending and
payload uint32[n] (class and count, see counting). Merged runs may hold records with equal codes and
classes side by side; the counter adds them up, so that counts do not depend on how rows were spread
over chunks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit

from lumberjack_spark.trees.counting import PAYLOAD_COUNT_BITS
from lumberjack_spark.trees.routing import route
from lumberjack_spark.trees.space import SplitSpace

_CLASS_SHIFT, _COUNT_MASK = np.uint32(PAYLOAD_COUNT_BITS), np.uint32((1 << PAYLOAD_COUNT_BITS) - 1)
MAX_CHUNK_ROWS = (1 << PAYLOAD_COUNT_BITS) - 1
MAX_CLASSES = 1 << (32 - PAYLOAD_COUNT_BITS)
_HALVES = 16  # columns whose halves order rows
_MERGE_RECORDS = 1 << 20  # records gathered before they are merged and handed on


@dataclass(frozen=True, eq=False)
class Run:
    """Ascending path codes of one tree: codes uint64[n, n_words], payload uint32[n]."""

    codes: np.ndarray
    payload: np.ndarray

    def pack(self) -> bytes:
        """The run as bytes, read back by unpack."""
        return self.codes.tobytes() + self.payload.tobytes()

    @classmethod
    def unpack(cls, data: bytes | memoryview, *, n_words: int) -> "Run":
        """Undo pack; the arrays are read-only views of data."""
        n = len(data) // (8 * n_words + 4)
        codes = np.frombuffer(data, np.uint64, n * n_words).reshape(n, n_words)
        return cls(codes, np.frombuffer(data, np.uint32, n, offset=8 * n * n_words))

    def pieces(self, size: int) -> Iterator["Run"]:
        """The run cut into runs of at most size records."""
        for start in range(0, len(self.payload), size):
            yield Run(self.codes[start : start + size], self.payload[start : start + size])


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct encoded rows of a chunk with their class counts.

    Attributes:
        columns: uint16[d, n], codes of the distinct rows by feature.
        starts: int64[n + 1]; payload[starts[i]:starts[i + 1]] belongs to distinct row i.
        payload: uint32[m], one entry a (distinct row, class) that occurs.
    """

    columns: np.ndarray
    starts: np.ndarray
    payload: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, labels: np.ndarray) -> "DistinctRows":
        """Group rows: columns uint16[d, n], labels int32[n] of declared classes."""
        if columns.shape[1] == 0:
            return cls(columns, np.zeros(1, np.int64), np.empty(0, np.uint32))
        records = np.ascontiguousarray(np.vstack((columns, labels.astype(np.uint16)[None])).T)
        order = np.argsort(_keys(records), kind="stable")
        records = records[order]
        new = np.ones(len(records), np.bool_)
        new[1:] = (records[1:] != records[:-1]).any(axis=1)
        first = np.flatnonzero(new)
        counts = np.diff(np.append(first, len(records))).astype(np.uint32)
        distinct = records[first]
        payload = (distinct[:, -1].astype(np.uint32) << np.uint32(PAYLOAD_COUNT_BITS)) | counts
        new_row = np.ones(len(distinct), np.bool_)
        new_row[1:] = (distinct[1:, :-1] != distinct[:-1, :-1]).any(axis=1)
        starts = np.append(np.flatnonzero(new_row), len(distinct))
        return cls(np.ascontiguousarray(distinct[starts[:-1], :-1].T), starts, payload)

    @cached_property
    def _rows(self) -> np.ndarray:
        """The same codes row by row."""
        return np.ascontiguousarray(self.columns.T)

    def run(
        self,
        *,
        seed: int,
        tree: int,
        max_depth: int,
        space: SplitSpace,
        within: np.ndarray | None = None,
        within_level: int = 0,
    ) -> Run:
        """The rows walked down one tree; arguments as for route."""
        order, codes = route(
            self.columns,
            rows=self._rows,
            seed=seed,
            tree=tree,
            max_depth=max_depth,
            space=space,
            within=within,
            within_level=within_level,
        )
        most = len(self.payload)  # a row is in order once at most
        joined = Run(np.empty((most, codes.shape[1]), np.uint64), np.empty(most, np.uint32))
        sums = np.zeros((2, MAX_CLASSES), np.int64)
        n = _join(codes, order, self.starts, self.payload, sums, joined.codes, joined.payload)
        return Run(joined.codes[:n], joined.payload[:n])


@njit(cache=True)
def _join(walked, order, starts, rows, sums, codes, payload):  # type: ignore[no-untyped-def]
    """Fill codes and payload with the counts of equal codes by class; returns how many.

    walked uint64[k, n_words] are the ascending codes of the rows order uint32[k]; row r has the
    payload rows[starts[r]:starts[r + 1]]. sums int64[2, MAX_CLASSES] is 0: counts by class, and
    the classes met so far.
    """
    n, at, last = 0, 0, walked.shape[1] - 1
    counts, met = sums[0], sums[1]
    while at < order.size:
        first, second, n_met = walked[at, 0], walked[at, last], 0
        while at < order.size and walked[at, 0] == first and walked[at, last] == second:
            for place in range(starts[order[at]], starts[order[at] + 1]):
                label = np.int64(rows[place] >> _CLASS_SHIFT)
                if counts[label] == 0:
                    met[n_met] = label
                    n_met += 1
                counts[label] += np.int64(rows[place] & _COUNT_MASK)
            at += 1
        for i in range(n_met):
            label = met[i]
            codes[n, 0], codes[n, last] = first, second
            payload[n] = np.uint32((label << PAYLOAD_COUNT_BITS) | counts[label])
            counts[label] = 0
            n += 1
    return n


def _keys(records: np.ndarray) -> np.ndarray:
    """uint64[n] by which equal rows become neighbours, their classes too.

    The high bits tell for each column in which half of its codes the row lies: rows that go the
    same ways lie near each other in memory, which makes walks about a sixth faster.
    """
    n_features = records.shape[1] - 1
    hashes: np.ndarray = np.zeros(len(records), np.uint64)
    halves: np.ndarray = np.zeros(len(records), np.uint64)
    for f in range(n_features):
        column = records[:, f]
        hashes = (hashes ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
        if f >= n_features - _HALVES:  # the last columns tell most: they join several features
            halves = (halves << np.uint64(1)) | (column > column.max() // 2)
    hashes = (hashes >> np.uint64(_HALVES)) | (halves << np.uint64(64 - _HALVES))
    # The low bits carry the class: rows that differ in it alone sort next to each other.
    classes = records[:, -1].astype(np.uint64)
    keys: np.ndarray = (hashes & ~np.uint64(MAX_CLASSES - 1)) | classes
    return keys


@njit(cache=True)
def _merge(codes_a, payload_a, codes_b, payload_b, codes, payload):  # type: ignore[no-untyped-def]
    """Merge two runs into codes and payload."""
    n_a, n_b = payload_a.size, payload_b.size
    two_words = codes.shape[1] == 2
    i, j = 0, 0
    for at in range(n_a + n_b):
        take_a = j == n_b
        if not take_a and i < n_a:
            take_a = codes_a[i, 0] < codes_b[j, 0] or (
                codes_a[i, 0] == codes_b[j, 0] and (not two_words or codes_a[i, 1] <= codes_b[j, 1])
            )
        if take_a:
            codes[at, 0] = codes_a[i, 0]
            if two_words:
                codes[at, 1] = codes_a[i, 1]
            payload[at] = payload_a[i]
            i += 1
        else:
            codes[at, 0] = codes_b[j, 0]
            if two_words:
                codes[at, 1] = codes_b[j, 1]
            payload[at] = payload_b[j]
            j += 1


def merge_runs(runs: list[Run]) -> Run:
    """One run with the records of all; runs must not be empty."""
    while len(runs) > 1:
        merged = []
        for a, b in zip(runs[::2], runs[1::2], strict=False):
            n = len(a.payload) + len(b.payload)
            out = Run(np.empty((n, a.codes.shape[1]), np.uint64), np.empty(n, np.uint32))
            _merge(a.codes, a.payload, b.codes, b.payload, out.codes, out.payload)
            merged.append(out)
        runs = merged + runs[len(runs) - len(runs) % 2 :]
    return runs[0]


def merge_stream(runs: Iterable[Run]) -> Iterator[Run]:
    """Merge runs that come in the order of their first codes, in bounded memory.

    A code below the first code of the newest run can be in no later run, so it may be handed on.
    Only the tails of runs that overlap the newest are held back.
    """
    held: list[Run] = []
    n_held = 0
    for run in runs:
        if n_held >= _MERGE_RECORDS:
            first = run.codes[0]
            places = [_first_not_below(r.codes, first) for r in held]
            if sum(places):
                yield merge_runs(
                    [
                        Run(r.codes[:at], r.payload[:at])
                        for r, at in zip(held, places, strict=True)
                        if at
                    ]
                )
            held = [
                Run(r.codes[at:], r.payload[at:])
                for r, at in zip(held, places, strict=True)
                if at < len(r.payload)
            ]
            n_held = sum(len(r.payload) for r in held)
        held.append(run)
        n_held += len(run.payload)
    if held:
        yield merge_runs(held)


def _first_not_below(codes: np.ndarray, limit: np.ndarray) -> int:
    """Place of the first code that is >= limit."""
    low = int(np.searchsorted(codes[:, 0], limit[0], side="left"))
    if codes.shape[1] == 1:
        return low
    high = int(np.searchsorted(codes[:, 0], limit[0], side="right"))
    return low + int(np.searchsorted(codes[low:high, 1], limit[1], side="left"))
