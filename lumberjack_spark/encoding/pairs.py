"""Two-way counts: which pairs of features are counted together, and in which cells.

One-way counts cannot show what only two features together say of the class, such as the month and
the day of a storm. All pairs of the MOST_PAIRED features that tell classes apart best by the
released marginals are counted, each feature's codes cut into groups that hold about equally many
rows. How many pairs there are, and so what they cost, follows from the declarations alone.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from lumberjack_spark.encoding.bins import MOST_PAIRED, pair_shape
from lumberjack_spark.encoding.codes import CategoryCodes
from lumberjack_spark.encoding.marginals import Marginals
from lumberjack_spark.encoding.places import middles_in_order, place_of_rates


@dataclass(frozen=True, eq=False)
class PairBins:
    """Cells of pairs of features: a group of the first and a group of the second.

    Attributes:
        codes: for each feature the code of each cell of MarginalBins, uint16[n_cells].
        pairs: indices of the two features of each pair, ascending.
        groups: for each feature the group of each code, int64[largest code + 1].
        sizes: number of groups of each feature.
        n_classes: number of declared classes.
        what: names the noise of these counts and their pass.
    """

    what: ClassVar[str] = "pairs"
    codes: tuple[np.ndarray, ...]
    pairs: tuple[tuple[int, int], ...]
    groups: tuple[np.ndarray, ...]
    sizes: tuple[int, ...]
    n_classes: int

    @classmethod
    def of_marginals(cls, marginals: Marginals) -> "PairBins":
        """The pairs that released marginals choose."""
        d, n_classes = len(marginals.features), len(marginals.shares)
        n_pairs, most = pair_shape(d, n_classes)
        best = np.argsort(-marginals.gains, kind="stable")[:MOST_PAIRED]
        pairs = tuple(itertools.combinations(sorted(map(int, best)), 2)) if n_pairs else ()
        groups = tuple(_groups(marginals, f, max(most, 1)) for f in range(d))
        sizes = tuple(int(group.max()) + 1 for group in groups)
        return cls(marginals.codes, pairs, groups, sizes, n_classes)

    @cached_property
    def offsets(self) -> np.ndarray:
        """First cell of each pair among the cells of all: int64[n_pairs + 1]."""
        sizes = [self.sizes[i] * self.sizes[j] for i, j in self.pairs]
        return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))

    @property
    def repeats(self) -> tuple[int, ...]:
        """How many times each pair is counted, each with noise of its own."""
        return (1,) * len(self.pairs)

    def in_tables(self, cells: np.ndarray) -> list[np.ndarray]:
        """Place int64[n] of each row in the table of each pair, for cells uint16[d, n]."""
        groups = {f: group[cells[f]] for f, group in self._groups_of_cells.items()}
        return [groups[i] * self.sizes[j] + groups[j] for i, j in self.pairs]

    @cached_property
    def _groups_of_cells(self) -> dict[int, np.ndarray]:
        """Group of each cell, by feature; of those alone that are in pairs."""
        return {f: self.groups[f][self.codes[f]] for pair in self.pairs for f in pair}

    def split(self, table: np.ndarray) -> list[np.ndarray]:
        """Cut an array over all cells into one for each pair."""
        return [table[start:end] for start, end in pairwise(self.offsets)]


def _groups(marginals: Marginals, feature: int, most: int) -> np.ndarray:
    """Group of each code of a feature: int64[largest code + 1], neighbours in order together."""
    estimate, cell_codes = marginals.estimates[feature], marginals.codes[feature]
    codes, code_of_cell = np.unique(cell_codes, return_inverse=True)
    groups = np.zeros(int(codes[-1]) + 1, np.int64)
    if len(codes) <= most:
        groups[codes] = np.arange(len(codes))
        return groups
    rows = np.bincount(code_of_cell, estimate.rows + 1e-9 * max(estimate.rows.sum(), 1.0))
    place = codes.astype(np.float64)
    codes_of = marginals.features[feature]
    if isinstance(codes_of, CategoryCodes) and codes_of.one_of:
        place = place_of_rates(estimate.rates, estimate.rows, marginals.shares)
    parts = (middles_in_order(rows, place) * most).astype(np.int64)
    groups[codes] = np.unique(parts, return_inverse=True)[1]
    return groups
