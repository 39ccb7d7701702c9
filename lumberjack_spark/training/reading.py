"""Rows read once: packed blocks of cells, and how many rows lie in each cell.

read_rows    rows -> blocks of their cells, then the counts of all cells (a task)
read_blocks  blocks -> chunks of cells and labels, for the passes that follow

A cell is a 16-bit number that follows from declarations alone: where a value lies among the cells
of the private marginals, or the code of an encoder that looks at no data. A row takes 2 bytes a
feature and 2 for its label. Rows without a declared label are left out here, once for all passes.
Memory follows the chunk and the 10,000 blocks that Spark may hand over at once, not the partition.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import FeatureEncoder, MarginalBins
from lumberjack_spark.schema import RowReader
from lumberjack_spark.training.marginals import CellCounts

CHUNK_ROWS = 1 << 18  # most rows in hand at once
CHUNK_BYTES = 1 << 25  # of their cells, about
BLOCK_BYTES = 1 << 13  # about, of one block

READ_SCHEMA = pa.schema([("block", pa.binary()), ("cell", pa.int64()), ("n", pa.int64())])


@dataclass(frozen=True, eq=False)
class Reading:
    """What reading needs to know; all of it public.

    Attributes:
        reader: row rules of the schema.
        cells: gives the cells of rows: the bins of private marginals, which are counted as they
            are read, or an encoder that looks at no data.
    """

    reader: RowReader
    cells: MarginalBins | FeatureEncoder


def chunk_rows(n_features: int) -> int:
    """Rows of a chunk."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES // (2 * (n_features + 1))))


def read_rows(batches: Iterable[pa.RecordBatch], reading: Reading) -> Iterator[pa.RecordBatch]:
    """Read the rows of one task: batches (READ_SCHEMA) that hold blocks, then one with counts.

    What READ_SCHEMA calls a cell is cell * n_classes + class, as in MARGINAL_SCHEMA.
    """
    most = chunk_rows(len(reading.reader.schema.features))
    counts = CellCounts(reading.cells) if isinstance(reading.cells, MarginalBins) else None
    for batch in batches:
        for start in range(0, batch.num_rows, most):
            piece = batch.slice(start, most)
            labels = reading.reader.labels(piece)
            cells = reading.cells.read(reading.reader, piece)
            known = labels >= 0
            if not known.all():
                cells, labels = cells[:, known], labels[known]
            if counts is not None:
                counts.add(cells, labels)
            blocks = pa.array(pack_rows(cells, labels), pa.binary())
            absent = pa.nulls(len(blocks), pa.int64())
            yield pa.RecordBatch.from_arrays([blocks, absent, absent], schema=READ_SCHEMA)
    if counts is not None:
        cell, n = map(pa.array, counts.seen())
        absent = pa.nulls(len(cell), pa.binary())
        yield pa.RecordBatch.from_arrays([absent, cell, n], schema=READ_SCHEMA)


def pack_rows(cells: np.ndarray, labels: np.ndarray) -> list[bytes]:
    """Cells uint16[d, n] and labels int32[n] >= 0 as blocks, in order."""
    rows = np.vstack((cells, labels.astype(np.uint16)[None]))
    size = max(1, BLOCK_BYTES // (2 * len(rows)))
    return [rows[:, start : start + size].tobytes() for start in range(0, len(labels), size)]


def read_blocks(
    batches: Iterable[pa.RecordBatch], n_features: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(cells uint16[d, n], labels uint16[n]) of the rows in column `block`, chunk by chunk."""
    most = chunk_rows(n_features)
    held: list[np.ndarray] = []
    n_held = 0
    for batch in batches:
        for block in batch.column("block"):
            rows = np.frombuffer(block.as_buffer(), np.uint16).reshape(n_features + 1, -1)
            if held and n_held + rows.shape[1] > most:
                chunk = _joined(held)
                held, n_held = [], 0  # before the chunk is worked on: blocks are memory too
                yield chunk
            held.append(rows)
            n_held += rows.shape[1]
    if held:
        yield _joined(held)


def _joined(blocks: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Cells and labels of some blocks."""
    rows = np.concatenate(blocks, axis=1)
    return rows[:-1], rows[-1]
