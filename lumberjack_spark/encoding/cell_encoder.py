"""Codes of rows of which only the cells are known.

A pass over a table turns its rows into cells once, by declarations alone; whatever is decided about
codes later is a table of cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.encoding.encoder import FeatureEncoder


@dataclass(frozen=True, eq=False)
class CellEncoder:
    """An encoder for cells; gives the codes that `encoder` gives the rows themselves.

    Attributes:
        encoder: the encoder of rows.
        codes: for each feature the code of each of its cells, uint16[n_cells]; None where the
            cells are the codes already.
    """

    encoder: FeatureEncoder
    codes: Sequence[np.ndarray] | None = None

    def encode(self, cells: np.ndarray) -> np.ndarray:
        """Codes uint16[n_columns, n] of cells uint16[d, n]."""
        if self.codes is None:
            return cells
        codes = np.empty((self.encoder.n_columns, cells.shape[1]), np.uint16)
        for row, of_cells, column in zip(codes, self.codes, cells, strict=False):
            row[:] = of_cells[column]
        self.encoder.fill_joint(codes)
        return codes
