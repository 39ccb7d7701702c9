"""Class probabilities of the leaves from their noisy counts.

A tree's noisy counts add up: a node's count is the sum over the leaves below it. From the root
down, the class rates of each child are drawn towards those of its parent, the more so the less its
own count stands out of the noise (encoding.smoothing). A leaf that drowns in noise so says what its
nearest ancestor with enough rows says, and class shares are kept however skewed they are.
In the mean over trees a leaf weighs more if it is sure, since an average of many trees is too
timid, and if it holds many rows.

Post-processing of released values alone: it costs no privacy.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.encoding.smoothing import shrunk_rates, spread_of_odds
from lumberjack_spark.privacy import GaussianLeaves, NoisePlan
from lumberjack_spark.training import ReleasedForest
from lumberjack_spark.trees.forest import LEFT, RIGHT, Structure

ODDS_VARIANCE = 2.7  # of the log odds of the children of a node about those of the node
DOUBT = 0.2  # what is added to a leaf's variance of classes, as a share of that of all rows


def leaf_values(forest: ReleasedForest, plan: NoisePlan) -> np.ndarray:
    """Estimate what each leaf says of a row that falls into it.

    Args:
        forest: what a fit released.
        plan: its noise.

    Returns:
        float32[num_leaves, n_classes], >= 0: class probabilities times the leaf's weight, with
        majority leaves the vote for one class. A forest's estimate is the sum over its trees,
        divided by its sum over the classes.
    """
    counts = forest.leaf_counts
    if not isinstance(plan.leaves, GaussianLeaves):
        votes: np.ndarray = counts.astype(np.float32)
        return votes
    sigma = plan.leaves.sigma
    shares = class_shares_of(forest.encoder, counts, sigma)
    rates = rates_of_forest(forest.structure, counts.astype(np.float64), sigma, shares).leaves
    rows = np.maximum(counts.sum(axis=1), 0) + sigma
    weights = np.sqrt(rows / (_variety(rates) + DOUBT * _variety(shares[None])))
    values: np.ndarray = (rates * weights[:, None]).astype(np.float32)
    return values


def class_shares_of(encoder: FeatureEncoder, leaf_counts: np.ndarray, sigma: float) -> np.ndarray:
    """Released share of each class among all rows, positive: float64[n_classes]."""
    if encoder.class_shares is not None:
        return encoder.class_shares
    # One noise deviation each: equal shares where nothing is known.
    totals = np.maximum(leaf_counts.sum(axis=0), 1) + sigma * np.sqrt(len(leaf_counts))
    shares: np.ndarray = totals / totals.sum()
    return shares


@dataclass(frozen=True, eq=False)
class ForestRates:
    """Estimates at every node of a forest.

    Attributes:
        nodes: float64[n_nodes, n_classes], class rates of split nodes.
        leaves: float64[num_leaves, n_classes], class rates of leaves.
        node_rows: float64[n_nodes], noisy rows of split nodes.
        leaf_rows: float64[num_leaves], noisy rows of leaves.
    """

    nodes: np.ndarray
    leaves: np.ndarray
    node_rows: np.ndarray
    leaf_rows: np.ndarray

    def of(self, references: np.ndarray) -> np.ndarray:
        """Class rates of references of a Structure."""
        return _of(references, self.nodes, self.leaves)

    def rows_of(self, references: np.ndarray) -> np.ndarray:
        """Noisy rows of references of a Structure."""
        return _of(references, self.node_rows, self.leaf_rows)


def rates_of_forest(
    structure: Structure, counts: np.ndarray, sigma: float, shares: np.ndarray
) -> ForestRates:
    """Class rates of all nodes, drawn towards their parents'; positive rows that sum to 1.

    Args:
        structure: the forest.
        counts: float64[num_leaves, n_classes], noisy counts.
        sigma: their noise, in rows.
        shares: float64[n_classes], class shares among all rows, positive.
    """
    n_nodes, n_classes = len(structure.nodes), counts.shape[1]
    # Split nodes first, then leaves: one array for both spares a look at which of them it is.
    references = structure.nodes[:, [LEFT, RIGHT]]
    children = np.where(references >= 0, references, n_nodes + ~references)
    levels = list(_levels(structure.roots, references))
    sums = np.concatenate((np.zeros((n_nodes, n_classes)), counts))
    cells = np.concatenate((np.zeros(n_nodes), np.ones(len(counts))))
    spread = spread_of_odds(shares, ODDS_VARIANCE)
    for nodes in levels[::-1]:
        left, right = children[nodes].T
        sums[nodes] = sums[left] + sums[right]
        cells[nodes] = cells[left] + cells[right]
    rates = np.tile(shares, (len(sums), 1))
    for nodes in levels:
        for below in children[nodes].T:
            rates[below] = shrunk_rates(sums[below], rates[nodes], sigma, cells[below], spread)
    rows = sums.sum(axis=1)
    return ForestRates(rates[:n_nodes], rates[n_nodes:], rows[:n_nodes], rows[n_nodes:])


def _levels(roots: np.ndarray, children: np.ndarray) -> Iterator[np.ndarray]:
    """Split nodes of all trees level by level, from the roots down."""
    nodes = roots[roots >= 0]
    while len(nodes):
        yield nodes
        below = children[nodes].ravel()
        nodes = below[below >= 0]


def _of(references: np.ndarray, of_nodes: np.ndarray, of_leaves: np.ndarray) -> np.ndarray:
    """Entries of nodes (references >= 0) and of leaves (the others)."""
    is_leaf = references < 0
    found = np.empty((len(references), *of_leaves.shape[1:]), of_leaves.dtype)
    found[~is_leaf] = of_nodes[references[~is_leaf]]
    found[is_leaf] = of_leaves[~references[is_leaf]]
    return found


def _variety(rates: np.ndarray) -> np.ndarray:
    """Probability that two rows of the same place differ in class: float64[n]."""
    variety: np.ndarray = 1 - (rates**2).sum(axis=1)
    return variety
