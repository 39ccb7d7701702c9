"""Fitting one forest: what the driver does between the passes over the rows.

1. encode   with a share of the budget: noisy marginals -> encoder (released); else the plain one
2. count    rows -> path codes -> exact node counts -> keyed threshold bits, tree by tree; first
            down to the middle level, then below the nodes there whose bit is 1
3. mark     Algorithm 1 over the nodes whose bit is 1; children of heavy nodes are the leaves
4. noise    on every class count of every leaf; exact counts are dropped here
5. shorten  splits with nothing on one side go, by the noisy counts

A Backend runs the passes: over Spark partitions, or over a list of batches in this process.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from lumberjack_spark.encoding import FeatureEncoder, plain_encoder, private_encoder
from lumberjack_spark.heavy_hitters import mark_heavy_hitters
from lumberjack_spark.heavy_hitters.prefixes import contains, to_keys
from lumberjack_spark.noise import NoiseKey, choose_labels, discrete_gaussian
from lumberjack_spark.privacy import GaussianLeaves, NoisePlan
from lumberjack_spark.schema import DataSchema, RowReader
from lumberjack_spark.training.marginals import MarginalCounting, release_marginals
from lumberjack_spark.training.tasks import Counting, Routing, unpack_records
from lumberjack_spark.trees import (
    GrownTree,
    NodeRecords,
    Structure,
    assemble,
    drop_empty_leaves,
    grow_tree,
    preorder,
)

SINGLE_PASS_DEPTH = 16  # up to here a second pass over the rows costs more than it saves


class Backend(Protocol):
    """Runs the passes over the rows of one table."""

    def marginals(self, counting: MarginalCounting) -> np.ndarray:
        """Exact counts int64[counting.n_counts] of the cells of all features by class."""

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, bytes]]:
        """(tree, packed node records) of every tree with rows, in any order."""


@dataclass(frozen=True, eq=False)
class ReleasedForest:
    """All that leaves fit.

    Attributes:
        encoder: codes of the features.
        structure: pruned trees.
        leaf_counts: int64[num_leaves, n_classes], class counts with noise; with majority leaves
            1 for the drawn label, 0 elsewhere.
    """

    encoder: FeatureEncoder
    structure: Structure
    leaf_counts: np.ndarray


def fit_forest(
    backend: Backend, schema: DataSchema, plan: NoisePlan, *, seed: int, key: NoiseKey
) -> ReleasedForest:
    """Train one forest.

    Args:
        backend: runs the passes over the rows.
        schema: public declarations.
        plan: the noise, calibrated before any data is read.
        seed: structure seed, 0 <= seed < 2^63; public.
        key: the secret of this fit, used for nothing else.
    """
    reader = RowReader(schema)
    encoder = _encoder(backend, reader, plan, key)
    routing = Routing(reader, encoder, seed, plan.num_trees, plan.max_depth)
    records = _candidates(backend, routing, plan, key)
    trees: list[GrownTree] = []
    leaf_counts: list[np.ndarray] = []
    for tree in range(plan.num_trees):
        grown, exact = _prune(records.pop(tree), routing, tree)
        trees.append(grown)
        leaf_counts.append(_with_noise(exact, plan, key, tree))
    structure, released = assemble(trees, routing.space), np.concatenate(leaf_counts, axis=0)
    if isinstance(plan.leaves, GaussianLeaves):
        noise_of_total = plan.leaves.sigma * math.sqrt(routing.n_classes)
        structure, released = drop_empty_leaves(structure, released, limit=noise_of_total)
    return ReleasedForest(encoder, structure, released)


def _candidates(
    backend: Backend, routing: Routing, plan: NoisePlan, key: NoiseKey
) -> dict[int, NodeRecords]:
    """Nodes of each tree that may be heavy.

    Algorithm 1 first asks about all nodes of the middle level, and about deeper ones only below
    those whose bit is 1. So a first pass walks rows no deeper than the middle level, where most
    walks would go on alone for long; a second one walks on the few that need it.
    """
    shape = (routing.n_classes, plan.bits, key)
    if routing.max_depth <= SINGLE_PASS_DEPTH:
        return _collect(backend, routing, Counting(routing.n_words, *shape))
    middle = routing.max_depth // 2
    upper = replace(routing, max_depth=middle + 1)
    records = _collect(backend, upper, Counting(upper.n_words, *shape))
    asked_on = tuple(_ones_at(records[tree], middle) for tree in range(routing.num_trees))
    lower = replace(routing, within=asked_on, within_level=middle)
    deeper = _collect(backend, lower, Counting(lower.n_words, *shape, first_level=middle + 1))
    return {tree: _joined(records[tree], deeper[tree]) for tree in records}


def _collect(backend: Backend, routing: Routing, counting: Counting) -> dict[int, NodeRecords]:
    """Records of one pass, for every tree."""
    parts: dict[int, list[bytes]] = {tree: [] for tree in range(routing.num_trees)}
    if routing.within is None or any(map(len, routing.within)):
        for tree, packed in backend.nodes(routing, counting):
            parts[tree].append(packed)
    return {
        tree: unpack_records(packed, n_words=counting.n_words, n_classes=counting.n_classes)
        for tree, packed in parts.items()
    }


def _ones_at(records: NodeRecords, level: int) -> np.ndarray:
    """Ascending prefixes uint64[m] of the nodes at a level < 64 whose bit is 1."""
    return np.sort(records.prefixes[(records.levels == level) & records.bits, 0])


def _joined(upper: NodeRecords, lower: NodeRecords) -> NodeRecords:
    """Records of both passes; prefixes of the upper one may be a word shorter."""
    missing = lower.prefixes.shape[1] - upper.prefixes.shape[1]
    return NodeRecords(
        np.concatenate((upper.levels, lower.levels)),
        np.concatenate((np.pad(upper.prefixes, ((0, 0), (0, missing))), lower.prefixes)),
        np.concatenate((upper.bits, lower.bits)),
        np.concatenate((upper.children, lower.children)),
    )


def _encoder(backend: Backend, reader: RowReader, plan: NoisePlan, key: NoiseKey) -> FeatureEncoder:
    """The encoder that the plan pays for; it keeps nothing exact."""
    if plan.marginals is None:
        return plain_encoder(reader.schema)
    counting = MarginalCounting(reader)
    bins, sigma = counting.bins, plan.marginals.sigma
    if plan.marginals.histograms != bins.histograms:
        raise ValueError(
            f"plan.marginals.histograms must be {bins.histograms} for this schema, "
            f"got {plan.marginals.histograms}"
        )
    released = release_marginals(backend.marginals(counting), bins, sigma, key)
    return private_encoder(reader.schema, bins, released, sigma)


def _prune(records: NodeRecords, routing: Routing, tree: int) -> tuple[GrownTree, np.ndarray]:
    """The tree of heavy nodes, and the exact class counts of its leaves, int64[n_leaves, K]."""
    order = preorder(records.levels, records.prefixes)
    levels, prefixes = records.levels[order], records.prefixes[order]
    bits, children = records.bits[order], records.children[order]
    ones = [prefixes[bits & (levels == level)] for level in range(routing.max_depth)]
    heavy = _find(levels, prefixes, mark_heavy_hitters(ones, routing.max_depth))
    grown = grow_tree(
        levels[heavy],
        prefixes[heavy],
        seed=routing.seed,
        tree=tree,
        max_depth=routing.max_depth,
        space=routing.space,
    )
    if heavy.any():
        return grown, children[heavy][grown.children < 0]
    everything = children[levels == -1, 0]
    return grown, everything if len(everything) else np.zeros((1, routing.n_classes), np.int64)


def _find(levels: np.ndarray, prefixes: np.ndarray, heavy: list[np.ndarray]) -> np.ndarray:
    """Which nodes are in heavy: bool[n]; heavy holds the sorted prefixes of each level."""
    found = np.zeros(len(levels), np.bool_)
    for level, wanted in enumerate(heavy):
        here = levels == level
        found[here] = contains(to_keys(wanted), to_keys(prefixes[here]))
    return found


def _with_noise(exact: np.ndarray, plan: NoisePlan, key: NoiseKey, tree: int) -> np.ndarray:
    """Class counts of one tree's leaves with their noise, empty leaves too."""
    if isinstance(plan.leaves, GaussianLeaves):
        noise = discrete_gaussian(key.stream("leaf counts", tree), plan.leaves.sigma, exact.size)
        return exact + noise.reshape(exact.shape)
    labels = choose_labels(key.stream("leaf labels", tree), exact, plan.leaves.eta)
    return np.eye(exact.shape[1], dtype=np.int64)[labels]
