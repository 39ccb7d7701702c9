"""All features of a row as the integer codes that trees split on.

An encoder is public: it is made from declarations and from released marginals alone, and it is part
of the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lumberjack_spark.encoding.codes import FeatureCodes
from lumberjack_spark.encoding.joint import JointCodes
from lumberjack_spark.encoding.packing import pack, unpack
from lumberjack_spark.schema import RowReader


@dataclass(frozen=True, eq=False)
class FeatureEncoder:
    """One way of coding for each feature, in schema order.

    Attributes:
        features: the codes.
        joint: further columns, each made from the codes of several features.
        class_shares: float64[n_classes], released estimate of each class's share of the rows,
            positive, sums to 1; None without private marginals.
    """

    features: tuple[FeatureCodes, ...]
    joint: tuple[JointCodes, ...] = ()
    class_shares: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns of an encoded row: features, then joint ones."""
        return len(self.features) + len(self.joint)

    def encode(self, columns: Sequence[np.ndarray]) -> np.ndarray:
        """Codes uint16[n_columns, n] of clean columns as RowReader.features returns them."""
        codes = np.empty((self.n_columns, len(columns[0])), np.uint16)
        for row, feature, values in zip(codes, self.features, columns, strict=False):
            row[:] = feature.of(values)
        self.fill_joint(codes)
        return codes

    def fill_joint(self, codes: np.ndarray) -> None:
        """Fill the joint columns of codes uint16[n_columns, n] whose features are filled."""
        d = len(self.features)
        for row, column in zip(codes[d:], self.joint, strict=True):
            row[:] = column.of(codes[:d])

    def read(self, reader: RowReader, batch: Any) -> np.ndarray:
        """Codes uint16[n_columns, n] of the rows of an Arrow batch."""
        return self.encode(reader.features(batch))

    def possible(self) -> list[np.ndarray | int]:
        """What trees.SplitSpace.of takes."""
        return [column.possible() for column in (*self.features, *self.joint)]

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Flat arrays that say everything, for saving; see encoding.packing."""
        return pack(self.features, self.joint, self.class_shares)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> "FeatureEncoder":
        """Undo to_arrays.

        Raises:
            ModelFormatError: the arrays do not describe an encoder.
        """
        return cls(*unpack(arrays))
