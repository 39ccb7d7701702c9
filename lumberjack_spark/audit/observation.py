"""What an attacker who knows all rows but one looks at in a release.

The attacker knows the table D, the row x in question and all that is public. Of each tree it sees
which leaf holds x and how many leaves there are, which tells the bits of all nodes above x; of the
noisy counts of these leaves only the sum in x's class matters, less what D puts there, since x
changes nothing else. With private marginals it also sees the released share of x's class.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lumberjack_spark.schema import DataSchema, RowReader
from lumberjack_spark.training import ReleasedForest
from lumberjack_spark.trees import sum_leaf_values


@dataclass(frozen=True, eq=False)
class Observations:
    """What was seen in a number of draws.

    Attributes:
        shapes: for each draw, where x ended in each tree, as bytes that can be compared.
        numbers: float64[n, m], the numbers seen in each draw.
    """

    shapes: Sequence[bytes]
    numbers: np.ndarray

    def half(self, which: int) -> "Observations":
        """Every second draw, from the first (which = 0) or the second (which = 1) on."""
        return Observations(self.shapes[which::2], self.numbers[which::2])


class Observer:
    """The attacker's view of releases; keeps what it knows of D for each structure it meets.

    Args:
        schema: declarations.
        rows: table D, with its labels.
        row: the row x, one batch of length 1.
    """

    def __init__(self, schema: DataSchema, rows: pa.RecordBatch, row: pa.RecordBatch) -> None:
        reader = RowReader(schema)
        self._label = int(reader.labels(row)[0])
        same_class = reader.labels(rows) == self._label
        both = pa.Table.from_batches([row, rows.filter(pa.array(same_class))]).combine_chunks()
        self._columns = reader.features(both.to_batches()[0])
        self._known: dict[bytes, tuple[np.ndarray, int]] = {}

    def look(self, forest: ReleasedForest) -> tuple[bytes, list[float]]:
        """(shape, numbers) of one release."""
        leaves, expected = self._expected(forest)
        structure = forest.structure
        shape = np.concatenate(
            (np.diff(structure.leaf_offsets), leaves - structure.leaf_offsets[:-1])
        )
        numbers = [float(forest.leaf_counts[leaves, self._label].sum() - expected)]
        shares = forest.encoder.class_shares
        if shares is not None:
            numbers.append(float(shares[self._label]))
        return shape.tobytes(), numbers

    def _expected(self, forest: ReleasedForest) -> tuple[np.ndarray, int]:
        """Leaf of x in each tree, int64[k], and how often D puts a row of x's class there."""
        structure = forest.structure
        place = structure.nodes.tobytes() + structure.leaf_offsets.tobytes()
        public = forest.encoder.class_shares is None
        if public and place in self._known:
            return self._known[place]
        each_leaf = np.eye(structure.num_leaves, dtype=np.float32)
        inside = sum_leaf_values(forest.encoder.encode(self._columns), structure, each_leaf)
        leaves = np.flatnonzero(inside[0])
        found = leaves, int(inside[1:, leaves].sum())
        if public:
            self._known[place] = found
        return found
