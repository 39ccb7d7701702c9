"""Private marginals: exact counts of tasks, and their noise."""

import math

import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark.encoding import (
    MarginalBins,
    PairBins,
    marginal_histograms,
    read_marginals,
)
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.schema import Categorical, DataSchema, Numeric, RowReader
from lumberjack_spark.training import CellCounts, LocalBackend, Reading, count_pairs
from lumberjack_spark.training.marginals import release_marginals
from tests.stats import dkw_radius

SCHEMA = DataSchema(
    {
        "size": Numeric(0, 10),
        "code": Numeric(1, 300, as_categories=True),
        "colour": Categorical(["red", "green"]),
    },
    label="y",
    classes=["no", "yes"],
)


def pair_bins(schema, sigma=5.0, seed=3):
    """Pairs chosen by noise alone."""
    bins = MarginalBins.of_schema(schema)
    noise = np.random.default_rng(seed).normal(20, sigma, (bins.offsets[-1], bins.n_classes))
    return PairBins.of_marginals(read_marginals(schema, bins, noise, sigma))


BINS = MarginalBins.of_schema(SCHEMA)
PAIRS = pair_bins(SCHEMA)


def counted(parts, bins):
    """Exact counts of lists of batches."""
    with LocalBackend(parts).read(Reading(RowReader(SCHEMA), BINS)) as rows:
        return rows.pairs(bins) if bins is PAIRS else rows.marginals(bins)


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.choice([0.0, 2.5, 99.0, -1.0], n).tolist()
    return pa.table(
        {
            "size": pa.array([None if i % 7 == 0 else x for i, x in enumerate(sizes)]),
            "code": rng.integers(-5, 310, n),
            "colour": rng.choice(["red", "green", "grey"], n).tolist(),
            "y": pa.array([[None, "no", "yes", "?"][i] for i in rng.integers(0, 4, n)]),
        }
    )


def naive_counts(rows, bins):
    counts = np.zeros(bins.offsets[-1] * 2, int)
    reader = RowReader(SCHEMA)
    for batch in rows.to_batches(max_chunksize=1):
        label = int(reader.labels(batch)[0])
        if label >= 0:
            places = bins.in_tables(BINS.read(reader, batch))
            for offset, place in zip(bins.offsets, places, strict=False):
                counts[(offset + place[0]) * 2 + label] += 1
    return counts


@pytest.mark.parametrize("bins", [BINS, PAIRS], ids=["features", "pairs"])
def test_counts_are_those_of_the_naive_loop_however_rows_are_spread(bins):
    rows = table(300)
    expected = naive_counts(rows, bins)
    for size in (300, 7):
        parts = [[batch] for batch in rows.to_batches(max_chunksize=size)]
        np.testing.assert_array_equal(counted(parts, bins), expected)
    assert 0 < expected.sum() < 3 * 300


def test_a_task_sends_one_small_batch_of_pairs_even_without_rows():
    (batch,) = count_pairs(iter([]), PAIRS)
    assert batch.num_rows == 0
    cells, labels = BINS.read(RowReader(SCHEMA), *table(50).to_batches()), np.zeros(50, int)
    (batch,) = count_pairs([(cells, labels)], PAIRS)
    assert (batch.column("n").to_numpy() > 0).all()
    assert CellCounts(PAIRS).add_seen([batch, batch]).sum() == 2 * 50 * len(PAIRS.pairs)


def test_one_row_is_in_as_many_noisy_counts_as_the_schema_says():
    rows = table(40)
    one = rows.filter(pa.array([y in ("no", "yes") for y in rows["y"].to_pylist()])).slice(0, 1)
    found = 0
    for bins in (BINS, PAIRS):
        counts = counted([one.to_batches()], bins)
        assert counts.max() == 1
        repeats = np.repeat(bins.repeats, np.diff(bins.offsets) * 2)
        found += (counts * repeats).sum()
    assert found == marginal_histograms(SCHEMA)


def test_every_count_of_a_pair_gets_noise_of_its_own():
    key = NoiseKey.injected(bytes(range(32)))
    noise = release_marginals(np.zeros(PAIRS.offsets[-1] * 2, np.int64), PAIRS, 50.0, key)
    assert noise.std() == pytest.approx(50, rel=0.1)
    assert (noise != 0).mean() > 0.95
    single = release_marginals(np.zeros(BINS.offsets[-1] * 2, np.int64), BINS, 50.0, key)
    first = PAIRS.split(noise)[0].ravel()[:50]
    assert not np.isin(first * PAIRS.repeats[0], single.ravel()[:50]).all()


@pytest.mark.parametrize("sigma", [0.7, 40.0])
def test_every_count_gets_noise_of_the_promised_scale(sigma):
    bins = BINS
    exact = np.zeros(bins.offsets[-1] * 2, np.int64)
    key = NoiseKey.injected(bytes(range(32)))
    released = bins.split(release_marginals(exact, bins, sigma, key))
    wide = released[1]
    assert (wide != 0).mean() > 0.5
    for feature, repeats in zip(released, bins.repeats, strict=True):
        sums = feature.ravel() * repeats
        np.testing.assert_allclose(sums, np.rint(sums), atol=1e-9)
        if feature.size > 500:
            # The sum of r draws is close to N(0, r sigma^2); one unit of rounding is left open.
            scaled = np.sort(sums / (sigma * math.sqrt(repeats)))
            grid = np.linspace(-3, 3, 25)
            normal = np.array([0.5 * (1 + math.erf(x / math.sqrt(2))) for x in grid])
            found = np.searchsorted(scaled, grid, side="right") / scaled.size
            slack = 0.4 / (sigma * math.sqrt(repeats))
            assert np.abs(found - normal).max() < dkw_radius(scaled.size) + slack


def test_noise_is_added_to_the_exact_counts_and_differs_by_feature():
    bins = BINS
    key = NoiseKey.injected(bytes(range(32)))
    zero = np.zeros(bins.offsets[-1] * 2, np.int64)
    some = np.arange(zero.size)
    noise = release_marginals(zero, bins, 20.0, key)
    np.testing.assert_allclose(
        release_marginals(some, bins, 20.0, key) - noise, some.reshape(-1, 2), atol=1e-9
    )
    first, second = noise[:50], noise[bins.offsets[1] : bins.offsets[1] + 50]
    assert (first != second).any()
