"""Row rules: equal to the naive twin in every column type, and silent on any content."""

import math
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, DataSchema, IntegerRange, Numeric, RowReader
from tests.naive_rows import naive_clean_number, naive_code

NUMERICS = [
    Numeric(-5, 7.5),
    Numeric(0, 3, missing="high", missing_markers=("?", "2", -999)),
    Numeric(-1, 1, missing=0.5, missing_markers=(1.0, " 7e2 ")),
]
CATEGORICALS = [
    Categorical(["a", "3", "2.5", "true", "A", "é", "", "03", "1e+16", "inf"]),
    Categorical(["b", "x"], missing="b", missing_markers=("?", 3, True, "")),
    Categorical([3, -1, 7], missing_markers=("?", "9", True)),
    Categorical([0, 10**6, -(10**9), 2**53 - 1]),
    Categorical(IntegerRange(-2, 5), missing=4, missing_markers=(9,)),
    Categorical([True, False], missing_markers=("N/A", 2)),
    Categorical([False], missing=False, missing_markers=("TRUE", True)),
]
WORDS = ["a", "A", " a", "b", "?", "", "é", "true", " TRUE", "False", "N/A", "n/a", "zzz", "日本"]
NUMBER_TEXTS = ["3", " 3.0 ", "03", "2.5", "+7", "-1", ".5", "5.", "1e3", "1e400", "-1e-400", "1_0"]
NUMBER_TEXTS += [
    "inf",
    "-Infinity",
    "nan",
    "NaN",
    "1,000",
    "0x10",
    "٣",
    "1" * 400,
    "9",
    "7e2",
    "1e",
]
TEXTS = st.sampled_from(WORDS + NUMBER_TEXTS) | st.text(max_size=4)


def integers_of(low, high):
    near = [v for v in (-999, -2, -1, 0, 1, 2, 3, 7, 9, 10**6, 2**53 - 1, low, high)]
    return st.sampled_from([v for v in near if low <= v <= high]) | st.integers(low, high)


def decimals_of(digits, scale):
    top = 10**digits - 1
    return st.integers(-top, top).map(lambda number: Decimal(f"{number}E{-scale}"))


FLOATS = st.sampled_from([0.0, -0.0, 3.0, 2.5, 1.0, 1e16, math.inf, -math.inf]) | st.floats()
COLUMNS = [(pa.float64(), FLOATS), (pa.float32(), st.floats(width=32)), (pa.bool_(), st.booleans())]
COLUMNS += [(pa.float16(), st.floats(width=16).map(np.float16)), (pa.null(), st.none())]
for width in (8, 16, 32, 64):
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    COLUMNS.append((getattr(pa, f"int{width}")(), integers_of(low, high)))
    COLUMNS.append((getattr(pa, f"uint{width}")(), integers_of(0, 2**width - 1)))
COLUMNS += [(pa.decimal128(p, s), decimals_of(p, s)) for p, s in ((10, 0), (10, 2), (15, 9))]
COLUMNS += [
    (pa.decimal128(38, 0), decimals_of(38, 0)),
    (pa.decimal128(38, 20), decimals_of(38, 20)),
]
COLUMNS += [(pa.decimal256(76, 1), decimals_of(76, 1)), (pa.decimal128(5, -2), decimals_of(5, -2))]
COLUMNS += [(kind, TEXTS) for kind in (pa.string(), pa.large_string(), pa.string_view())]
COLUMNS += [(pa.dictionary(pa.int32(), pa.string()), TEXTS)]
COLUMNS += [(pa.dictionary(pa.int8(), pa.int64()), integers_of(-9, 9))]


@st.composite
def arrays(draw):
    """An array of any suitable type with nulls, sliced so that its offset is not zero."""
    kind, cells = draw(st.sampled_from(COLUMNS))
    found = draw(st.lists(st.none() | cells, max_size=12))
    array = pa.array(found, kind.value_type).dictionary_encode() if is_coded(kind) else None
    array = pa.array(found, kind) if array is None else array.cast(kind)
    start = draw(st.integers(0, len(found)))
    return array.slice(start)


def is_coded(kind):
    return pa.types.is_dictionary(kind)


def schema_of(declared, classes=("yes", "no")):
    return DataSchema({"x": declared}, label="y", classes=classes)


def read(declared, array):
    batch = pa.RecordBatch.from_arrays([array], names=["x"])
    return RowReader(schema_of(declared)).features(batch)[0]


@given(array=arrays(), declared=st.sampled_from(NUMERICS))
@settings(max_examples=300)
@example(pa.array(["1e400", "-1e-400", None]), NUMERICS[0])
def test_a_clean_number_is_the_naive_one_in_every_column_type(array, declared):
    clean = read(declared, array)
    naive = [naive_clean_number(cell, declared) for cell in array.to_pylist()]
    np.testing.assert_array_equal(clean, np.array(naive, np.float64))
    assert clean.dtype == np.float64
    assert not np.signbit(clean[clean == 0]).any()


@given(array=arrays(), declared=st.sampled_from(CATEGORICALS))
@settings(max_examples=400)
def test_a_code_is_the_naive_one_in_every_column_type(array, declared):
    codes = read(declared, array)
    naive = [naive_code(cell, declared) for cell in array.to_pylist()]
    np.testing.assert_array_equal(codes, np.array(naive, np.int32))
    assert codes.dtype == np.int32


EVERY_FLOAT = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, 2.5, 3.0, 9.0, 1e16, 1e300]
EVERY_FLOAT += [1e-17, -1e-17, 5.5, -2.0, 1e6, float(2**53), 2.0**53 - 1, -1.0]


@pytest.mark.parametrize("declared", CATEGORICALS + NUMERICS, ids=str)
def test_every_listed_text_and_float_is_read_as_by_the_naive_twin(declared):
    naive = naive_code if isinstance(declared, Categorical) else naive_clean_number
    for cells in (WORDS + NUMBER_TEXTS + [None], EVERY_FLOAT):
        expected = np.array([naive(cell, declared) for cell in cells], np.float64)
        np.testing.assert_array_equal(read(declared, pa.array(cells)), expected)


@pytest.mark.parametrize(
    ("classes", "column", "expected"),
    [
        ((2, 3, 4, 5, 6), pa.array([2, 6, 7, None, 3]), [0, 4, -1, -1, 1]),
        ((2, 3, 4), pa.array([2.0, 2.5, math.nan, math.inf, 4.0]), [0, -1, -1, -1, 2]),
        ((-1, 1), pa.array([Decimal(1), Decimal(-1), None], pa.decimal128(10, 0)), [1, 0, -1]),
        ((-1, 1), pa.array(["1", "-1", "one", None]), [1, 0, -1, -1]),
        (("yes", "no"), pa.array(["no", "yes", "No", "", None]), [1, 0, -1, -1, -1]),
        ((False, True), pa.array([True, False, None]), [1, 0, -1]),
        ((False, True), pa.array([1, 0, 2]), [1, 0, -1]),
        ((True, False), pa.array(["true", "FALSE", "yes"]), [0, 1, -1]),
    ],
)
def test_labels_of_any_type_are_read_and_undeclared_ones_left_out(classes, column, expected):
    reader = RowReader(schema_of(Numeric(0, 1), classes))
    labels = reader.labels(pa.RecordBatch.from_arrays([column], names=["y"]))
    assert labels.dtype == np.int32
    assert labels.tolist() == expected


def test_unseen_texts_are_other_and_null_is_missing():
    cells = pa.array(["zzz", "", None, "A", " a", "a", "b"])
    assert read(Categorical(["a", "b"]), cells).tolist() == [2, 2, 3, 2, 2, 0, 1]
    assert read(Categorical(["a", "b"], missing="b"), cells).tolist() == [2, 2, 1, 2, 2, 0, 1]


def test_odd_numbers_follow_the_declared_rules():
    cells = pa.array([math.nan, math.inf, -math.inf, -0.0, None, 0.0, 10.0, -999.0])
    clean = read(Numeric(0, 10, missing_markers=(-999,)), cells)
    np.testing.assert_array_equal(clean, [np.nan, 10, 0, 0, np.nan, 0, 10, np.nan])
    assert not np.signbit(clean[3])


def test_a_string_column_that_does_not_parse_is_missing():
    clean = read(Numeric(0, 100), pa.array(["39", "n/a", "", " 50 ", None]))
    np.testing.assert_array_equal(clean, [39, np.nan, np.nan, 50, np.nan])


def test_bytes_that_are_no_text_match_nothing():
    offsets, content = pa.py_buffer(np.array([0, 2, 3], np.int32)), pa.py_buffer(b"\xff\xfe5")
    broken = pa.StringArray.from_buffers(2, offsets, content)
    np.testing.assert_array_equal(read(Numeric(0, 9), broken), [np.nan, 5])
    for values in (["5", "a"], [5, 6], [True, False]):
        assert read(Categorical(values), broken)[0] == 2
        assert read(Categorical(values), broken.dictionary_encode())[0] == 2


@pytest.mark.parametrize(("digits", "scale"), [(10, 2), (15, 9), (18, 6), (38, 20)])
def test_a_decimal_reads_as_the_nearest_double(digits, scale):
    rng = np.random.default_rng(11)
    tops = rng.integers(-(10**9), 10**9, 2000).tolist()
    wholes = [int(top * 10 ** (digits - 9) // 7) for top in tops]
    cells = [Decimal(f"{whole}E{-scale}") for whole in wholes]
    clean = read(Numeric(-1e300, 1e300), pa.array(cells, pa.decimal128(38, scale)))
    narrow = read(Numeric(-1e300, 1e300), pa.array(cells, pa.decimal128(digits, scale)))
    np.testing.assert_array_equal(clean, [float(cell) for cell in cells])
    np.testing.assert_array_equal(narrow, clean)


def test_plain_numbers_are_not_changed_in_place():
    cells = pa.array([5.0, -1.0])
    read(Numeric(0, 1), cells)
    assert cells.to_pylist() == [5.0, -1.0]


def test_ten_thousand_texts_are_told_apart():
    values = [f"value {number}" for number in range(10_000)]
    order = np.random.default_rng(7).permutation(10_000)
    cells = pa.array([values[place] for place in order] + ["value 10000", None])
    assert read(Categorical(values), cells).tolist() == [*order.tolist(), 10_000, 10_001]


NAMES = ["a.b", "a b", "a,b", "a`b", "[x]", "Income:USD", "it's", 'say "hi"', "年齢"]


def test_columns_of_any_name_are_found_in_any_order_beside_others():
    schema = DataSchema({name: Numeric(0, 100) for name in NAMES}, label="ラベル", classes=[0, 1])
    columns = {name: pa.array([place]) for place, name in enumerate(NAMES)}
    columns |= {"ラベル": pa.array([1]), "a": pa.array([{"b": 50}]), "extra": pa.array([None])}
    batch = pa.RecordBatch.from_pydict(dict(reversed(columns.items())))
    reader = RowReader(schema)
    assert [column[0] for column in reader.features(batch)] == list(range(len(NAMES)))
    assert reader.labels(batch).tolist() == [1]


def test_a_batch_without_a_column_is_refused_by_name():
    batch = pa.RecordBatch.from_pydict({"z": pa.array([1])})
    reader = RowReader(schema_of(Numeric(0, 1)))
    with pytest.raises(SchemaError, match="'x'"):
        reader.features(batch)
    with pytest.raises(SchemaError, match="'y'"):
        reader.labels(batch)


def test_features_need_no_label_column_and_no_rows():
    batch = pa.RecordBatch.from_arrays([pa.array([], pa.int64())], names=["x"])
    reader = RowReader(schema_of(Categorical([1, 2])))
    assert reader.features(batch)[0].shape == (0,)


def test_a_reader_travels_as_its_schema():
    values = [f"v{number}" for number in range(10_000)]
    reader = RowReader(schema_of(Categorical(values)))
    packed = pickle.dumps(reader)
    assert len(packed) < 20 * len(values)
    batch = pa.RecordBatch.from_arrays([pa.array(["v7", None])], names=["x"])
    assert pickle.loads(packed).features(batch)[0].tolist() == [7, 10_001]  # noqa: S301
