"""What one task of a counting pass does: plain functions that give Arrow batches.

route_rows    chunks of cells -> packed runs of path codes, keyed by tree (the map side)
count_nodes   runs in the order of (tree, first code) -> packed node records (the reduce side)

The same functions run inside Spark's tasks and in one process (see local). They hold no state
between calls and raise on no content of rows. Memory follows the chunk, not the partition.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import CellEncoder
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable
from lumberjack_spark.trees import (
    DistinctRows,
    NodeCounter,
    NodeRecords,
    Run,
    SplitSpace,
    code_words,
    merge_stream,
)

RUN_RECORDS = 1 << 12  # records of one block of the shuffle: Spark may hand over 10,000 at once
RECORDS_A_BATCH = 1 << 15  # node records sent to the driver together

RUN_SCHEMA = pa.schema(
    [("tree", pa.int32()), ("first", pa.int64()), ("second", pa.int64()), ("run", pa.binary())]
)
NODE_SCHEMA = pa.schema([("tree", pa.int32()), ("nodes", pa.binary())])


@dataclass(frozen=True, eq=False)
class Routing:
    """What routing needs to know; all of it public.

    Attributes:
        encoder: codes of cells.
        n_classes: number of declared classes.
        seed: structure seed.
        num_trees: number of trees.
        max_depth: largest number of branches on a path.
        within: for each tree the nodes at within_level, ascending uint64[m], below which rows are
            walked; others are left out. None for all rows.
        within_level: level of these nodes.
    """

    encoder: CellEncoder
    n_classes: int
    seed: int
    num_trees: int
    max_depth: int
    within: tuple[np.ndarray, ...] | None = None
    within_level: int = 0

    @cached_property
    def space(self) -> SplitSpace:
        """What the splits choose from."""
        return SplitSpace.of(self.encoder.encoder.possible())

    @property
    def n_words(self) -> int:
        """Words of a path code."""
        return code_words(self.max_depth)


def route_rows(
    chunks: Iterable[tuple[np.ndarray, np.ndarray]], routing: Routing
) -> Iterator[pa.RecordBatch]:
    """Walk all rows down all trees; one batch (RUN_SCHEMA) a tree and chunk.

    Args:
        chunks: cells uint16[d, n] and labels of rows, as reading.read_blocks gives them.
        routing: the trees.
    """
    for cells, labels in chunks:
        rows = DistinctRows.of(routing.encoder.encode(cells), labels)
        for tree in range(routing.num_trees):
            within = None if routing.within is None else routing.within[tree]
            if within is not None and len(within) == 0:
                continue
            run = rows.run(
                seed=routing.seed,
                tree=tree,
                max_depth=routing.max_depth,
                space=routing.space,
                within=within,
                within_level=routing.within_level,
            )
            pieces = list(run.pieces(RUN_RECORDS))
            if not pieces:
                continue
            heads = np.array([piece.codes[0] for piece in pieces], np.uint64)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(np.full(len(pieces), tree, np.int32)),
                    pa.array(_in_signed_order(heads[:, 0])),
                    pa.array(_in_signed_order(heads[:, -1])),
                    pa.array([piece.pack() for piece in pieces], pa.binary()),
                ],
                schema=RUN_SCHEMA,
            )


def _in_signed_order(words: np.ndarray) -> np.ndarray:
    """int64 that sort as these uint64 do."""
    return (words ^ np.uint64(1 << 63)).view(np.int64)


@dataclass(frozen=True, eq=False)
class Counting:
    """What counting needs to know.

    Attributes:
        n_words: words of a path code.
        n_classes: number of declared classes.
        bits: the law of the threshold bits.
        key: the secret of this fit.
        first_level: nodes above it are not counted; another pass does.
    """

    n_words: int
    n_classes: int
    bits: BitTable
    key: NoiseKey
    first_level: int = 0


def count_nodes(batches: Iterable[pa.RecordBatch], counting: Counting) -> Iterator[pa.RecordBatch]:
    """Count the nodes of the trees whose runs come, sorted by (tree, first code).

    A tree must come whole to one task: its stream of noise is drawn from the start.
    """
    rows = (
        (tree, run)
        for batch in batches
        for tree, run in zip(batch.column("tree").to_pylist(), batch.column("run"), strict=True)
    )
    for tree, group in itertools.groupby(rows, key=lambda row: row[0]):
        runs = (Run.unpack(run.as_buffer(), n_words=counting.n_words) for _, run in group)
        records = _count_tree(tree, runs, counting)
        for start in range(0, len(records.levels), RECORDS_A_BATCH):
            packed = pack_records(records, slice(start, start + RECORDS_A_BATCH))
            yield pa.RecordBatch.from_arrays(
                [pa.array([tree], pa.int32()), pa.array([packed], pa.binary())], schema=NODE_SCHEMA
            )


def _count_tree(tree: int, runs: Iterator[Run], counting: Counting) -> NodeRecords:
    """Candidate nodes of one tree.

    The pass that counts the root adds a record above it, at level -1 and without a bit, whose left
    child is the root: a Light root is a leaf and needs its class counts.
    """
    counter = NodeCounter(
        n_words=counting.n_words,
        n_classes=counting.n_classes,
        minimum_count=counting.bits.minimum_count,
        weights=counting.bits.weights,
        first_level=counting.first_level,
        take_words=counting.key.stream("threshold bits", tree, counting.first_level).take,
    )
    for run in merge_stream(runs):
        counter.feed(run.codes, run.payload)
    records = counter.finish()
    if counting.first_level > 0:
        return records
    root = np.zeros((1, 2, counting.n_classes), np.int64)
    root[0, 0] = counter.class_counts
    return NodeRecords(
        np.append(records.levels, -1),
        np.concatenate((records.prefixes, np.zeros((1, counting.n_words), np.uint64))),
        np.append(records.bits, False),
        np.concatenate((records.children, root)),
    )


Packed: TypeAlias = bytes | memoryview  # or a pyarrow.Buffer, which is untyped


def _record_type(n_words: int, n_classes: int, count: str) -> np.dtype[Any]:
    """Layout of a packed node record."""
    return np.dtype(
        [
            ("level", "<i2"),
            ("bit", "?"),
            ("prefix", "<u8", (n_words,)),
            ("children", count, (2, n_classes)),
        ]
    )


def pack_records(records: NodeRecords, part: slice) -> bytes:
    """Some node records as bytes: one that tells the width of a count, then the records."""
    n_words, n_classes = records.prefixes.shape[1], records.children.shape[2]
    levels, children = records.levels[part], records.children[part]
    count = "<u4" if children.max(initial=0) < 2**32 else "<u8"
    packed = np.empty(len(levels), _record_type(n_words, n_classes, count))
    packed["level"], packed["bit"] = levels, records.bits[part]
    packed["prefix"], packed["children"] = records.prefixes[part], children
    return count[-1].encode() + packed.tobytes()


def unpack_records(packed: Packed, *, n_words: int, n_classes: int) -> NodeRecords:
    """Undo pack_records; no bytes are no records."""
    view = memoryview(packed)
    count = f"<u{bytes(view[:1]).decode() or 4}"
    records = np.frombuffer(view[1:], _record_type(n_words, n_classes, count))
    return NodeRecords(
        records["level"].astype(np.int64),
        records["prefix"].astype(np.uint64),
        records["bit"].copy(),
        records["children"].astype(np.int64),
    )
