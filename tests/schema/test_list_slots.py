"""Slots of list columns: lists of another length, nulls and slices."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.schema import Categorical, DataSchema, Numeric, RowReader, Vector
from lumberjack_spark.schema.list_slots import slots_of

ITEMS = st.none() | st.floats(allow_nan=False)


def naive_slot(row, slot, width):
    return row[slot] if row is not None and len(row) == width else None


@given(st.lists(st.none() | st.lists(ITEMS, max_size=4), max_size=8), st.integers(1, 3), st.data())
def test_slots_are_the_naive_ones_in_lists_of_any_length(rows, width, data):
    kind = data.draw(st.sampled_from([pa.list_(pa.float64()), pa.large_list(pa.float64())]))
    array = pa.array(rows, kind)
    start = data.draw(st.integers(0, len(rows)))
    found = [slot.to_pylist() for slot in slots_of(array.slice(start), width)]
    expected = [[naive_slot(row, slot, width) for row in rows[start:]] for slot in range(width)]
    assert found == expected


@given(st.lists(st.none() | st.lists(ITEMS, min_size=2, max_size=2), max_size=8), st.data())
def test_slots_of_fixed_size_lists_are_the_naive_ones(rows, data):
    array = pa.array(rows, pa.list_(pa.float64(), 2))
    start = data.draw(st.integers(0, len(rows)))
    for width in (1, 2, 3):
        found = [slot.to_pylist() for slot in slots_of(array.slice(start), width)]
        expected = [[naive_slot(row, slot, width) for row in rows[start:]] for slot in range(width)]
        assert found == expected


def test_plain_lists_without_nulls_take_the_direct_path_to_the_same_values():
    rows = [[float(row), float(row) / 2, -1.0] for row in range(50)]
    for kind in (pa.list_(pa.float64()), pa.list_(pa.float64(), 3), pa.large_list(pa.float64())):
        array = pa.array(rows, kind).slice(7)
        found = np.array([slot.to_numpy() for slot in slots_of(array, 3)])
        np.testing.assert_array_equal(found.T, rows[7:])


@pytest.mark.parametrize("kind", [pa.float64(), pa.string(), pa.null()], ids=str)
def test_what_is_no_list_reads_as_missing(kind):
    array = pa.array([None, None], kind)
    assert [slot.null_count for slot in slots_of(array, 3)] == [2, 2, 2]


def test_wrong_lists_read_as_missing_in_every_slot():
    slots = {"p": Numeric(0, 9, missing="high"), "q": Categorical(["1", "2"])}
    schema = DataSchema({"v": Vector(slots)}, label="y", classes=[0, 1])
    rows = pa.array([[1, 2], [1], [1, 2, 3], None, [None, 1], []], pa.list_(pa.int64()))
    p, q = RowReader(schema).features(pa.RecordBatch.from_arrays([rows], names=["v"]))
    np.testing.assert_array_equal(p, [1, np.nan, np.nan, np.nan, np.nan, np.nan])
    assert q.tolist() == [1, 3, 3, 3, 0, 3]


def test_lists_of_coded_texts_are_read():
    coded = pa.array(["a", "b", "a", None]).dictionary_encode()
    rows = pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), coded)
    assert [slot.to_pylist() for slot in slots_of(rows, 2)] == [["a", "a"], ["b", None]]


def test_a_null_list_that_covers_values_is_missing():
    values, offsets = pa.array([1.0, 2.0, 3.0, 4.0]), pa.array([0, 2, 4], pa.int32())
    rows = pa.ListArray.from_arrays(offsets, values, mask=pa.array([True, False]))
    assert [slot.to_pylist() for slot in slots_of(rows, 2)] == [[None, 3.0], [None, 4.0]]
    fixed = pa.FixedSizeListArray.from_arrays(values, 2, mask=pa.array([False, True]))
    assert [slot.to_pylist() for slot in slots_of(fixed, 2)] == [[1.0, None], [2.0, None]]
