"""Columns as Spark hands them to an Arrow function, gathered into larger record batches."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa


def in_larger_batches(
    parts: Iterable[Any], names: Sequence[str], rows: int
) -> Iterator[pa.RecordBatch]:
    """The rows of all parts, in order and in fewer batches.

    Args:
        parts: tuples of pyarrow.Array of equal length, or single arrays if there is one column.
        names: names of the columns.
        rows: most rows of a batch, unless a part alone has more.
    """
    held: list[tuple[pa.Array, ...]] = []
    n = 0
    for part in parts:
        columns = part if isinstance(part, tuple) else (part,)
        if held and n + len(columns[0]) > rows:
            yield _joined(held, names)
            held, n = [], 0
        held.append(columns)
        n += len(columns[0])
    if held:
        yield _joined(held, names)


def _joined(parts: Sequence[tuple[pa.Array, ...]], names: Sequence[str]) -> pa.RecordBatch:
    """The rows of all parts."""
    columns = [pa.concat_arrays(arrays) for arrays in zip(*parts, strict=True)]
    return pa.RecordBatch.from_arrays(columns, list(names))
