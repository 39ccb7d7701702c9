"""What a fit costs, as sums of a few terms that mean something; fitted to runs of the benchmark.

Units   seconds of CPU or of tasks, bytes, nodes; rows and nodes in millions within the terms.
Fit     non-negative least squares on relative errors: no term can be a gain, and a small table
        counts as much as a large one.
Nodes   are predicted too, from rows x trees / threshold, so that nothing about a size that was not
        measured goes into its prediction.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

MILLION = 1e6


@dataclass(frozen=True)
class Shape:
    """A fit, as far as its cost goes.

    Attributes:
        rows: rows of the table.
        trees: trees of the forest.
        depth: largest depth.
        columns: columns of an encoded row.
        classes: declared classes.
        threshold: rows at which a node is kept every other time.
        nodes: nodes of the forest, 0 before they are predicted.
    """

    rows: float
    trees: int
    depth: int
    columns: int
    classes: int
    threshold: float
    nodes: float = 0.0

    @classmethod
    def of_run(cls, run: Mapping[str, Any]) -> "Shape":
        """Shape of a run of the benchmark, its nodes as they were counted."""
        names = ("rows", "trees", "depth", "columns", "classes", "threshold", "nodes")
        return cls(**{name: run[name] for name in names})

    @property
    def levels_to_middle(self) -> int:
        """Levels that every row walks; see training.fit."""
        return self.depth if self.depth <= 16 else self.depth // 2 + 1

    @property
    def record_bytes(self) -> int:
        """Bytes of a node record on its way to the driver; see training.tasks."""
        words = 1 if self.depth < 64 else 2
        return 3 + 8 * words + 16 * self.classes


Term = tuple[str, Callable[[Shape], float]]

_FIXED: Term = ("each fit", lambda s: 1.0)
_READ: Term = ("M row x column: reading, encoding", lambda s: s.rows * s.columns / MILLION)
_WALK: Term = (
    "M row x tree x level to the middle: walking",
    lambda s: s.rows * s.trees * s.levels_to_middle / MILLION,
)
_RECORD: Term = ("M row x tree: codes", lambda s: s.rows * s.trees / MILLION)
_BELOW: Term = (
    "M row x tree x log2(rows / threshold): walking to nodes of the threshold's size",
    lambda s: s.rows * s.trees * np.log2(max(s.rows / s.threshold, 1.0)) / MILLION,
)
_NODE: Term = ("M nodes", lambda s: s.nodes / MILLION)
_NODE_BYTES: Term = ("byte of node records", lambda s: s.nodes * s.record_bytes)

# Quantities by their names in the benchmark's runs.
TERMS: dict[str, Sequence[Term]] = {
    "nodes": [("row x tree / threshold", lambda s: s.rows * s.trees / s.threshold)],
    "cpu_total_s": [_FIXED, _READ, _WALK, _RECORD, _BELOW, _NODE],
    "map_task_s": [_FIXED, _READ, _WALK, _RECORD, _BELOW],
    "reduce_task_s": [_FIXED, _WALK, _RECORD, _NODE],
    "driver_cpu_s": [_FIXED, _NODE],
    "shuffle_bytes": [_WALK, _RECORD],
    "result_bytes": [_FIXED, _NODE_BYTES],
    "driver_peak_bytes": [_FIXED, _NODE_BYTES],
}


@dataclass(frozen=True, eq=False)
class CostModel:
    """Costs of the terms, by quantity: float64[number of terms], >= 0."""

    costs: Mapping[str, np.ndarray]

    @classmethod
    def fitted(cls, runs: Sequence[Mapping[str, Any]]) -> "CostModel":
        """Fit to runs of our own fits; a quantity that no run tells is left out."""
        costs = {}
        for quantity, terms in TERMS.items():
            told = [run for run in runs if figure(run, quantity) is not None]
            if not told:
                continue
            shapes = [Shape.of_run(run) for run in told]
            measured = np.array([figure(run, quantity) for run in told], float)
            matrix = np.array([[value(shape) for _, value in terms] for shape in shapes])
            weights = 1 / np.maximum(measured, 1e-9)
            # Columns are scaled to like size: the solver's tolerance is absolute.
            sizes = np.maximum(np.abs(matrix * weights[:, None]).max(axis=0), 1e-300)
            solved, _ = nnls(matrix * weights[:, None] / sizes, measured * weights)
            costs[quantity] = solved / sizes
        return cls(costs)

    def predict(self, shape: Shape) -> dict[str, float]:
        """All quantities of a fit, its nodes predicted first."""
        shape = replace(shape, nodes=self._sum("nodes", shape))
        return {quantity: self._sum(quantity, shape) for quantity in self.costs}

    def _sum(self, quantity: str, shape: Shape) -> float:
        values = [value(shape) for _, value in TERMS[quantity]]
        return float(np.dot(self.costs[quantity], values))


def figure(run: Mapping[str, Any], quantity: str) -> float | None:
    """What a run of the benchmark says of a quantity."""
    if quantity == "driver_cpu_s":
        return float(run["cpu_s"]["driver"])
    if quantity == "driver_peak_bytes":
        return float(run["peak_bytes"]["driver_above_idle"])
    value = run.get(quantity)
    return None if value is None else float(value)
