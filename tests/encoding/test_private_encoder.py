"""The encoder made from noisy marginals."""

import numpy as np
import pytest

from lumberjack_spark.encoding import (
    FeatureEncoder,
    MarginalBins,
    plain_encoder,
    private_encoder,
    read_marginals,
)
from lumberjack_spark.encoding.places import TOP_CODE
from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.trees import SplitSpace


def schema_of(classes=(0, 1), missing="low"):
    return DataSchema(
        {
            "size": Numeric(0, 100, missing=missing),
            "code": Numeric(0, 30, as_categories=True),
            "colour": Categorical(["red", "green", "blue", "black"]),
        },
        label="y",
        classes=list(classes),
    )


def counts_of(schema, columns, labels, sigma=0.0, seed=0):
    bins = MarginalBins.of_schema(schema)
    counts = np.zeros((bins.offsets[-1], bins.n_classes))
    for offset, cells in zip(bins.offsets, bins.cells(columns), strict=False):
        np.add.at(counts, (offset + cells, labels), 1)
    noise = np.random.default_rng(seed).normal(0, sigma, counts.shape) if sigma else 0
    return bins, counts + noise


def encoder_of(schema, bins, counts, sigma):
    return private_encoder(read_marginals(schema, bins, counts, sigma))


def rows_of(n, seed=1, n_classes=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n)
    size = np.clip(rng.normal(20 + 10 * labels, 8), 0, 100)
    odd = np.where(rng.random(n) < 0.7, labels, rng.integers(0, 2, n))
    code = np.clip(rng.integers(0, 31, n) // 2 * 2 + odd, 0, 30).astype(float)
    colour = np.where(rng.random(n) < 0.6, labels % 4, rng.integers(0, 4, n)).astype(np.int32)
    return [size, code, colour], labels


@pytest.fixture(name="fitted")
def _fitted():
    schema = schema_of()
    columns, labels = rows_of(20_000)
    bins, counts = counts_of(schema, columns, labels, sigma=30)
    return schema, encoder_of(schema, bins, counts, 30.0), columns, labels


def test_encoded_rows_only_hold_codes_that_are_said_to_be_possible(fitted):
    _, encoder, columns, _ = fitted
    codes = encoder.encode(columns)
    assert codes.shape == (encoder.n_columns, 20_000)
    for row, possible in zip(codes, encoder.possible(), strict=True):
        assert np.isin(row, possible).all()
        assert possible[-1] <= TOP_CODE
    SplitSpace.of(encoder.possible())


def test_numbers_keep_their_order_and_spread_over_the_codes(fitted):
    _, encoder, columns, _ = fitted
    codes = encoder.encode(columns)[0].astype(int)
    order = np.argsort(columns[0])
    assert (np.diff(codes[order]) >= 0).all()
    assert np.quantile(codes, 0.75) - np.quantile(codes, 0.25) > 0.25 * TOP_CODE


def test_categories_stand_in_the_order_of_their_class_rates(fitted):
    _, encoder, columns, labels = fitted
    codes = encoder.encode(columns)
    for row, values in ((codes[2], columns[2]), (codes[1], columns[1])):
        keys = np.unique(values)
        rate = np.array([labels[values == key].mean() for key in keys])
        place = np.array([row[values == key][0] for key in keys])
        apart = np.abs(rate[:, None] - rate) > 0.2
        assert apart.any()
        assert (np.sign(rate[:, None] - rate) == np.sign(place[:, None] - place.astype(int)))[
            apart
        ].all()


def test_a_score_parts_the_classes_better_than_any_feature(fitted):
    _, encoder, columns, labels = fitted
    codes = encoder.encode(columns).astype(float)

    def gap(row):
        ranks = np.argsort(np.argsort(row))
        return abs(ranks[labels == 1].mean() - ranks[labels == 0].mean()) / len(labels)

    gaps = [gap(row) for row in codes]
    assert gaps[3] > max(gaps[:3]) + 0.02


@pytest.mark.parametrize(("missing", "code"), [("low", 0), ("high", TOP_CODE)])
def test_missing_numbers_have_a_slot_of_their_own(missing, code):
    schema = schema_of(missing=missing)
    columns, labels = rows_of(5000)
    columns[0][::3] = np.nan
    bins, counts = counts_of(schema, columns, labels)
    codes = encoder_of(schema, bins, counts, 1e-3).encode(columns)[0]
    is_missing = np.isnan(columns[0])
    assert (codes[is_missing] == code).all()
    assert (codes[~is_missing] != code).all()


def test_arrays_hold_the_whole_encoder(fitted):
    _, encoder, columns, _ = fitted
    arrays = encoder.to_arrays()
    again = FeatureEncoder.from_arrays(arrays)
    np.testing.assert_array_equal(again.encode(columns), encoder.encode(columns))
    np.testing.assert_array_equal(again.class_shares, encoder.class_shares)
    for one, other in zip(again.possible(), encoder.possible(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [s.weights.tolist() for s in again.joint] == [s.weights.tolist() for s in encoder.joint]


def test_arrays_of_a_plain_encoder_come_back(fitted):
    schema, _, columns, _ = fitted
    encoder = plain_encoder(schema)
    again = FeatureEncoder.from_arrays(encoder.to_arrays())
    np.testing.assert_array_equal(again.encode(columns), encoder.encode(columns))
    assert again.class_shares is None


def test_broken_arrays_are_refused_by_name(fitted):
    arrays = fitted[1].to_arrays()
    for name in arrays:
        broken = {**arrays, name: arrays[name].astype(np.complex128)}
        with pytest.raises(ModelFormatError, match=name):
            FeatureEncoder.from_arrays(broken)
    for name in ("edges", "codes", "score_values", "score_codes", "missing"):
        with pytest.raises(ModelFormatError):
            FeatureEncoder.from_arrays({**arrays, name: arrays[name][:-1]})
    with pytest.raises(ModelFormatError):
        FeatureEncoder.from_arrays({**arrays, "kinds": arrays["kinds"] + np.uint8(2)})


def test_three_classes_order_categories_by_their_main_direction():
    schema = schema_of(classes=("a", "b", "c"))
    columns, labels = rows_of(30_000, n_classes=3)
    bins, counts = counts_of(schema, columns, labels, sigma=30)
    encoder = encoder_of(schema, bins, counts, 30.0)
    assert encoder.class_shares.shape == (3,)
    assert len(encoder.joint) == 3
    codes = encoder.encode(columns)
    assert len(np.unique(codes[2])) == 4


def test_categories_that_say_little_are_asked_about_one_by_one():
    schema = schema_of()
    columns, labels = rows_of(20_000)
    columns[2] = np.random.default_rng(8).integers(0, 4, 20_000).astype(np.int32)
    bins, counts = counts_of(schema, columns, labels, sigma=30)
    encoder = encoder_of(schema, bins, counts, 30.0)
    assert encoder.possible()[2] == 4
    np.testing.assert_array_equal(encoder.encode(columns)[2], columns[2])
    again = FeatureEncoder.from_arrays(encoder.to_arrays())
    np.testing.assert_array_equal(again.encode(columns), encoder.encode(columns))


def test_scores_are_left_out_where_they_would_say_little():
    schema = schema_of()
    columns, labels = rows_of(20_000)
    labels = np.where(np.random.default_rng(9).random(20_000) < 0.7, 1 - labels[::-1], labels)
    bins, counts = counts_of(schema, columns, labels, sigma=30)
    encoder = encoder_of(schema, bins, counts, 30.0)
    assert encoder.joint == ()
    assert encoder.n_columns == 3


def test_noise_alone_gives_a_valid_encoder():
    schema = schema_of()
    bins = MarginalBins.of_schema(schema)
    for seed in range(5):
        noise = np.random.default_rng(seed).normal(0, 500, (bins.offsets[-1], 2))
        encoder = encoder_of(schema, bins, noise, 500.0)
        columns, _ = rows_of(100)
        assert encoder.encode(columns).max() <= TOP_CODE
        SplitSpace.of(encoder.possible())


def test_ten_thousand_categories_need_memory_for_their_codes_only():
    schema = DataSchema(
        {"key": Categorical([f"k{i}" for i in range(10_000)]), "x": Numeric(0, 1)}, "y", [0, 1]
    )
    bins = MarginalBins.of_schema(schema)
    counts = np.zeros((bins.offsets[-1], 2))
    counts[:10] = 900, 100
    encoder = encoder_of(schema, bins, counts, 10.0)
    assert sum(array.nbytes for array in encoder.to_arrays().values()) < 400_000
