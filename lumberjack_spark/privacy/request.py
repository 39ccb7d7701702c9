"""What a caller asks of a plan: budget, shape of the forest and shares, checked in one place.

Adjacency  "add_remove": one row more or less. "replace_one": one row changed into another.
Units      epsilon in nats; counts in rows.
Source     the paper's Lemma 3 for the number of questions.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.plan import Guarantee, Neighbors

LeafMode = Literal["proportions", "majority"]
Accountant = Literal["exact", "theorem6"]
Threshold = Literal["table", "gaussian"]

MAXIMUM_DEPTH = 126
MAXIMUM_TREES = 10_000


def questions_per_tree(max_depth: int) -> int:
    """Threshold queries of one tree that one row can be in: 1 + floor(log2 h) (Lemma 3)."""
    return max_depth.bit_length()


def _require(name: str, value: float, rule: str, holds: bool) -> None:
    """Refuse a value of the budget that breaks its rule."""
    if not holds:
        raise BudgetError(f"{name} must be {rule}, got {value!r}")


def _require_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a name that is not among the choices."""
    if value not in choices:
        raise BudgetError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


@dataclass(frozen=True)
class PlanRequest:
    """All inputs of a plan.

    Attributes:
        epsilon: in nats; finite and > 0.
        delta: in (0, 1).
        num_trees: k, 1 to 10000.
        max_depth: h, 1 to 126.
        leaf_mode: "proportions" (noisy class counts) or "majority" (one drawn label a leaf).
        accountant: "exact" or "theorem6".
        threshold: "table" (equal-cost bits) or "gaussian".
        min_exact_count: c0, rows; >= 0.
        leaf_share: part of the spending that goes to the leaves; exact accountant only.
        marginal_share: part of the spending that goes to the marginals; 0 for none.
        histograms: marginals that one row is in a cell of; >= 1 if marginal_share > 0.
        structure_fraction: part of epsilon and delta that goes to the trees; theorem6 only.
        neighbors: "add_remove" or "replace_one".
        num_classes: largest number of classes that majority leaves may choose from.
    """

    epsilon: float
    delta: float
    num_trees: int
    max_depth: int
    leaf_mode: LeafMode
    accountant: Accountant
    threshold: Threshold
    min_exact_count: int
    leaf_share: float
    marginal_share: float
    histograms: int
    structure_fraction: float
    neighbors: Neighbors
    num_classes: int = 128

    def __post_init__(self) -> None:
        finite = math.isfinite(self.epsilon)
        _require("epsilon", self.epsilon, "finite and > 0", finite and self.epsilon > 0)
        _require("delta", self.delta, "> 0 and < 1", 0 < self.delta < 1)
        _require_integer("num_trees", self.num_trees, 1, MAXIMUM_TREES)
        _require_integer("max_depth", self.max_depth, 1, MAXIMUM_DEPTH)
        _require_integer("min_exact_count", self.min_exact_count, 0, 2**40)
        _require_integer("num_classes", self.num_classes, 2, 2**20)
        _require_choice("leaf_mode", self.leaf_mode, ("proportions", "majority"))
        _require_choice("accountant", self.accountant, ("exact", "theorem6"))
        _require_choice("threshold", self.threshold, ("table", "gaussian"))
        _require_choice("neighbors", self.neighbors, ("add_remove", "replace_one"))
        self._check_shares()

    def _check_shares(self) -> None:
        """Refuse shares that leave nothing for a part that needs some."""
        share, marginal = self.leaf_share, self.marginal_share
        _require("leaf_share", share, "> 0 and < 1", 0 < share < 1)
        _require("marginal_share", marginal, ">= 0 and < 1", 0 <= marginal < 1)
        total = share + marginal
        _require("leaf_share + marginal_share", total, "< 1", total < 1)
        fraction = self.structure_fraction
        _require("structure_fraction", fraction, "> 0 and < 1", 0 < fraction < 1)
        _require_integer("histograms", self.histograms, 0, 10**6)
        given = (marginal > 0) == (self.histograms > 0)
        rule = ">= 1 if marginal_share > 0, and 0 otherwise"
        _require("histograms", self.histograms, rule, given)

    @property
    def questions(self) -> int:
        """m, threshold queries of the whole forest that one row can be in."""
        return self.num_trees * questions_per_tree(self.max_depth)

    @property
    def guarantee(self) -> Guarantee:
        """The promise that is asked for."""
        return Guarantee(self.epsilon, self.delta, self.neighbors)

    def to_dict(self) -> dict[str, Any]:
        """All inputs by name, JSON-able."""
        return asdict(self)


def _require_integer(name: str, value: int, low: int, high: int) -> None:
    """Refuse what is not an integer within its bounds."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    _require(name, value, f"an integer from {low} to {high}", whole and low <= value <= high)
