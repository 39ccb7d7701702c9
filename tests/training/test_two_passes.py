import numpy as np
import pyarrow as pa
import pytest

from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable, GaussianLeaves, Guarantee, NoisePlan
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.training import LocalBackend, LocalCells, fit, fit_forest

SCHEMA = DataSchema(
    features={
        "x": Numeric(0, 1),
        "y": Numeric(0, 1),
        "c": Categorical(["a", "b", "c", "d"]),
    },
    label="label",
    classes=["no", "yes"],
)


def certain_plan(max_depth: int, minimum_count: int) -> NoisePlan:
    """Bits that are 1 exactly above minimum_count, so that no word of noise decides anything."""
    return NoisePlan(
        bits=BitTable(minimum_count=minimum_count, weights=np.empty(0, np.uint64)),
        leaves=GaussianLeaves(1e-3),
        marginals=None,
        guarantee=Guarantee(1.0, 0.5),
        certified_delta=0.5,
        accountant="exact",
        num_trees=3,
        max_depth=max_depth,
        questions=21,
    )


def table(n: int) -> list[list[pa.RecordBatch]]:
    rng = np.random.default_rng(3)
    # Values repeat, so that many nodes far down hold more rows than minimum_count.
    columns = {
        "x": rng.integers(0, 30, n) / 29,
        "y": rng.integers(0, 4, n) / 3,
        "c": np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)],
        "label": np.array(["no", "yes"])[rng.integers(0, 2, n)],
    }
    return [[pa.RecordBatch.from_pydict(columns)]]


@pytest.mark.parametrize("max_depth", [17, 40, 63, 64, 100, 126])
@pytest.mark.parametrize("minimum_count", [0, 6, 10**6])
def test_two_passes_grow_the_forest_of_one(monkeypatch, max_depth, minimum_count):
    plan, key = certain_plan(max_depth, minimum_count), NoiseKey.injected(bytes(32))
    backend = LocalBackend(table(3000))
    two = fit_forest(backend, SCHEMA, plan, seed=5, key=key)
    monkeypatch.setattr(fit, "SINGLE_PASS_DEPTH", 126)
    one = fit_forest(backend, SCHEMA, plan, seed=5, key=key)
    assert np.array_equal(one.structure.nodes, two.structure.nodes)
    assert np.array_equal(one.leaf_counts, two.leaf_counts)
    if minimum_count == 0:
        assert two.leaf_counts.sum() == 3 * 3000


def test_the_second_pass_walks_only_below_nodes_with_bit_one(monkeypatch):
    seen = []

    def watched(self, routing, counting):
        seen.append((routing.max_depth, routing.within, counting.first_level))
        return nodes(self, routing, counting)

    nodes = LocalCells.nodes
    monkeypatch.setattr(LocalCells, "nodes", watched)
    plan = certain_plan(40, 6)
    fit_forest(LocalBackend(table(2000)), SCHEMA, plan, seed=5, key=NoiseKey.injected(bytes(32)))
    (first_depth, first_within, _), (second_depth, within, first_level) = seen
    assert (first_depth, first_within, second_depth, first_level) == (21, None, 40, 21)
    assert all(0 < len(nodes) <= 2000 // 7 for nodes in within)
