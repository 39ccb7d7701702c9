"""Two-way counts, and the columns made of them."""

from dataclasses import replace

import numpy as np
import pytest

from lumberjack_spark.encoding import (
    FeatureEncoder,
    MarginalBins,
    PairBins,
    PairCodes,
    pair_columns,
    private_encoder,
    read_marginals,
)
from lumberjack_spark.encoding.places import TOP_CODE
from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.trees import SplitSpace

N = 40_000


def schema_of(n_classes=2):
    return DataSchema(
        {
            "x": Numeric(0, 1),
            "y": Numeric(0, 1),
            "copy": Numeric(0, 1),
            "kind": Categorical([f"k{i}" for i in range(50)]),
        },
        "label",
        list(range(n_classes)),
    )


def rows_of(n_classes=2, together=True, seed=0):
    """x alone tells something, and so does its copy; y tells something only together with x."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((2, N))
    copy = np.clip(x + rng.normal(0, 0.2, N), 0, 1)
    kind = rng.integers(0, 50, N).astype(np.int32)
    odds = 0.8 * (x > 0.5) + (1.5 * ((x > 0.5) ^ (y > 0.5)) if together else 0.0) - 1
    label = (rng.random(N) < 1 / (1 + np.exp(-odds))).astype(int)
    return [x, y, copy, kind], label + (rng.integers(0, n_classes - 1, N) if n_classes > 2 else 0)


def noisy(bins, columns, labels, sigma, seed=1):
    counts = np.random.default_rng(seed).normal(0, sigma, (bins.offsets[-1], bins.n_classes))
    cells_of = MarginalBins.of_schema(schema_of(bins.n_classes)).cells(columns)
    for offset, cells in zip(bins.offsets, bins.in_tables(cells_of), strict=False):
        np.add.at(counts, (offset + cells, labels), 1)
    return counts


def made(columns, labels, *, n_classes=2, sigma=20.0, seed=1):
    schema = schema_of(n_classes)
    bins = MarginalBins.of_schema(schema)
    marginals = read_marginals(schema, bins, noisy(bins, columns, labels, sigma), sigma)
    pairs = PairBins.of_marginals(marginals)
    found = pair_columns(marginals, pairs, noisy(pairs, columns, labels, sigma, seed), sigma)
    return marginals, pairs, found


def area(place, labels):
    order = np.argsort(place, kind="stable")
    ranks = np.empty(len(place))
    ranks[order] = np.arange(len(place))
    members = labels == 1
    return (ranks[members].mean() - ranks[~members].mean()) / len(place) + 0.5


def test_a_pair_that_acts_together_is_found_and_no_other():
    columns, labels = rows_of()
    _, _, found = made(columns, labels)
    assert [(column.first, column.second) for column in found[:1]] == [(0, 1)]
    # The copy of x acts together with y too; x and its copy do not, nor does anything with kind.
    assert {(c.first, c.second) for c in found} <= {(0, 1), (1, 2)}


@pytest.mark.parametrize("seed", range(5))
def test_features_that_do_not_act_together_give_no_column(seed):
    columns, labels = rows_of(together=False, seed=seed)
    assert made(columns, labels, seed=seed + 50)[2] == ()


def test_the_column_orders_rows_by_what_the_pair_tells():
    columns, labels = rows_of()
    marginals, _, found = made(columns, labels)
    encoder = private_encoder(marginals, found)
    codes = encoder.encode(columns).astype(int)
    place = len(encoder.features) + [isinstance(c, PairCodes) for c in encoder.joint].index(True)
    assert area(codes[place], labels) > area(codes[0], labels) + 0.08
    assert codes.max() <= TOP_CODE
    for row, possible in zip(codes, encoder.possible(), strict=True):
        assert np.isin(row, possible).all() if isinstance(possible, np.ndarray) else True
    SplitSpace.of(encoder.possible())


def test_three_classes():
    columns, labels = rows_of(n_classes=3)
    _, _, found = made(columns, labels, n_classes=3, sigma=5.0)
    assert (found[0].first, found[0].second) == (0, 1)


def test_every_row_is_in_one_cell_of_every_pair():
    columns, labels = rows_of()
    columns[0][:10] = np.nan
    columns[3][:20] = 51
    _, pairs, _ = made(columns, labels)
    assert len(pairs.pairs) == 6
    rows = MarginalBins.of_schema(schema_of()).cells(columns)
    cells = pairs.in_tables(rows)
    for cell, size in zip(cells, np.diff(pairs.offsets), strict=True):
        assert cell.shape == (N,)
        assert 0 <= cell.min() <= cell.max() < size <= 32 * 32
    # Fifty kinds share the groups; a group holds about equally many rows.
    assert pairs.sizes[3] <= 32
    shares = np.bincount(pairs.groups[0][pairs.codes[0][rows[0]]]) / N
    assert shares.max() < 0.1


def test_noise_alone_gives_valid_pairs():
    schema = schema_of()
    bins = MarginalBins.of_schema(schema)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        marginals = read_marginals(schema, bins, rng.normal(0, 500, (bins.offsets[-1], 2)), 500.0)
        pairs = PairBins.of_marginals(marginals)
        found = pair_columns(marginals, pairs, rng.normal(0, 500, (pairs.offsets[-1], 2)), 500.0)
        SplitSpace.of(private_encoder(marginals, found).possible())


def test_arrays_hold_pair_columns():
    columns, labels = rows_of()
    marginals, _, found = made(columns, labels)
    encoder = private_encoder(marginals, found)
    arrays = encoder.to_arrays()
    again = FeatureEncoder.from_arrays(arrays)
    np.testing.assert_array_equal(again.encode(columns), encoder.encode(columns))
    assert [c.weights.tolist() for c in again.joint] == [c.weights.tolist() for c in encoder.joint]
    assert found[0].weights.tolist() == [0.5, 0.5, 0, 0]
    older = {name: array for name, array in arrays.items() if not name.startswith("pair")}
    assert len(FeatureEncoder.from_arrays(older).joint) == len(encoder.joint) - len(found)
    for name in ("pair_groups", "pair_codes", "pair_group_offsets"):
        with pytest.raises(ModelFormatError, match="pair"):
            FeatureEncoder.from_arrays({**arrays, name: arrays[name][:-1]})
    with pytest.raises(ModelFormatError, match="pairs"):
        FeatureEncoder.from_arrays({**arrays, "pairs": arrays["pairs"] + 4})
    short = replace(found[0], groups=(np.array([0, 1]), found[0].groups[1]))
    short = replace(short, codes=short.codes[:2])
    with pytest.raises(ModelFormatError, match="pair_groups must have all codes"):
        FeatureEncoder.from_arrays(replace(encoder, joint=(short,)).to_arrays())
