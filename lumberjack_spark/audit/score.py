"""How much an outcome speaks for the row: a likelihood ratio learnt from draws.

The score of an outcome is the log of how much likelier its shape is with the row, plus the same for
the cell of each number, as if they were independent. Any score gives a valid audit, since the
bounds come from draws that it has not seen; one near the true ratio gives a sharp one
(Neyman-Pearson).
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.audit.observation import Observations

CELLS = 20  # most cells of a number
# Draws added to each shape and to each cell of a number, so that rare ones say little by chance.
_SHAPE_PRIOR = 0.5
_CELL_PRIOR = 3.0


@dataclass(frozen=True, eq=False)
class LikelihoodRatio:
    """Log likelihood ratios of shapes and of cells of numbers.

    Attributes:
        shapes: ratio of each shape that was seen; others say nothing.
        edges: for each number, ascending; cell i holds the values with i edges <= them.
        ratios: for each number, the ratio of each cell.
    """

    shapes: dict[bytes, float]
    edges: tuple[np.ndarray, ...]
    ratios: tuple[np.ndarray, ...]

    @classmethod
    def learn(cls, with_row: Observations, without: Observations) -> "LikelihoodRatio":
        """Learn from equally many draws with the row and without it."""
        ours, theirs = Counter(with_row.shapes), Counter(without.shapes)
        shapes = {
            shape: float(np.log((ours[shape] + _SHAPE_PRIOR) / (theirs[shape] + _SHAPE_PRIOR)))
            for shape in ours | theirs
        }
        edges, ratios = [], []
        for left, right in zip(with_row.numbers.T, without.numbers.T, strict=True):
            cuts = _cuts(np.concatenate((left, right)))
            counts = [
                np.bincount(np.searchsorted(cuts, side, side="right"), minlength=len(cuts) + 1)
                for side in (left, right)
            ]
            edges.append(cuts)
            ratios.append(np.log((counts[0] + _CELL_PRIOR) / (counts[1] + _CELL_PRIOR)))
        return cls(shapes, tuple(edges), tuple(ratios))

    def of(self, seen: Observations) -> np.ndarray:
        """Score float64[n] of each draw."""
        score = np.array([self.shapes.get(shape, 0.0) for shape in seen.shapes])
        for values, cuts, ratio in zip(seen.numbers.T, self.edges, self.ratios, strict=True):
            score += ratio[np.searchsorted(cuts, values, side="right")]
        return score


def _cuts(values: np.ndarray) -> np.ndarray:
    """Edges that part the values, one by one if they are few, else into cells of equal weight."""
    distinct = np.unique(values)
    if len(distinct) > CELLS:
        places = np.linspace(0, len(values) - 1, CELLS + 1)[1:-1].astype(np.int64)
        return np.unique(np.sort(values)[places])
    cuts: np.ndarray = distinct[1:]
    return cuts
