"""The cells of the private marginals: public, made from declarations alone.

A row is in one cell of each feature. A numeric feature is cut by evenly spaced edges together with
edges at logarithmic distances from zero (or from the bound nearest to it), so that bounds that are
far too wide still leave cells of a useful size; it is one cut, so a row pays for one cell only.
Categories, and the whole numbers of a numeric feature flagged as_categories, have a cell each.
The last cell is for missing values.

Each feature is counted `repeats` times, each time with noise of its own, and the mean is taken:
many cells need more precision than few. The error summed over n cells with noise variance s/r is
n s/r, so under a given sum of r it is least for r in proportion to sqrt(n).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from lumberjack_spark.schema import Categorical, DataSchema, Numeric, RowReader

EVEN_CELLS = 1024  # evenly spaced cells of a numeric feature
FEWEST_EVEN_CELLS = 64
MOST_EVEN_COUNTS = 1 << 22  # (evenly spaced cell, class) pairs of all features
CELLS_AN_OCTAVE = 8
OCTAVES = 30
MOST_REPEATS = 16
_CELLS_OF_A_NUMBER = 36  # what a threshold can make use of
MOST_PAIRED = 10  # features of which all pairs are counted
MOST_GROUPS = 32  # of the values of a feature in a pair
FEWEST_GROUPS = 4  # fewer would show little
MOST_PAIR_COUNTS = 1 << 20  # (cell, class) pairs of all pairs
PAIR_SHARE = 0.25  # of what marginals spend, about; chosen by the study


def pair_shape(n_features: int, n_classes: int) -> tuple[int, int]:
    """Number of pairs of features that are counted, and most groups of a feature.

    Both follow from declarations alone: n_features >= 1, n_classes >= 1; 0, 0 if none are counted,
    as for one feature, or for so many classes that groups would be too few to show anything.
    """
    taken = min(n_features, MOST_PAIRED)
    n_pairs = taken * (taken - 1) // 2
    if n_pairs == 0:
        return 0, 0
    groups = min(math.isqrt(MOST_PAIR_COUNTS // (n_pairs * n_classes)), MOST_GROUPS)
    return (n_pairs, groups) if groups >= FEWEST_GROUPS else (0, 0)


@dataclass(frozen=True, eq=False)
class NumberBins:
    """Cells of a number: cell i iff i edges are <= it; the last one if missing.

    Attributes:
        edges: float64[m], strictly ascending, within the bounds.
        low, high: declared bounds.
    """

    edges: np.ndarray
    low: float
    high: float

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.edges) + 2

    @property
    def worth(self) -> int:
        """Number of cells that count for `repeats`."""
        return _CELLS_OF_A_NUMBER

    def of(self, values: np.ndarray) -> np.ndarray:
        """Cells int64[n] of float64[n], NaN where missing."""
        cells = np.searchsorted(self.edges, values, side="right")
        cells[np.isnan(values)] = self.size - 1
        return cells


@dataclass(frozen=True)
class WholeNumberBins:
    """Cells of the whole numbers low..high, to which others are rounded; then missing."""

    low: int
    high: int

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.high - self.low + 2

    @property
    def worth(self) -> int:
        """Number of cells that count for `repeats`."""
        return self.size - 1

    @property
    def edges(self) -> np.ndarray:
        """float64[m] as those of NumberBins: halfway between whole numbers."""
        return np.arange(self.low, self.high) + 0.5

    def of(self, values: np.ndarray) -> np.ndarray:
        """Cells int64[n] of float64[n], NaN where missing."""
        missing = np.isnan(values)
        known = np.where(missing, self.low, values)
        # Halves go up, as they do among edges; just below a half the sum is rounded up too far.
        cells = np.floor(known + 0.5).astype(np.int64)
        cells -= known < cells - 0.5
        cells -= self.low
        cells[missing] = self.size - 1
        return cells


@dataclass(frozen=True)
class CategoryBins:
    """Cells of declared values, then "other", then missing."""

    declared: int

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.declared + 2

    @property
    def worth(self) -> int:
        """Number of cells that count for `repeats`."""
        return self.declared

    def of(self, values: np.ndarray) -> np.ndarray:
        """Cells int64[n] of category indices int32[n]."""
        return values.astype(np.int64)


FeatureBins = NumberBins | WholeNumberBins | CategoryBins


@dataclass(frozen=True, eq=False)
class MarginalBins:
    """Cells of all features, in schema order; a cell is a 16-bit number.

    Attributes:
        features: cells of each feature.
        n_classes: number of declared classes.
        what: names the noise of these counts and their pass.
    """

    what: ClassVar[str] = "marginals"
    features: tuple[FeatureBins, ...]
    n_classes: int

    @classmethod
    def of_schema(cls, schema: DataSchema) -> "MarginalBins":
        """The cells that a schema gives."""
        n_classes = len(schema.classes)
        declared = [feature.declaration for feature in schema.features]
        room = MOST_EVEN_COUNTS // (len(declared) * n_classes)
        even = min(max(room, FEWEST_EVEN_CELLS), EVEN_CELLS)
        return cls(tuple(_bins(feature, even) for feature in declared), n_classes)

    @cached_property
    def offsets(self) -> np.ndarray:
        """First cell of each feature among the cells of all: int64[d + 1]."""
        return np.concatenate(([0], np.cumsum([bins.size for bins in self.features])))

    @cached_property
    def repeats(self) -> tuple[int, ...]:
        """How many times each feature is counted, each with noise of its own.

        Pairs of features are counted once each, under the same noise; the more of them, the more
        often single features are, so that pairs take about PAIR_SHARE of the spending.
        """
        worth = np.sqrt([bins.worth for bins in self.features])
        single = np.clip(np.rint(worth / worth.min()), 1, MOST_REPEATS)
        pairs, _ = pair_shape(len(self.features), self.n_classes)
        times = max(round(pairs * (1 - PAIR_SHARE) / PAIR_SHARE / single.sum()), 1)
        return tuple(int(r) * times for r in single)

    @property
    def histograms(self) -> int:
        """Noisy counts that one row is in, those of pairs too."""
        return sum(self.repeats) + pair_shape(len(self.features), self.n_classes)[0]

    def cells(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Cells uint16[d, n] of clean columns as RowReader gives them."""
        cells = np.empty((len(self.features), len(columns[0])), np.uint16)
        for row, bins, values in zip(cells, self.features, columns, strict=True):
            row[:] = bins.of(values)
        return cells

    def read(self, reader: RowReader, batch: Any) -> np.ndarray:
        """Cells uint16[d, n] of the rows of an Arrow batch."""
        return self.cells(reader.features(batch))

    def in_tables(self, cells: np.ndarray) -> list[np.ndarray]:
        """Place of each row in the table of each feature: its cell itself."""
        return list(cells)

    def split(self, table: np.ndarray) -> list[np.ndarray]:
        """Cut an array over all cells into one for each feature."""
        return [table[start:end] for start, end in pairwise(self.offsets)]


def marginal_histograms(schema: DataSchema) -> int:
    """Noisy counts of private marginals that one row is in: what make_plan asks for.

    >>> from lumberjack_spark.schema import DataSchema, Numeric
    >>> marginal_histograms(DataSchema({"x": Numeric(0, 1), "y": Numeric(0, 9)}, "z", [0, 1]))
    2
    """
    return MarginalBins.of_schema(schema).histograms


def _bins(declared: Numeric | Categorical, even: int) -> FeatureBins:
    """Cells of one feature."""
    if isinstance(declared, Categorical):
        return CategoryBins(declared.size)
    if declared.as_categories:
        return WholeNumberBins(int(declared.min), int(declared.max))
    return NumberBins(number_edges(declared.min, declared.max, even), declared.min, declared.max)


def number_edges(low: float, high: float, even: int) -> np.ndarray:
    """Evenly spaced edges and edges at logarithmic distances from an origin: float64[m]."""
    width = high - low
    origin = min(max(0.0, low), high)
    distances = width * 2.0 ** -(np.arange(OCTAVES * CELLS_AN_OCTAVE + 1) / CELLS_AN_OCTAVE)
    parts = [low + width * (np.arange(1, even) / even), origin + distances, origin - distances]
    if low < origin:
        parts.append(np.array([origin]))
    edges = np.unique(np.concatenate(parts))
    inside: np.ndarray = edges[(edges > low) & (edges < high)]
    return inside
