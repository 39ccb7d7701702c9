"""Neighbouring tables that come close to the worst case of the accountant.

Each scenario is a table D, one more row x, and a plan that spends nearly all on what the scenario
is about, so that the claim leaves little room. Rows are alike but for one group, so that the counts
of the nodes above x can be chosen:

    c0          x's node holds c0 rows: with x it may get a 1-bit, without x it never does
    steepest    x's node holds the count at which one more row moves the probability most
    c0 + i      counts further up the foot of the bit table, where a table that starts late jumps

What fit publishes has splits with an empty side taken out, by noisy counts. That would hide bits
from the audit. So scenarios about bits have drawn labels, with which nothing is taken out, or many
rows on both sides of the split.

Adjacency  D and D with x; both directions are audited.
Source     privacy/PROOF.md: bits may be asked adaptively, so that what is
           asked about after a 1-bit differs from what is asked about after a 0-bit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import marginal_histograms, plain_encoder
from lumberjack_spark.privacy import BitTable, NoisePlan, make_plan
from lumberjack_spark.schema import Categorical, DataSchema, RowReader
from lumberjack_spark.training.fit import SINGLE_PASS_DEPTH
from lumberjack_spark.trees import SplitSpace, route

USUAL_FEATURES, DEEP_FEATURES = 3, 17
VALUES = ("a", "b")
FEW, MANY = 4, 40  # c0: few rows, or so many that both sides of a split outgrow leaf noise
# With x, all features are "a"; "near" rows differ in the third one, "far" rows in all.
ALIKE, FAR = ("a",) * DEEP_FEATURES, ("b",) * DEEP_FEATURES
NEAR = ("a", "a", "b", *ALIKE[3:])
_MOST_SEEDS = 10_000


@dataclass(frozen=True, eq=False)
class Scenario:
    """One pair of neighbouring tables, and the plan whose claim is put to the test.

    Attributes:
        name: short, for tables.
        schema: declarations of both tables.
        plan: noise of the fits, and the claim.
        seed: structure seed.
        rows: table D.
        row: the row x.
        known: another table, fitted along with the audited one in each draw, whose rows the
            attacker knows; None for none. Releases from it say nothing about x.
    """

    name: str
    schema: DataSchema
    plan: NoisePlan
    seed: int
    rows: pa.RecordBatch
    row: pa.RecordBatch
    known: pa.RecordBatch | None = None


Groups = Mapping[tuple[str, ...], int]


def steepest_count(bits: BitTable) -> int:
    """Count at which one more row moves the probability of a 1-bit most."""
    counts = range(bits.minimum_count, bits.certain_count)
    steps = [bits.probability(count + 1) - bits.probability(count) for count in counts]
    return bits.minimum_count + int(np.argmax(steps))


def audit_schema(n_features: int = USUAL_FEATURES) -> DataSchema:
    """Categorical features of two values each, two classes."""
    features = {f"feature {i}": Categorical(VALUES) for i in range(n_features)}
    return DataSchema(features, label="class", classes=["no", "yes"])


def make_rows(schema: DataSchema, groups: Groups, label: str = "yes") -> pa.RecordBatch:
    """Rows of one class: so many of each kind."""
    kinds = [kind for kind, size in groups.items() for _ in range(size)]
    columns: dict[str, Any] = {
        feature.name: pa.array([kind[i] for kind in kinds], pa.string())
        for i, feature in enumerate(schema.features)
    }
    return pa.RecordBatch.from_pydict(
        columns | {"class": pa.array([label] * len(kinds), pa.string())}
    )


def shared_branches(schema: DataSchema, kind: tuple[str, ...], *, seed: int, tree: int) -> int:
    """Branches that rows alike to x and rows of another kind take together in a tree."""
    batch = make_rows(schema, {ALIKE: 1, kind: 1})
    encoder = plain_encoder(schema)
    codes = encoder.read(RowReader(schema), batch)
    space = SplitSpace.of(encoder.possible())
    _, paths = route(codes, seed=seed, tree=tree, max_depth=USUAL_FEATURES, space=space)
    different = int(paths[0, 0]) ^ int(paths[1, 0])
    return 64 - different.bit_length()


def find_seed(schema: DataSchema, kind: tuple[str, ...], branches: int, trees: int) -> int:
    """Least seed with which rows of a kind leave x's path after so many branches in all trees.

    Raises:
        LookupError: there is none among the first 10,000.
    """
    for seed in range(_MOST_SEEDS):
        found = {shared_branches(schema, kind, seed=seed, tree=tree) for tree in range(trees)}
        if found == {branches}:
            return seed
    raise LookupError(f"no seed parts the rows after {branches} branches in all trees")


def _plan(epsilon: float, delta: float, **choices: Any) -> NoisePlan:
    """A plan of few trees for the audit's claim."""
    usual: dict[str, Any] = {
        "num_trees": 1,
        "max_depth": 1,
        "leaf_share": 0.05,
        "marginal_share": 0.0,
        "min_exact_count": FEW,
    }
    return make_plan(epsilon=epsilon, delta=delta, **{**usual, **choices})


def _bit_plan(epsilon: float, delta: float, **choices: Any) -> NoisePlan:
    """A plan that spends nearly all on bits."""
    return _plan(epsilon, delta, leaf_mode="majority", **choices)


def _both_sides(rows: int) -> Groups:
    """So many rows, half of which leave x's path at the root."""
    return {ALIKE: rows - rows // 2, FAR: rows // 2}


def _scenario(
    name: str,
    plan: NoisePlan,
    groups: Groups,
    *,
    seed: int = 0,
    n_features: int = USUAL_FEATURES,
    others: Groups = MappingProxyType({}),
    with_known: bool = False,
) -> Scenario:
    """A scenario of groups of x's class, and others of the other class."""
    schema = audit_schema(n_features)
    parts = [make_rows(schema, groups, "yes"), make_rows(schema, others, "no")]
    rows = pa.concat_batches(parts)
    row = make_rows(schema, {ALIKE: 1}, "yes")
    return Scenario(name, schema, plan, seed, rows, row, rows if with_known else None)


def _leaves(name: str, epsilon: float, delta: float) -> Scenario:
    """Too few rows for any bit: the root is the only leaf."""
    return _scenario(name, _plan(epsilon, delta, leaf_share=0.95), {ALIKE: 1})


def _drawn_labels(name: str, epsilon: float, delta: float) -> Scenario:
    """Majority leaves: x's class is one row behind the other, and even with it with x."""
    plan = _plan(epsilon, delta, leaf_share=0.95, leaf_mode="majority")
    return _scenario(name, plan, {ALIKE: 1}, others={ALIKE: 2})


def _single(place: Callable[[BitTable], int]) -> Callable[[str, float, float], Scenario]:
    """One bit about a node of a chosen count."""

    def build(name: str, epsilon: float, delta: float) -> Scenario:
        plan = _bit_plan(epsilon, delta)
        return _scenario(name, plan, {ALIKE: place(plan.bits)})

    return build


def _first_deep(name: str, epsilon: float, delta: float) -> Scenario:
    """Asked first: x's node at level 1, of c0 rows; then, after a 0-bit, the steepest root."""
    plan = _bit_plan(epsilon, delta, max_depth=2)
    c0, steepest = plan.bits.minimum_count, steepest_count(plan.bits)
    return _scenario(name, plan, {ALIKE: c0, FAR: steepest - c0})


def _adaptive(name: str, epsilon: float, delta: float) -> Scenario:
    """Asked first: a steepest node at level 1; after a 1-bit one of c0 rows, else the root."""
    plan = _bit_plan(epsilon, delta, max_depth=3)
    c0, steepest = plan.bits.minimum_count, steepest_count(plan.bits)
    seed = find_seed(audit_schema(), NEAR, branches=1, trees=1)
    return _scenario(name, plan, {ALIKE: c0, NEAR: steepest - c0}, seed=seed)


def _many_trees(name: str, epsilon: float, delta: float) -> Scenario:
    """Several trees of one bit each, all steepest, with noisy leaf counts that tell as much."""
    plan = _plan(epsilon, delta, num_trees=3, leaf_share=0.5, min_exact_count=MANY)
    return _scenario(name, plan, _both_sides(steepest_count(plan.bits)))


def _many_mixed(name: str, epsilon: float, delta: float) -> Scenario:
    """Several trees of height 3, each as in the adaptive scenario."""
    plan = _bit_plan(epsilon, delta, num_trees=2, max_depth=3)
    c0, steepest = plan.bits.minimum_count, steepest_count(plan.bits)
    seed = find_seed(audit_schema(), NEAR, branches=1, trees=2)
    return _scenario(name, plan, {ALIKE: c0, NEAR: steepest - c0}, seed=seed)


def _two_passes(name: str, epsilon: float, delta: float) -> Scenario:
    """A tree so deep that rows are walked in two passes; all nodes above x are steepest."""
    plan = _bit_plan(epsilon, delta, max_depth=SINGLE_PASS_DEPTH + 1)
    return _scenario(name, plan, {ALIKE: steepest_count(plan.bits)}, n_features=DEEP_FEATURES)


def _marginals(name: str, epsilon: float, delta: float) -> Scenario:
    """Private marginals first; x shifts the released share of its class."""
    histograms = marginal_histograms(audit_schema(1))
    plan = _plan(epsilon, delta, leaf_share=0.05, marginal_share=0.9, histograms=histograms)
    return _scenario(name, plan, {ALIKE: 60}, n_features=1, others={ALIKE: 60})


def _two_fits(name: str, epsilon: float, delta: float) -> Scenario:
    """Each draw also fits a table that the attacker knows; a shared key would undo the noise."""
    plan = _plan(epsilon, delta, leaf_share=0.5, min_exact_count=MANY)
    return _scenario(name, plan, _both_sides(steepest_count(plan.bits)), with_known=True)


SCENARIOS: Mapping[str, Callable[[str, float, float], Scenario]] = MappingProxyType(
    {
        "leaves": _leaves,
        "drawn labels": _drawn_labels,
        "bit at c0": _single(lambda bits: bits.minimum_count),
        "bit at c0 + 1": _single(lambda bits: bits.minimum_count + 1),
        "bit at c0 + 2": _single(lambda bits: bits.minimum_count + 2),
        "bit at c0 + 3": _single(lambda bits: bits.minimum_count + 3),
        "steepest bit": _single(steepest_count),
        "last uncertain bit": _single(lambda bits: bits.certain_count - 1),
        "c0 below steepest": _first_deep,
        "adaptive, height 3": _adaptive,
        "three trees": _many_trees,
        "two adaptive trees": _many_mixed,
        "two passes": _two_passes,
        "marginals": _marginals,
        "two fits": _two_fits,
    }
)


def make_scenario(name: str, *, epsilon: float, delta: float) -> Scenario:
    """A scenario by its name in SCENARIOS.

    Args:
        name: which.
        epsilon: the claim, in nats; > 0.
        delta: the claim; 0.01 or more, since a smaller one cannot be seen in some thousand draws.

    Raises:
        KeyError: there is no such scenario.
        BudgetError: there is no plan for this claim.
    """
    return SCENARIOS[name](name, epsilon, delta)
