"""Fitting one forest: what the driver does between the passes over the rows.

1. read     rows -> cells, by declarations alone; the other passes see cells
2. encode   with a share of the budget: noisy marginals of features, then of pairs of them that the
            former choose -> encoder (released); else the plain one
3. count    cells -> path codes -> exact node counts -> keyed threshold bits, tree by tree; first
            down to the middle level, then below the nodes there whose bit is 1
4. mark     Algorithm 1 over the nodes whose bit is 1; children of heavy nodes are the leaves
5. noise    on every class count of every leaf; exact counts are dropped here

A Backend runs the passes: over Spark partitions, or over a list of batches in this process.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np

from lumberjack_spark.encoding import (
    CellEncoder,
    FeatureEncoder,
    MarginalBins,
    PairBins,
    pair_columns,
    plain_encoder,
    private_encoder,
    read_marginals,
)
from lumberjack_spark.errors import LumberjackError
from lumberjack_spark.heavy_hitters import mark_heavy_hitters
from lumberjack_spark.heavy_hitters.prefixes import contains, to_keys
from lumberjack_spark.noise import NoiseKey, choose_labels, discrete_gaussian
from lumberjack_spark.privacy import GaussianLeaves, NoisePlan
from lumberjack_spark.schema import DataSchema, RowReader
from lumberjack_spark.training.marginals import release_marginals
from lumberjack_spark.training.reading import Reading
from lumberjack_spark.training.tasks import Counting, Packed, Routing, unpack_records
from lumberjack_spark.trees import (
    MAX_CLASSES,
    NodeRecords,
    Structure,
    grow_tree,
    join_trees,
    preorder,
)
from lumberjack_spark.trees.forest import LEFT

SINGLE_PASS_DEPTH = 16  # up to here a second pass over the rows costs more than it saves


class Backend(Protocol):
    """One table, wherever its rows are."""

    def read(self, reading: Reading) -> "AbstractContextManager[CellTable]":
        """The rows as cells, kept for the passes within the block, given back at its end."""


class CellTable(Protocol):
    """Runs the passes over the rows of one table, which are cells by now."""

    def marginals(self, bins: MarginalBins) -> np.ndarray:
        """Exact counts int64[n_cells * n_classes] of all cells; bins must be reading.cells."""

    def pairs(self, bins: PairBins) -> np.ndarray:
        """Exact counts int64[n_cells * n_classes] of pairs of features."""

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
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

    Raises:
        ValueError: the plan is not for so many classes; before any row is read.
    """
    n_classes = len(schema.classes)
    most = min(int(plan.notes.get("largest_num_classes", MAX_CLASSES)), MAX_CLASSES)
    if n_classes > most:
        raise ValueError(f"schema must declare at most {most} classes for this plan: {n_classes}")
    reading = Reading(RowReader(schema), _cells(schema, plan))
    with backend.read(reading) as rows:
        encoder = _encoder(rows, reading, plan, key)
        routing = Routing(encoder, n_classes, seed, plan.num_trees, plan.max_depth)
        packed = _count(rows, routing, plan, key)
    trees: list[Structure] = []
    leaf_counts: list[np.ndarray] = []
    for tree in range(plan.num_trees):  # one at a time: the driver holds the rest packed
        records = _unpacked(packed.pop(tree), routing)
        structure, exact = _prune(records, routing, tree)
        trees.append(structure)
        leaf_counts.append(_with_noise(exact, plan, key, tree))
    return ReleasedForest(encoder.encoder, join_trees(trees), np.concatenate(leaf_counts))


def _count(
    rows: CellTable, routing: Routing, plan: NoisePlan, key: NoiseKey
) -> dict[int, list[tuple[int, Packed]]]:
    """Nodes of each tree that may be heavy, as (words of a prefix, packed records).

    Algorithm 1 first asks about all nodes of the middle level, and about deeper ones only below
    those whose bit is 1. So a first pass walks rows no deeper than the middle level, where most
    walks would go on alone for long; a second one walks on the few that need it.
    """
    shape = (routing.n_classes, plan.bits, key)
    packed: dict[int, list[tuple[int, Packed]]] = {t: [] for t in range(routing.num_trees)}
    if routing.max_depth <= SINGLE_PASS_DEPTH:
        for tree, nodes in rows.nodes(routing, Counting(routing.n_words, *shape)):
            packed[tree].append((routing.n_words, nodes))
        return packed
    middle = routing.max_depth // 2
    upper = replace(routing, max_depth=middle + 1)
    for tree, nodes in rows.nodes(upper, Counting(upper.n_words, *shape)):
        packed[tree].append((upper.n_words, nodes))
    asked_on = tuple(_ones_at(_unpacked(packed[t], routing), middle) for t in packed)
    if not any(map(len, asked_on)):
        return packed
    lower = replace(routing, within=asked_on, within_level=middle)
    below = Counting(lower.n_words, *shape, first_level=middle + 1)
    for tree, nodes in rows.nodes(lower, below):
        packed[tree].append((lower.n_words, nodes))
    return packed


def _unpacked(packed: Sequence[tuple[int, Packed]], routing: Routing) -> NodeRecords:
    """All records of one tree, with prefixes of routing.n_words words."""
    parts = [unpack_records(b"", n_words=routing.n_words, n_classes=routing.n_classes)]
    for n_words, nodes in packed:
        part = unpack_records(nodes, n_words=n_words, n_classes=routing.n_classes)
        missing = routing.n_words - n_words  # a shallower pass may need a word less
        parts.append(replace(part, prefixes=np.pad(part.prefixes, ((0, 0), (0, missing)))))
    return NodeRecords(
        np.concatenate([part.levels for part in parts]),
        np.concatenate([part.prefixes for part in parts]),
        np.concatenate([part.bits for part in parts]),
        np.concatenate([part.children for part in parts]),
    )


def _ones_at(records: NodeRecords, level: int) -> np.ndarray:
    """Ascending prefixes uint64[m] of the nodes at a level < 64 whose bit is 1."""
    return np.sort(records.prefixes[(records.levels == level) & records.bits, 0])


def _cells(schema: DataSchema, plan: NoisePlan) -> MarginalBins | FeatureEncoder:
    """What rows are read as: cells of the marginals that the plan pays for, or plain codes."""
    if plan.marginals is None:
        return plain_encoder(schema)
    bins = MarginalBins.of_schema(schema)
    if plan.marginals.histograms != bins.histograms:
        raise ValueError(
            f"plan.marginals.histograms must be {bins.histograms} for this schema, "
            f"got {plan.marginals.histograms}"
        )
    return bins


def _encoder(rows: CellTable, reading: Reading, plan: NoisePlan, key: NoiseKey) -> CellEncoder:
    """The encoder that the plan pays for; it keeps nothing exact."""
    if isinstance(reading.cells, FeatureEncoder) or plan.marginals is None:
        return CellEncoder(plain_encoder(reading.reader.schema))  # cells are its codes
    bins, sigma = reading.cells, plan.marginals.sigma
    released = release_marginals(rows.marginals(bins), bins, sigma, key)
    marginals = read_marginals(reading.reader.schema, bins, released, sigma)
    pairs = PairBins.of_marginals(marginals)
    if not pairs.pairs:
        return CellEncoder(private_encoder(marginals), marginals.codes)
    if sum(bins.repeats) + sum(pairs.repeats) != plan.marginals.histograms:
        raise LumberjackError("counting pairs would release more than the plan accounts for")
    released = release_marginals(rows.pairs(pairs), pairs, sigma, key)
    columns = pair_columns(marginals, pairs, released, sigma)
    return CellEncoder(private_encoder(marginals, columns), marginals.codes)


def _prune(records: NodeRecords, routing: Routing, tree: int) -> tuple[Structure, np.ndarray]:
    """The tree of heavy nodes, and the exact class counts of its leaves, int64[n_leaves, K]."""
    if np.count_nonzero(records.levels == -1) > 1:
        raise LumberjackError(f"tree {tree} was counted by more than one task: its noise is void")
    order = preorder(records.levels, records.prefixes)
    levels, prefixes = records.levels[order], records.prefixes[order]
    bits, children = records.bits[order], records.children[order]
    places = _by_level(levels, routing.max_depth)
    ones = [prefixes[here[bits[here]]] for here in places]
    marked = mark_heavy_hitters(ones, routing.max_depth)
    heavy = np.zeros(len(levels), np.bool_)
    for here, wanted in zip(places, marked, strict=True):
        heavy[here] = contains(to_keys(wanted), to_keys(prefixes[here]))
    structure = grow_tree(
        levels[heavy],
        prefixes[heavy],
        seed=routing.seed,
        tree=tree,
        max_depth=routing.max_depth,
        space=routing.space,
    )
    if heavy.any():
        return structure, children[heavy][structure.nodes[:, LEFT:] < 0]
    everything = children[levels == -1, 0]
    return structure, everything if len(everything) else np.zeros((1, routing.n_classes), np.int64)


def _by_level(levels: np.ndarray, max_depth: int) -> list[np.ndarray]:
    """Places of the records of levels 0..max_depth - 1, each in the order of the records."""
    order = np.argsort(levels, kind="stable")
    ends = np.searchsorted(levels[order], np.arange(max_depth + 1))
    return [order[start:end] for start, end in pairwise(ends)]


def _with_noise(exact: np.ndarray, plan: NoisePlan, key: NoiseKey, tree: int) -> np.ndarray:
    """Class counts of one tree's leaves with their noise, empty leaves too."""
    if isinstance(plan.leaves, GaussianLeaves):
        noise = discrete_gaussian(key.stream("leaf counts", tree), plan.leaves.sigma, exact.size)
        return exact + noise.reshape(exact.shape)
    labels = choose_labels(key.stream("leaf labels", tree), exact, plan.leaves.eta)
    return np.eye(exact.shape[1], dtype=np.int64)[labels]
