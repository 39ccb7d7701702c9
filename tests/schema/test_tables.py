"""Pandas and numpy callers: the same result as Arrow, and no exception on any content."""

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import (
    Categorical,
    DataSchema,
    IntegerRange,
    Numeric,
    RowReader,
    Vector,
    batch_from_numpy,
    batch_from_pandas,
)
from tests.naive_rows import naive_clean_number, naive_code

NUMBER = Numeric(-5, 5, missing_markers=("?", -3))
TEXT = Categorical(["a", "3", "2.5", "true"], missing_markers=("?",))
WHOLE = Categorical([3, 1, -1], missing_markers=("?",))
TRUTH = Categorical([False, True])
SCHEMA = DataSchema(
    {"n": NUMBER, "t": TEXT, "w": WHOLE, "b": TRUTH}, label="y", classes=["true", "1"]
)


class Vectorlike:
    """A stand-in for the vectors of Spark."""

    def __init__(self, values):
        self.values = values

    def toArray(self):
        return np.asarray(self.values, np.float64)


class Hostile:
    """An object that refuses everything."""

    def __getattr__(self, name):
        raise RuntimeError("no")

    def __str__(self):
        raise RuntimeError("no")

    __repr__ = __float__ = __len__ = __iter__ = __str__


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.decimals()
VALUES |= st.sampled_from(["a", "3", " 3.0", "2.5", "true", "?", "1", "zzz", "\ud800", "\0", "-3"])
VALUES |= st.sampled_from([1, 3, 3.0, 2.5, -1, True, Decimal("2.5"), 10**400, -(10**400)])
VALUES |= st.sampled_from([np.int8(3), np.float32(2.5), np.bool_(True), np.float64("nan"), pd.NA])
STRANGE = st.sampled_from([pd.NaT, dt.date(2020, 1, 1), b"a", b"\xff", [1], (), {}, object()])
STRANGE |= st.sampled_from([Hostile(), 1j, np.datetime64("NaT"), np.array([1.0]), Vectorlike([1])])


def plain(cell):
    """What a cell means to the naive twin."""
    if cell is pd.NA:
        return None
    if isinstance(cell, np.generic):
        return cell.item()
    if isinstance(cell, int) and abs(cell) > 2**1023:
        return math.inf if cell > 0 else -math.inf
    if isinstance(cell, Decimal):
        return None if cell.is_nan() else float(cell)
    return cell


@given(st.lists(VALUES, max_size=6))
@settings(max_examples=200)
def test_columns_of_mixed_values_read_as_each_value_by_itself(cells):
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name in "ntwb"})
    clean = RowReader(SCHEMA).features(batch_from_pandas(frame, SCHEMA))
    values = [plain(cell) for cell in cells]
    expected = [naive_clean_number(cell, NUMBER) for cell in values]
    np.testing.assert_array_equal(clean[0], np.array(expected, np.float64))
    for codes, declared in zip(clean[1:], (TEXT, WHOLE, TRUTH), strict=True):
        expected = [naive_code(cell, declared) for cell in values]
        np.testing.assert_array_equal(codes, np.array(expected, np.int32))


@given(st.lists(VALUES | STRANGE, max_size=6))
@settings(max_examples=150)
def test_no_object_raises_whatever_it_is(cells):
    schema = DataSchema(
        {"n": NUMBER, "t": TEXT, "v": Vector({"p": NUMBER, "q": TEXT})}, label="y", classes=[0, 1]
    )
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name in "ntvy"})
    reader = RowReader(schema)
    batch = batch_from_pandas(frame, schema, with_label=True)
    assert [column.size for column in reader.features(batch)] == [len(cells)] * 4
    assert reader.labels(batch).size == len(cells)


def test_mixed_categories_of_pandas_read_like_their_values():
    for values in ([2.5, True], [2.5, True, "a"]):
        categories = pd.Index(values, dtype=object)
        cells = pd.Series(pd.Categorical([*values, None], categories=categories))
        frame = pd.DataFrame(dict.fromkeys("ntwb", cells))
        clean = RowReader(SCHEMA).features(batch_from_pandas(frame, SCHEMA))
        assert clean[1].tolist() == [*[2, 3, 0][: len(values)], 5]
        assert clean[3].tolist() == [*[2, 1, 2][: len(values)], 3]


def test_numpy_scalars_that_arrow_cannot_mix_are_read_one_by_one():
    cells = pd.Series([np.datetime64("2020-01-01"), np.int8(3), np.float32(2.5)], dtype=object)
    clean = RowReader(SCHEMA).features(
        batch_from_pandas(pd.DataFrame(dict.fromkeys("ntwb", cells)), SCHEMA)
    )
    np.testing.assert_array_equal(clean[0], [np.nan, 3, 2.5])
    assert clean[1].tolist() == [4, 1, 2]


def test_objects_that_are_no_values_are_unknown():
    cells = [dt.date(2020, 1, 1), b"a", [1], Hostile(), None, pd.NaT]
    for chosen in (cells, cells[:1] * 6, cells[1:2] * 6, cells[2:3] * 6):
        frame = pd.DataFrame({name: pd.Series(chosen, dtype=object) for name in "ntwb"})
        clean = RowReader(SCHEMA).features(batch_from_pandas(frame, SCHEMA))
        assert np.isnan(clean[0]).all()
        assert clean[1][:4].tolist() == [4, 4, 4, 4]
    assert clean[2][:4].tolist() == [3, 3, 3, 3]


DTYPES = ["int8", "uint64", "float16", "float32", "float64", "longdouble", "Int64", "Float32"]
DTYPES += ["object", "str", "string", "category", "int64[pyarrow]", "string[pyarrow]"]
DTYPES += ["Sparse[int64]"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_same_numbers_read_alike_from_every_dtype(dtype):
    cells = pd.Series([3, 1, 0, 7]).astype("str" if "str" in dtype else "int64").astype(dtype)
    frame = pd.DataFrame(dict.fromkeys("ntwb", cells)).assign(extra=0)
    clean = RowReader(SCHEMA).features(batch_from_pandas(frame, SCHEMA))
    expected = [[3.0, 1.0, 0.0, 5.0], [1, 4, 4, 4], [0, 1, 3, 3], [2, 1, 0, 2]]
    assert [column.tolist() for column in clean] == expected


def test_missing_values_of_every_dtype_are_missing():
    for cells in (
        pd.Series([None, 3], dtype="Int64"),
        pd.Series([np.nan, 3.0]),
        pd.Series([None, "3"], dtype="category"),
        pd.Series([None, "3"], dtype="str"),
        pd.Series([pd.NA, 3], dtype=object),
        pd.Series([None, 3], dtype="int64[pyarrow]"),
    ):
        frame = pd.DataFrame(dict.fromkeys("ntwb", cells))
        clean = RowReader(SCHEMA).features(batch_from_pandas(frame, SCHEMA))
        np.testing.assert_array_equal(clean[0], [np.nan, 3])
        assert [column.tolist() for column in clean[1:]] == [[5, 1], [4, 0], [3, 2]]


def test_booleans_of_a_mixed_column_are_words_beside_texts_and_numbers_elsewhere():
    frame = pd.DataFrame({name: pd.Series([True, "a", 1], dtype=object) for name in "ntwby"})
    batch = batch_from_pandas(frame, SCHEMA, with_label=True)
    clean = RowReader(SCHEMA).features(batch)
    np.testing.assert_array_equal(clean[0], [1, np.nan, 1])
    assert [column.tolist() for column in clean[1:]] == [[3, 0, 4], [1, 3, 1], [1, 2, 1]]
    assert RowReader(SCHEMA).labels(batch).tolist() == [0, -1, 1]


def test_columns_that_cannot_serve_are_named_at_once():
    dates = pd.Series(pd.date_range("2020-01-01", periods=2))
    frame = pd.DataFrame({"n": dates, "t": dates, "b": [True, False]})
    with pytest.raises(SchemaError) as caught:
        batch_from_pandas(frame, SCHEMA, with_label=True)
    assert len(caught.value.mistakes) == 4
    with pytest.raises(SchemaError, match="complex"):
        batch_from_pandas(pd.DataFrame({"n": [1j]}), SCHEMA)
    twice = pd.DataFrame([[1, 2]], columns=["n", "n"])
    with pytest.raises(SchemaError, match="2 times"):
        batch_from_pandas(twice, SCHEMA)


VECTOR = DataSchema(
    {"v": Vector({"p": Numeric(0, 9), "q": Categorical(IntegerRange(0, 3))}), "x": Numeric(0, 9)},
    label="y",
    classes=[0, 1],
)
RAW = DataSchema(
    {"p": Numeric(0, 9), "q": Categorical(IntegerRange(0, 3)), "x": Numeric(0, 9)},
    label="y",
    classes=[0, 1],
)


def test_raw_columns_vectors_lists_and_matrices_give_the_same_clean_columns():
    matrix = np.array([[0.0, 0, 1], [2.5, 3, 0], [9, 4, 0], [0, 1, 12]])
    pairs = matrix[:, :2]
    raw = pd.DataFrame(matrix, columns=["p", "q", "x"])
    expected = RowReader(RAW).features(batch_from_pandas(raw, RAW))
    assert [column.tolist() for column in expected] == [
        [0, 2.5, 9, 0],
        [0, 3, 4, 1],
        [1, 0, 0, 9],
    ]
    columns = {
        "lists": pairs.tolist(),
        "arrays": list(pairs),
        "vectors": [Vectorlike(pair) for pair in pairs],
        "mixed": [pairs[0], tuple(pairs[1]), Vectorlike(pairs[2]), ["0.0", True]],
    }
    batches = [
        batch_from_pandas(pd.DataFrame({"x": matrix[:, 2], "v": pd.Series(cells)}), VECTOR)
        for cells in columns.values()
    ]
    batches += [batch_from_numpy(matrix, VECTOR), batch_from_numpy(matrix.astype(object), VECTOR)]
    for batch in batches:
        for found, wanted in zip(RowReader(VECTOR).features(batch), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)
    for whole in (matrix, matrix.astype(str), matrix.astype(object)):
        batch = batch_from_numpy(whole, RAW)
        for found, wanted in zip(RowReader(RAW).features(batch), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_matrix_of_another_shape_is_refused():
    for matrix in (np.zeros((2, 2)), np.zeros(3), np.zeros((2, 4))):
        with pytest.raises(SchemaError, match="3 features"):
            batch_from_numpy(matrix, RAW)
    assert batch_from_numpy(np.zeros((0, 3)), VECTOR).num_rows == 0


def test_arrow_frames_give_one_batch():
    chunks = pd.concat([pd.Series([value], dtype="int64[pyarrow]") for value in (3, 1)])
    frame = pd.DataFrame(dict.fromkeys("ntwb", chunks.reset_index(drop=True)))
    batch = batch_from_pandas(frame, SCHEMA)
    assert isinstance(batch, pa.RecordBatch)
    assert batch.num_rows == 2
