r"""Numbers written as text: one rule for columns, markers and declared categories.

Rule       blanks around are dropped; what remains must match NUMBER_PATTERN, that is an optional
           sign, ASCII digits with an optional point, an optional exponent, or inf / infinity in any
           case. Everything else, "NaN" and "1,000" included, is no number. Nothing is raised.
Rounding   to the nearest float64; a number too large for it is infinite.
Back       `text_of_number` writes each float64 in exactly one way: whole numbers below 2^53 as
           digits, others as the shortest decimal that reads back.
"""

import math
import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

NUMBER_PATTERN = (
    r"[+-]?(?:(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?"
    r"|[iI][nN][fF](?:[iI][nN][iI][tT][yY])?)"
)
LARGEST_WHOLE = 2**53
"""Whole numbers below this size are exact in every numeric column type."""

_BLANKS = " \t\n\r\v\f"
_NUMBER = re.compile(NUMBER_PATTERN)


def number_of_text(text: str) -> float | None:
    """The number that `text` writes, or None.

    >>> number_of_text(" 1e3 "), number_of_text("1,000")
    (1000.0, None)
    """
    trimmed = text.strip(_BLANKS)
    return float(trimmed) if _NUMBER.fullmatch(trimmed) else None


def text_of_number(number: float) -> str:
    """The one text that stands for a float64.

    >>> text_of_number(3.0), text_of_number(2.5), text_of_number(-0.0)
    ('3', '2.5', '0')
    """
    if math.isfinite(number) and number == math.floor(number) and abs(number) < LARGEST_WHOLE:
        return str(int(number))
    return repr(float(number))


def numbers_of_texts(texts: pa.Array) -> npt.NDArray[np.float64]:
    """Numbers of a string or large_string array.

    Args:
        texts: n texts or nulls; bytes that are not valid UTF-8 are no number.

    Returns:
        float64[n], NaN for null and for what is no number.
    """
    trimmed = pc.ascii_trim_whitespace(texts)
    is_number = pc.match_substring_regex(trimmed, r"\A(?:" + NUMBER_PATTERN + r")\z")
    kept = pc.if_else(is_number, trimmed, pa.scalar(None, trimmed.type))
    try:
        numbers = pc.cast(kept, pa.float64())
    except pa.ArrowException:  # a pyarrow release whose parser knows fewer spellings
        values = [None if text is None else float(text) for text in kept.to_pylist()]
        numbers = pa.array(values, pa.float64())
    found: npt.NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
    return found
