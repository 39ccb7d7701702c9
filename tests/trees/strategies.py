"""Random tables of encoded rows for property tests of the trees."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from lumberjack_spark.trees import SplitSpace

N_CLASSES = 3


@dataclass(frozen=True)
class Case:
    """A split space, encoded rows and a shape of forest."""

    space: SplitSpace
    columns: np.ndarray
    labels: np.ndarray
    seed: int
    tree: int
    max_depth: int

    @property
    def shape(self) -> dict[str, object]:
        return {
            "seed": self.seed,
            "tree": self.tree,
            "max_depth": self.max_depth,
            "space": self.space,
        }


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Ordered and one-of features, many equal rows, every width of path code."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    possible: list[np.ndarray | int] = []
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.booleans()):
            possible.append(draw(st.integers(1, 6)))
        else:
            possible.append(np.unique(rng.integers(0, 400, draw(st.integers(1, 25)))))
    n = draw(st.sampled_from([1, 2, 9, 60, 300]))
    columns = [
        rng.integers(0, p + 2, n) if isinstance(p, int) else rng.choice(p, n) for p in possible
    ]
    return Case(
        SplitSpace.of(possible),
        np.array(columns, np.uint16),
        rng.integers(0, N_CLASSES, n).astype(np.int32),
        draw(st.sampled_from([0, 7, 2**63 - 1])),
        draw(st.integers(0, 5)),
        draw(st.sampled_from([1, 2, 5, 20, 63, 64, 100, 126])),
    )
