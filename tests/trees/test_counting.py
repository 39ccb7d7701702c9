from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lumberjack_spark.trees import DistinctRows, NodeCounter, merge_stream, runs
from lumberjack_spark.trees.counting import PAYLOAD_COUNT_BITS
from lumberjack_spark.trees.routing import route
from tests.naive_trees import node_counts, path_of, prefix_text
from tests.trees.strategies import N_CLASSES, cases

WEIGHTS = (np.arange(1, 6).astype(np.uint64)) << np.uint64(61)  # 1/8 .. 5/8, then certainty


class Words:
    """A repeatable stream of words that remembers how many were taken."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def take(self, n: int) -> np.ndarray:
        return self._rng.integers(0, 2**64, n, dtype=np.uint64)


def count(codes, payload, minimum_count, step):
    counter = NodeCounter(
        n_words=codes.shape[1],
        n_classes=N_CLASSES,
        minimum_count=minimum_count,
        weights=WEIGHTS,
        take_words=Words(5).take,
        room=130,
    )
    for start in range(0, len(codes), step):
        counter.feed(codes[start : start + step], payload[start : start + step])
    assert counter.class_counts.sum() == np.sum(payload & ((1 << 20) - 1))
    return counter.finish()


def naive_records(case, minimum_count):
    """Kept nodes in the counter's order: each node's word is the next one of the stream."""
    paths = [path_of(row, **{**case.shape, "space": case.space}) for row in case.columns.T]
    counts = node_counts(paths, case.labels, N_CLASSES)
    ends = set(paths)
    words = iter(Words(5).take(130 * (1 + sum(map(len, paths)))).tolist())
    kept, flagged = [], set()
    # Post-order: a node after all nodes below it, left before right.
    for node in sorted((n for n in counts if n not in ends), key=lambda n: n + "2"):
        total = int(counts[node].sum())
        if total <= minimum_count:
            continue
        place = total - minimum_count - 1
        bit = next(words) < int(WEIGHTS[place]) if place < len(WEIGHTS) else True
        if bit or node in flagged:
            if node:
                flagged.add(node[:-1])
            zero = np.zeros(N_CLASSES, np.int64)
            sides = [counts[node + s] if node + s in counts else zero for s in "01"]
            kept.append((node, bit, np.array(sides)))
    return kept, counts


@settings(max_examples=60)
@given(cases(), st.sampled_from([0, 1, 5]), st.sampled_from([1, 7, 10_000]))
def test_kept_nodes_bits_and_children_equal_the_naive_twin(case, minimum_count, step):
    run = DistinctRows.of(case.columns, case.labels).run(**case.shape)
    records = count(run.codes, run.payload, minimum_count, step)
    kept, _ = naive_records(case, minimum_count)
    got = [
        (prefix_text(p, level), bool(bit), children.tolist())
        for level, p, bit, children in zip(
            records.levels, records.prefixes, records.bits, records.children, strict=False
        )
    ]
    assert got == [(node, bit, sides.tolist()) for node, bit, sides in kept]


@settings(max_examples=40)
@given(cases())
def test_a_run_holds_one_record_a_distinct_code_and_class(case):
    order, codes = route(case.columns, **case.shape)
    rows = zip(map(tuple, codes.tolist()), case.labels[order].tolist(), strict=True)
    expected = Counter(rows)
    run = DistinctRows.of(case.columns, case.labels).run(**case.shape)
    labels, counts = run.payload >> PAYLOAD_COUNT_BITS, run.payload % (1 << PAYLOAD_COUNT_BITS)
    records = zip(map(tuple, run.codes.tolist()), labels.tolist(), counts.tolist(), strict=True)
    found = [((code, label), n) for code, label, n in records]
    assert len(found) == len(expected)
    assert dict(found) == expected
    assert run.codes.tolist() == sorted(run.codes.tolist())


@settings(max_examples=40)
@given(cases(), st.integers(1, 5), st.sampled_from([3, 17, 1000]), st.integers(0, 2**31))
def test_counts_do_not_depend_on_the_partitioning(case, n_parts, size, seed):
    whole = DistinctRows.of(case.columns, case.labels).run(**case.shape)
    expected = count(whole.codes, whole.payload, 1, 1000)
    part = np.random.default_rng(seed).integers(0, n_parts, case.labels.size)
    pieces = [
        piece
        for p in np.unique(part)
        for piece in DistinctRows.of(case.columns[:, part == p], case.labels[part == p])
        .run(**case.shape)
        .pieces(size)
    ]
    pieces.sort(key=lambda run: run.codes[0].tolist())
    held = runs._MERGE_RECORDS
    try:
        runs._MERGE_RECORDS = 40
        merged = list(merge_stream(pieces))
    finally:
        runs._MERGE_RECORDS = held
    codes = np.concatenate([run.codes for run in merged])
    payload = np.concatenate([run.payload for run in merged])
    assert codes.tolist() == sorted(codes.tolist())
    got = count(codes, payload, 1, 50)
    for name in ("levels", "prefixes", "bits", "children"):
        assert np.array_equal(getattr(got, name), getattr(expected, name)), name


@settings(max_examples=20)
@given(cases())
def test_runs_survive_packing(case):
    run = DistinctRows.of(case.columns, case.labels).run(**case.shape)
    again = runs.Run.unpack(run.pack(), n_words=run.codes.shape[1])
    assert np.array_equal(again.codes, run.codes)
    assert np.array_equal(again.payload, run.payload)


def test_no_rows_give_no_nodes_and_zero_counts():
    counter = NodeCounter(
        n_words=1, n_classes=2, minimum_count=0, weights=WEIGHTS, take_words=Words(1).take
    )
    records = counter.finish()
    assert records.levels.tolist() == []
    assert counter.class_counts.tolist() == [0, 0]
