"""What random splits can choose from: the public description of a row's integer codes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

ORDERED = 0
ONE_OF = 1


class SplitSpace(NamedTuple):
    """Kinds and possible codes of the features of an encoded row (a tuple, for the kernels).

    Thresholds of an ordered feature are drawn uniformly between its least and its largest code
    that can occur on the node's path; gaps between codes that can occur make some splits likelier.

    Attributes:
        kinds: uint8[d], ORDERED (split by a threshold on the code) or ONE_OF (categories
            0..high-1, split by "is it this one?"; larger codes answer no to every question).
        low: int32[d], least code that can occur; 0 for ONE_OF.
        high: int32[d], largest code that can occur; the number of categories for ONE_OF.
        lower: uint16[d, m], lower[f, t] is the largest possible code of feature f that is <= t.
        upper: uint16[d, m], upper[f, t] is the least possible code of feature f that is > t.
    """

    kinds: np.ndarray[Any, np.dtype[np.uint8]]
    low: np.ndarray[Any, np.dtype[np.int32]]
    high: np.ndarray[Any, np.dtype[np.int32]]
    lower: np.ndarray[Any, np.dtype[np.uint16]]
    upper: np.ndarray[Any, np.dtype[np.uint16]]

    @property
    def n_features(self) -> int:
        """Number of features of an encoded row."""
        return int(self.kinds.size)

    @classmethod
    def of(cls, possible: Sequence[np.ndarray[Any, Any] | int]) -> "SplitSpace":
        """Build from each feature's possible codes.

        Args:
            possible: for an ordered feature its possible codes, ascending, within 0..65535; for a
                one-of feature its number of categories, an int within 1..65535.
        """
        kinds = np.array([ONE_OF if isinstance(p, int) else ORDERED for p in possible], np.uint8)
        low = np.array([0 if isinstance(p, int) else p[0] for p in possible], np.int32)
        high = np.array([p if isinstance(p, int) else p[-1] for p in possible], np.int32)
        width = max((int(p[-1]) + 1 for p in possible if not isinstance(p, int)), default=1)
        lower = np.zeros((len(possible), width), np.uint16)
        upper = np.zeros((len(possible), width), np.uint16)
        thresholds = np.arange(width)
        for f, codes in enumerate(possible):
            if not isinstance(codes, int):
                after = np.searchsorted(codes, thresholds, side="right")
                lower[f] = codes[np.maximum(after - 1, 0)]
                upper[f] = codes[np.minimum(after, len(codes) - 1)]
        return cls(kinds, low, high, lower, upper)
