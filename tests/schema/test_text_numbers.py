"""Numbers written as text, and texts that numbers stand for."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from lumberjack_spark.schema import text_numbers
from lumberjack_spark.schema.text_numbers import (
    number_of_text,
    numbers_of_texts,
    text_of_number,
)
from tests.naive_rows import naive_number, naive_text

NUMBERLIKE = st.text("0123456789+-.eE \tinfINFtyx_,", max_size=8) | st.floats().map(repr)


@given(st.lists(st.none() | NUMBERLIKE | st.text(max_size=3), max_size=10))
def test_texts_are_read_alike_one_by_one_and_all_at_once(texts):
    expected = [naive_number(text) for text in texts]
    assert [None if text is None else number_of_text(text) for text in texts] == expected
    wanted = np.array(expected, np.float64)
    for kind in (pa.string(), pa.large_string()):
        np.testing.assert_array_equal(numbers_of_texts(pa.array(texts, kind)), wanted)


@given(st.floats(allow_nan=False) | st.integers(-(2**60), 2**60).map(float))
def test_a_number_survives_being_written(number):
    text = text_of_number(number)
    assert number_of_text(text) == number
    assert text == naive_text(number)


def test_a_parser_that_knows_fewer_spellings_changes_nothing(monkeypatch):
    def refuse(array, kind):
        raise pa.ArrowInvalid("no")

    texts = pa.array(["+5", "1e400", " .5 ", "x", None, "-inf"])
    usual = numbers_of_texts(texts)
    monkeypatch.setattr(text_numbers.pc, "cast", refuse)
    np.testing.assert_array_equal(numbers_of_texts(texts), usual)
    assert pc.cast is refuse
    np.testing.assert_array_equal(usual, [5, math.inf, 0.5, math.nan, math.nan, -math.inf])
