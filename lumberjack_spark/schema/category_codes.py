"""Codes of declared values, whatever the type of the column that holds them.

The same value gets the same code in every column type:
  integers   match what a numeric feature would read as that number: 3, 3.0, decimal 3.00, the text
             "3" or " 3.0"; booleans read as 0 and 1.
  booleans   match true and false, the numbers 1 and 0, and the texts that write either, in any
             case and with blanks around.
  texts      match letter for letter: no blanks dropped, no case folded. In a numeric column a text
             matches the number that it writes in the usual way ("3", "2.5", not "03" or "3.0"); in
             a boolean column "true" and "false" match.
Null, NaN and markers are missing. Nothing is raised, whatever the content.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from lumberjack_spark.schema.column_values import (
    integers_of,
    is_text_type,
    null_mask,
    numbers_of,
    plain_array,
)
from lumberjack_spark.schema.number_table import NumberTable
from lumberjack_spark.schema.text_numbers import number_of_text, text_of_number
from lumberjack_spark.schema.values import (
    CategoryValue,
    kind_of,
    number_of_value,
    text_of_value,
)

Codes = npt.NDArray[np.int32]
_LARGE = pa.large_string()


class CategoryCodes:
    """Codes 0..size-1 of declared values, size for others, size + 1 for missing.

    Args:
        values: declared values, of one kind.
        markers: values that mean "missing"; none of them matches a declared value.
    """

    def __init__(
        self, values: Sequence[CategoryValue], markers: Sequence[CategoryValue] = ()
    ) -> None:
        self.other = len(values)
        self.missing = self.other + 1
        self._reads_numbers = kind_of(values) != "text"
        coded = [*enumerate(values), *((self.missing, marker) for marker in markers)]
        if self._reads_numbers:
            numbers = _numbers_by_code(coded)
            marks = [v for v in markers if isinstance(v, str) and number_of_value(v) is None]
            texts = dict.fromkeys(marks, self.missing)
            self._false, self._true = numbers.get(0.0, self.other), numbers.get(1.0, self.other)
        else:
            texts = {text_of_value(value): code for code, value in coded}
            numbers = {number: code for text, code in texts.items() for number in _written(text)}
            self._false, self._true = (texts.get(word, self.other) for word in ("false", "true"))
        self._numbers = NumberTable(numbers, absent=self.other)
        self._reads_words = kind_of(values) == "boolean"
        self._texts = {kind: pa.array(list(texts), kind) for kind in (pa.string(), _LARGE)}
        self._code_of_text = np.array([*texts.values(), self.other], np.int32)

    def can_match(self, kind: pa.DataType) -> bool:
        """Whether a column of a suitable type can hold a declared value at all."""
        if types.is_dictionary(kind):
            kind = kind.value_type
        if types.is_boolean(kind):
            return min(self._false, self._true) < self.other
        return is_text_type(kind) or types.is_null(kind) or not self._numbers.is_empty

    def of(self, array: pa.Array) -> Codes:
        """Codes int32[n] of an array of any type."""
        if types.is_dictionary(array.type) and is_text_type(array.type.value_type):
            return self._of_dictionary(array)
        array = plain_array(array)
        kind = array.type
        if is_text_type(kind):
            codes = self._of_texts(array)
        elif types.is_boolean(kind):
            flags = pc.fill_null(array, False).to_numpy(zero_copy_only=False)
            codes = np.where(flags, np.int32(self._true), np.int32(self._false))
        elif types.is_integer(kind):
            codes = self._numbers.of_integers(integers_of(array))
        elif types.is_floating(kind) or types.is_decimal(kind):
            numbers = numbers_of(array)
            codes = self._numbers.of_floats(numbers)
            codes[np.isnan(numbers)] = self.missing
        else:
            codes = np.full(len(array), self.other, np.int32)
        if array.null_count:
            codes[null_mask(array)] = self.missing
        return codes

    def _of_texts(self, array: pa.Array) -> Codes:
        """Codes of a string or large_string array; those of nulls do not matter."""
        found = pc.index_in(array, value_set=self._texts[array.type])
        place = pc.fill_null(found, self._code_of_text.size - 1).to_numpy(zero_copy_only=False)
        codes: Codes = self._code_of_text[place]
        if self._reads_numbers:
            unmarked = codes == self.other
            codes[unmarked] = self._of_written_numbers(array)[unmarked]
        return codes

    def _of_written_numbers(self, array: pa.Array) -> Codes:
        """Codes of the numbers, and of true and false where they are values, that texts write."""
        codes = self._numbers.of_floats(numbers_of(array))
        if self._reads_words:
            words = pc.ascii_lower(pc.ascii_trim_whitespace(array))
            for word, code in (("false", self._false), ("true", self._true)):
                is_word = pc.fill_null(pc.equal(words, word), False)
                codes[is_word.to_numpy(zero_copy_only=False)] = code
        return codes

    def _of_dictionary(self, array: pa.Array) -> Codes:
        """Codes of a dictionary of texts: each entry is looked up once."""
        entries = np.append(self.of(array.dictionary), np.int32(self.missing))
        places = pc.fill_null(array.indices.cast(pa.int64()), entries.size - 1)
        codes: Codes = entries[places.to_numpy(zero_copy_only=False)]
        return codes


def _numbers_by_code(coded: Sequence[tuple[int, CategoryValue]]) -> dict[float, int]:
    """Code of each number that a declared value or marker writes or is."""
    numbers = ((number_of_value(value), code) for code, value in coded)
    return {number: code for number, code in numbers if number is not None}


def _written(text: str) -> Sequence[float]:
    """The number that a text writes in the usual way, if it does."""
    number = number_of_text(text)
    return () if number is None or text_of_number(number) != text else (number,)
