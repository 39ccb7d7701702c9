"""Small tables for tests of whole fits, and plans whose noise is known."""

from itertools import pairwise

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import marginal_histograms
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable, GaussianLeaves, Guarantee, NoisePlan, make_plan
from lumberjack_spark.schema import Categorical, DataSchema, Numeric

SCHEMA = DataSchema(
    {"age": Numeric(0, 100), "city": Categorical(["x", "y", "z"]), "score": Numeric(-1, 1)},
    label="bought",
    classes=["no", "maybe", "yes"],
)
KEY = NoiseKey.injected(bytes(range(32)))
OTHER_KEY = NoiseKey.injected(bytes(32))


def random_rows(n: int, seed: int = 0, labels: tuple[str | None, ...] = SCHEMA.classes) -> pa.Table:
    """Random rows, some values missing or undeclared."""
    rng = np.random.default_rng(seed)
    age = rng.integers(-10, 120, n).astype(float)
    return pa.table(
        {
            "age": pa.array(age, mask=rng.random(n) < 0.05),
            "city": pa.array(rng.choice(["x", "y", "z", "?"], n), pa.string()),
            "score": pa.array(np.round(rng.normal(0, 0.5, n), 1)),
            "bought": pa.array([labels[i] for i in rng.integers(0, len(labels), n)], pa.string()),
        }
    )


def partitions(table: pa.Table, n: int, *, batch_rows: int = 10_000) -> list[list[pa.RecordBatch]]:
    """The table in n parts of batches of at most so many rows."""
    ends = [table.num_rows * i // n for i in range(n + 1)]
    parts = [table.slice(a, b - a) for a, b in pairwise(ends)]
    return [part.to_batches(max_chunksize=batch_rows) for part in parts]


def real_plan(**choices) -> NoisePlan:
    """A plan of a generous budget."""
    usual = {
        "epsilon": 4.0,
        "delta": 1e-3,
        "num_trees": 5,
        "max_depth": 12,
        "min_exact_count": 3,
        "leaf_share": 0.4,
        "marginal_share": 0.0,
    }
    return make_plan(**{**usual, **choices})


def plan_with_marginals(**choices) -> NoisePlan:
    """A plan with private marginals."""
    histograms = marginal_histograms(SCHEMA)
    return real_plan(marginal_share=0.3, histograms=histograms, **choices)


def exact_plan(*, kept_above: int, num_trees: int = 4, max_depth: int = 9) -> NoisePlan:
    """No privacy: bits are certain, and leaf noise of so small a scale is zero."""
    return NoisePlan(
        bits=BitTable(kept_above, np.empty(0, np.uint64)),
        leaves=GaussianLeaves(0.01),
        marginals=None,
        guarantee=Guarantee(1.0, 0.5),
        certified_delta=0.5,
        accountant="none",
        num_trees=num_trees,
        max_depth=max_depth,
        questions=num_trees * max_depth.bit_length(),
    )


def splits_by_path(structure) -> dict[tuple[int, str], tuple[int, int]]:
    """(feature, code) of each split node, by tree and path of L and R."""
    found = {}
    for tree, root in enumerate(structure.roots.tolist()):
        waiting = [(root, "")]
        while waiting:
            reference, path = waiting.pop()
            if reference >= 0:
                feature, code, left, right = structure.nodes[reference].tolist()
                found[tree, path] = feature, code
                waiting += [(left, path + "L"), (right, path + "R")]
    return found


def same_forest(one, other) -> bool:
    """Whether two released forests are equal bit for bit."""
    mine, theirs = one.encoder.to_arrays(), other.encoder.to_arrays()
    pairs = [
        (one.structure.roots, other.structure.roots),
        (one.structure.nodes, other.structure.nodes),
        (one.structure.leaf_offsets, other.structure.leaf_offsets),
        (one.structure.kinds, other.structure.kinds),
        (one.leaf_counts, other.leaf_counts),
        *((mine[name], theirs[name]) for name in mine),
    ]
    alike = all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)
    return alike and mine.keys() == theirs.keys()
