"""Slow, obvious twins of the row rules: one Python value at a time."""

import math
import re
from decimal import Decimal

BLANKS = " \t\n\r\v\f"


def naive_number(cell):
    """The number that a cell is or writes, None if it is or writes none; infinities allowed."""
    if isinstance(cell, str):
        text = cell.strip(BLANKS)
        usual = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text)
        endless = re.fullmatch(r"[+-]?(inf|infinity)", text, re.IGNORECASE | re.ASCII)
        return float(text) if usual or endless else None
    if isinstance(cell, (bool, int, float, Decimal)):
        number = float(cell)
        return None if math.isnan(number) else number
    return None


def naive_clean_number(cell, declared):
    """Clean number of one cell; NaN where missing."""
    number = naive_number(cell)
    markers = [naive_number(marker) for marker in declared.missing_markers]
    if number is None or number in [m for m in markers if m is not None]:
        return declared.missing if isinstance(declared.missing, float) else math.nan
    return min(max(number, declared.min), declared.max)


def naive_text(cell):
    """The one text of a value."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    number = float(cell)
    whole = math.isfinite(number) and number == int(number) and abs(number) < 2**53
    return str(int(number)) if whole else repr(number)


def naive_matches(cell, value):
    """Whether a cell, neither null nor NaN, matches a declared value or marker."""
    if isinstance(value, str):
        return naive_text(cell) == value
    if isinstance(value, bool) and isinstance(cell, str):
        if cell.strip(BLANKS).lower() == naive_text(value):
            return True
    return naive_number(cell) == float(value)


def naive_marks(cell, marker, values):
    """Whether a marker stands for a cell: by text for texts, else by number where it writes one."""
    if isinstance(values[0], str):
        return naive_text(cell) == naive_text(marker)
    if isinstance(values[0], bool) and isinstance(marker, bool):
        return naive_matches(cell, marker)
    number = naive_number(marker)
    return naive_number(cell) == number if number is not None else cell == marker


def naive_code(cell, declared):
    """Code of one cell of a categorical column."""
    size = len(declared.values)
    code = size
    if cell is None or (not isinstance(cell, str) and math.isnan(cell)):
        code = size + 1
    elif any(naive_marks(cell, marker, declared.values) for marker in declared.missing_markers):
        code = size + 1
    else:
        for index, value in enumerate(declared.values):
            if naive_matches(cell, value):
                code = index
    if code == size + 1 and declared.missing in declared.values:
        return list(declared.values).index(declared.missing)
    return code
