"""Columns made from the codes of several features, by tables of released values."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class ScoreCodes:
    """One score column.

    Attributes:
        inputs: for each feature the codes that can occur, uint16[m], ascending.
        values: for each feature the value of each of these codes, int32[m], least 0.
        edges: int64[n], strictly ascending; a score is on step i iff i edges are <= it.
        codes: uint16[n + 1], ascending, code of each step.
        weights: float64[d], each feature's share of the score's variance; sums to 1.
        separation: probability that a row of the class scores higher than another, if features
            were independent (the area under the ROC curve); 0.5 where it was not kept.
    """

    inputs: tuple[np.ndarray, ...]
    values: tuple[np.ndarray, ...]
    edges: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    separation: float = 0.5

    @cached_property
    def _tables(self) -> list[np.ndarray]:
        """Value of every code up to the largest, by feature; int32[...]."""
        tables = []
        for codes, values in zip(self.inputs, self.values, strict=True):
            table = np.zeros(int(codes[-1]) + 1, np.int32)
            table[codes] = values
            tables.append(table)
        return tables

    @cached_property
    def _codes_of_totals(self) -> tuple[int, np.ndarray]:
        """Least total, and the code of every total from it on: totals are few whole numbers."""
        least = sum(int(table.min()) for table in self._tables)
        most = sum(int(table.max()) for table in self._tables)
        steps = np.searchsorted(self.edges, np.arange(least, most + 1), side="right")
        return least, self.codes[steps]

    def of(self, codes: np.ndarray) -> np.ndarray:
        """Codes uint16[n] of this column for the features' codes uint16[d, n]."""
        least, codes_of_totals = self._codes_of_totals
        totals = np.full(codes.shape[1], -least, np.int32)
        for table, row in zip(self._tables, codes, strict=True):
            if table.any():
                totals += table[row]
        return codes_of_totals[totals]

    def possible(self) -> np.ndarray:
        """Codes that can occur, ascending."""
        return np.unique(self.codes)


@dataclass(frozen=True, eq=False)
class PairCodes:
    """One column made from two features.

    Attributes:
        first, second: indices of the features.
        groups: for each of the two the group of each code, int64[largest code + 1].
        codes: uint16[n_first, n_second], code of each pair of groups.
        n_features: d.
    """

    first: int
    second: int
    groups: tuple[np.ndarray, np.ndarray]
    codes: np.ndarray
    n_features: int

    @property
    def weights(self) -> np.ndarray:
        """Each feature's part in the column: float64[d], sums to 1."""
        return np.bincount([self.first, self.second], minlength=self.n_features) / 2

    def of(self, codes: np.ndarray) -> np.ndarray:
        """Codes uint16[n] of this column for the features' codes uint16[d, n]."""
        row, column = self.groups[0][codes[self.first]], self.groups[1][codes[self.second]]
        found: np.ndarray = self.codes[row, column]
        return found

    def possible(self) -> np.ndarray:
        """Codes that can occur, ascending."""
        return np.unique(self.codes)


JointCodes = ScoreCodes | PairCodes
