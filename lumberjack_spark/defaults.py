"""Defaults of a fit that the caller leaves open, from public inputs alone.

They were chosen once, for all tables together, by `jobs/study.py`; its table and plots are kept in
jobs/study_results. Nothing here may look at data: a default that followed the table would be a
release that nobody paid for. `expected_rows` is what the caller declares, to one digit.
"""

import math
from dataclasses import dataclass

NUM_TREES = 30
MAX_DEPTH = 63  # 6 questions a row and tree; 64 and more ask 7
LEAF_SHARE = 0.6
ENCODING_SHARE = 0.3
LEAF_SHARE_WITHOUT_ENCODING = 0.8
MOST_EXACT_COUNT = 16


@dataclass(frozen=True)
class FitDefaults:
    """What a fit uses where the caller says nothing.

    Attributes:
        num_trees: trees of the forest.
        max_depth: most branches of a path.
        encoding_share: part of the spending for private marginals.
        leaf_share: part of the spending for the counts of the leaves.
        min_exact_count: nodes with so few rows are never counted; saves work, not budget.
    """

    num_trees: int
    max_depth: int
    encoding_share: float
    leaf_share: float
    min_exact_count: int


def fit_defaults(
    *,
    epsilon: float,
    delta: float,
    n_features: int,
    n_classes: int,
    encoding_share: float | None = None,
    expected_rows: float | None = None,
) -> FitDefaults:
    """Defaults for a budget and the shape of a table.

    Args:
        epsilon: in nats; finite and > 0.
        delta: in (0, 1).
        n_features: number of declared features, >= 1.
        n_classes: number of declared classes, >= 2.
        encoding_share: the caller's own share for marginals, 0 for none; None for the default.
        expected_rows: about how many rows the table has, as declared by the caller; public. It is
            checked, and recorded by `one_digit`; so far no default depends on it, since the study
            found the same choices good on tables of 44,000 and of 1,000,000 rows.

    Raises:
        ValueError: an argument is outside its range. NaN is outside every range.

    >>> fit_defaults(epsilon=1.0, delta=1e-6, n_features=10, n_classes=2).num_trees
    30
    """
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be finite and > 0, got {epsilon!r}")
    if not 0 < delta < 1:
        raise ValueError(f"delta must be > 0 and < 1, got {delta!r}")
    if not n_features >= 1:
        raise ValueError(f"n_features must be >= 1, got {n_features!r}")
    if not n_classes >= 2:
        raise ValueError(f"n_classes must be >= 2, got {n_classes!r}")
    if expected_rows is not None:
        one_digit(expected_rows)
    share = ENCODING_SHARE if encoding_share is None else encoding_share
    return FitDefaults(
        num_trees=NUM_TREES,
        max_depth=MAX_DEPTH,
        encoding_share=share,
        leaf_share=LEAF_SHARE if share > 0 else LEAF_SHARE_WITHOUT_ENCODING,
        min_exact_count=exact_count(epsilon),
    )


def exact_count(epsilon: float) -> int:
    """MinExactCount for a budget: a small part of the threshold, which falls as 1 / epsilon."""
    return max(1, min(MOST_EXACT_COUNT, round(8 / epsilon)))


def one_digit(rows: float) -> int:
    """A declared number of rows, rounded to one digit, as it is recorded.

    >>> one_digit(48842), one_digit(1299618)
    (50000, 1000000)
    """
    if not 1 <= rows < math.inf:
        raise ValueError(f"expected_rows must be finite and >= 1, got {rows!r}")
    size = 10 ** math.floor(math.log10(rows))
    return int(round(rows / size) * size)
