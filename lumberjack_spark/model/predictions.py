"""Scores of some rows, and the class that each row most likely has."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.model.scorer import class_indices, probabilities


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says of n rows, in their order.

    Attributes:
        raw: float64[n, n_classes], sum over trees of what each row's leaf says.
        classes: declared classes.
    """

    raw: np.ndarray
    classes: tuple[str | int | bool, ...]

    @property
    def probability(self) -> np.ndarray:
        """Share of each declared class: float64[n, n_classes], >= 0; rows sum to 1."""
        return probabilities(self.raw)

    @property
    def prediction(self) -> np.ndarray:
        """Index of the most likely class: int64[n]."""
        return class_indices(self.raw)

    @property
    def label(self) -> np.ndarray:
        """The most likely class itself: object[n] of texts, int64[n] or bool[n]."""
        chosen: np.ndarray = class_array(self.classes)[self.prediction]
        return chosen

    def __len__(self) -> int:
        return len(self.raw)


def class_array(classes: Sequence[str | int | bool]) -> np.ndarray:
    """Declared classes as an array of their own type."""
    return np.array(classes, dtype=object if isinstance(classes[0], str) else None)
