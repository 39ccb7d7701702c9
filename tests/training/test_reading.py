"""Rows read once: blocks of cells, and what is made of them."""

import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark.encoding import (
    CellEncoder,
    MarginalBins,
    PairBins,
    pair_columns,
    plain_encoder,
    private_encoder,
    read_marginals,
)
from lumberjack_spark.schema import Categorical, DataSchema, Numeric, RowReader
from lumberjack_spark.training import Reading, read_blocks, read_rows, reading
from lumberjack_spark.training.reading import READ_SCHEMA, pack_rows
from tests.training.tables import SCHEMA, partitions, random_rows

LABELS = ("no", "maybe", "yes", "never", None)


def kinds_of_cells():
    return {"marginals": MarginalBins.of_schema(SCHEMA), "plain": plain_encoder(SCHEMA)}


@pytest.mark.parametrize("kind", kinds_of_cells())
@pytest.mark.parametrize("batch_rows", [1, 100, 10_000])
@pytest.mark.parametrize(
    ("sizes", "chunk_rows", "block_bytes"),
    [
        ({}, 1 << 18, 1 << 13),
        ({"CHUNK_ROWS": 64, "BLOCK_BYTES": 80}, 64, 80),
        ({"CHUNK_BYTES": 88, "BLOCK_BYTES": 80}, 11, 80),
        ({"CHUNK_BYTES": 1, "BLOCK_BYTES": 1}, 1, 8),  # three features and a label: a row
    ],
)
def test_blocks_hold_the_cells_of_the_rows_with_a_label(
    monkeypatch, kind, batch_rows, sizes, chunk_rows, block_bytes
):
    for name, size in sizes.items():
        monkeypatch.setattr(reading, name, size)
    table = random_rows(900, labels=LABELS)
    cells_of, reader = kinds_of_cells()[kind], RowReader(SCHEMA)
    ((whole,),) = partitions(table, 1)
    labels = reader.labels(whole)
    (part,) = partitions(table, 1, batch_rows=batch_rows)
    read = list(read_rows(part, Reading(reader, cells_of)))
    assert all(batch.schema == READ_SCHEMA for batch in read)
    blocks = [batch.filter(batch.column("block").is_valid()) for batch in read]
    assert all(len(b.as_py()) <= block_bytes for batch in blocks for b in batch.column("block"))
    chunks = list(read_blocks(blocks, 3))
    assert all(len(found) <= chunk_rows for _, found in chunks)
    np.testing.assert_array_equal(
        np.concatenate([cells for cells, _ in chunks], axis=1),
        cells_of.read(reader, whole)[:, labels >= 0],
    )
    np.testing.assert_array_equal(
        np.concatenate([found for _, found in chunks]), labels[labels >= 0]
    )
    counted = [batch for batch in read if batch.column("cell").null_count < batch.num_rows]
    assert len(counted) == (kind == "marginals")


def test_the_largest_cells_and_classes_are_kept_whole():
    cells = np.array([[0, 65_535, 7]], np.uint16)
    labels = np.array([4095, 0, 1], np.int32)
    wide = DataSchema({"x": Numeric(0, 65_533, as_categories=True)}, "y", [0, 1])
    assert MarginalBins.of_schema(wide).cells([np.array([65_533.0, np.nan])]).tolist() == [
        [65_533, 65_534]
    ]
    batch = pa.RecordBatch.from_arrays([pa.array(pack_rows(cells, labels))], ["block"])
    ((found, found_labels),) = read_blocks([batch], 1)
    assert found.tolist() == cells.tolist()
    assert found_labels.tolist() == labels.tolist()


MIXED = DataSchema(
    {
        "size": Numeric(-10, 90, missing="high"),
        "code": Numeric(-3, 12, as_categories=True),
        "colour": Categorical(["red", "green", "blue"]),
        "other": Categorical([f"k{i}" for i in range(40)]),
    },
    label="y",
    classes=[0, 1, 2],
)


def hard_values(n, seed):
    """Clean columns with many values on edges, and just beside them."""
    rng = np.random.default_rng(seed)
    edges = MarginalBins.of_schema(MIXED).features[0].edges
    size = rng.choice(np.concatenate((edges, np.nextafter(edges, -99), [-10, 90, np.nan])), n)
    halves = np.arange(-3, 12) + 0.5
    near = np.concatenate((halves, np.nextafter(halves, -99), np.nextafter(halves, 99)))
    code = rng.choice(np.concatenate((near, np.arange(-3, 13), [np.nan])), n)
    colours = [rng.integers(0, k + 2, n).astype(np.int32) for k in (3, 40)]
    return [size, code, *colours]


@pytest.mark.parametrize("seed", range(4))
def test_codes_of_cells_are_the_codes_of_the_rows(seed):
    rng = np.random.default_rng(seed)
    bins = MarginalBins.of_schema(MIXED)
    counts = rng.gamma(0.3, 200, (bins.offsets[-1], 3)) + rng.normal(0, 5, (bins.offsets[-1], 3))
    marginals = read_marginals(MIXED, bins, counts, 5.0)
    pairs = PairBins.of_marginals(marginals)
    pair_counts = rng.gamma(0.3, 200, (pairs.offsets[-1], 3))
    encoder = private_encoder(marginals, pair_columns(marginals, pairs, pair_counts, 5.0))
    assert len(encoder.joint) > 0
    columns = hard_values(5000, seed)
    found = CellEncoder(encoder, marginals.codes).encode(bins.cells(columns))
    np.testing.assert_array_equal(found, encoder.encode(columns))
    for i in range(400):  # what stands beside a row in a batch changes nothing
        alone = [column[i : i + 1] for column in columns]
        np.testing.assert_array_equal(encoder.encode(alone)[:, 0], found[:, i])


def test_a_number_just_below_an_edge_is_on_the_step_below_it():
    schema = DataSchema({"x": Numeric(-10, 90)}, "y", [0, 1])
    bins = MarginalBins.of_schema(schema)
    counts = np.random.default_rng(0).gamma(0.3, 200, (bins.offsets[-1], 2))
    marginals = read_marginals(schema, bins, counts, 5.0)
    below = np.array([0.3 - 0.1 - 0.2])
    for beside in (below, np.append(below, 0.5)):
        code = marginals.features[0].of(beside)[0]
        assert (
            code
            == marginals.codes[0][bins.cells([below])[0, 0]]
            != marginals.features[0].of(np.array([0.0]))
        )
