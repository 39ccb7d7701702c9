"""Gathering of columns into larger batches."""

import pyarrow as pa
import pytest

from lumberjack_spark.spark.batches import in_larger_batches


def parts_of(sizes):
    start = 0
    for size in sizes:
        values = range(start, start + size)
        yield pa.array(values, pa.int64()), pa.array(map(str, values), pa.string())
        start += size


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ([], []),
        ([0], [0]),
        ([4, 4, 4], [8, 4]),
        ([4, 4, 2, 1], [10, 1]),
        ([25, 1, 9], [25, 10]),
        ([0, 3, 0, 8], [3, 8]),
    ],
)
def test_all_rows_come_in_order_in_batches_of_at_most_so_many_unless_a_part_has_more(
    sizes, expected
):
    batches = list(in_larger_batches(parts_of(sizes), ["n", "text"], 10))
    assert [batch.num_rows for batch in batches] == expected
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert rows == [{"n": i, "text": str(i)} for i in range(sum(sizes))]


def test_one_column_comes_without_a_tuple():
    (batch,) = in_larger_batches(iter([pa.array([1]), pa.array([2])]), ["n"], 10)
    assert batch.to_pydict() == {"n": [1, 2]}


def test_parts_are_taken_no_earlier_than_needed():
    taken = []

    def parts():
        for size in (6, 6, 6):
            taken.append(size)
            yield (pa.array(range(size)),)

    next(in_larger_batches(parts(), ["n"], 10))
    assert len(taken) == 2
