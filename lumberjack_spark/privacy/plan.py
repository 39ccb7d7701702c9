"""What the privacy package hands to the rest of the program: the plan of all noise of one fit.

Purpose    value types only; nothing outside this package knows which accountant made a plan.
Units      counts are rows; weights are probabilities in units of 2^-64.
Safe side  a plan is immutable, and what it stores is what was evaluated by the accountant.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Neighbors = Literal["add_remove", "replace_one"]

WORD = 2**64


def require_positive(name: str, value: float) -> None:
    """Refuse a value that is not a finite number above zero; NaN is refused too."""
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be finite and > 0, got {value!r}")


@dataclass(frozen=True, eq=False)
class BitTable:
    """Law of the one bit that a threshold query releases, by the count of the node.

    A count q gives 1 with probability 0 if q <= minimum_count, weights[q - minimum_count - 1] /
    2^64 in the table's range, and 1 above it. Probability 1 is a rule, not a comparison.

    Attributes:
        minimum_count: c0, rows; counts up to it give 0 with certainty.
        weights: uint64[n], nondecreasing, read-only.

    >>> table = BitTable(minimum_count=8, weights=np.array([1 << 62, 1 << 63], dtype=np.uint64))
    >>> [table.probability(count) for count in (8, 9, 10, 11)]
    [0.0, 0.25, 0.5, 1.0]
    >>> table.threshold, table.certain_count
    (10, 11)
    """

    minimum_count: int
    weights: npt.NDArray[np.uint64]

    def __post_init__(self) -> None:
        if not self.minimum_count >= 0:
            raise ValueError(f"minimum_count must be >= 0, got {self.minimum_count!r}")
        weights = np.array(self.weights, copy=True)
        if weights.dtype != np.uint64 or weights.ndim != 1:
            raise ValueError(
                f"weights must be uint64[n], got {weights.dtype} with {weights.ndim} axes"
            )
        if np.any(weights[1:] < weights[:-1]):
            raise ValueError("weights must be nondecreasing, got a decreasing step")
        weights.flags.writeable = False
        object.__setattr__(self, "weights", weights)

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructor makes the copy read-only again.
        return BitTable, (self.minimum_count, self.weights)

    @property
    def threshold(self) -> int:
        """Least count whose bit is 1 with probability at least one half."""
        below = int(np.searchsorted(self.weights, np.uint64(WORD // 2), side="left"))
        return self.minimum_count + 1 + below

    @property
    def certain_count(self) -> int:
        """Least count whose bit is 1 with certainty: such a node is kept whenever it is asked."""
        return self.minimum_count + 1 + int(self.weights.size)

    @property
    def digest(self) -> str:
        """SHA-256 of the table, in hexadecimal digits."""
        head = f"{self.minimum_count}:{self.weights.size}:".encode()
        return hashlib.sha256(head + self.weights.astype("<u8").tobytes()).hexdigest()

    def probability(self, count: int) -> float:
        """Probability that a node with count rows gets the bit 1, rounded to a double."""
        position = count - self.minimum_count - 1
        if position < 0:
            return 0.0
        if position >= self.weights.size:
            return 1.0
        return int(self.weights[position]) / WORD

    def to_dict(self) -> dict[str, Any]:
        """JSON-able summary: the ends, the midpoint and a digest, never the weights."""
        return {
            "minimum_count": self.minimum_count,
            "threshold": self.threshold,
            "certain_count": self.certain_count,
            "sha256": self.digest,
        }


@dataclass(frozen=True)
class GaussianLeaves:
    """Discrete Gaussian N_Z(0, sigma^2) on every class count of every leaf; sigma in rows."""

    sigma: float

    def __post_init__(self) -> None:
        require_positive("sigma", self.sigma)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description of the mechanism."""
        return {"mechanism": "discrete_gaussian", "sigma": self.sigma}


@dataclass(frozen=True)
class ExponentialLeaves:
    """One label for each leaf, drawn with weight exp(eta * count of the label's rows)."""

    eta: float

    def __post_init__(self) -> None:
        require_positive("eta", self.eta)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description of the mechanism."""
        return {"mechanism": "exponential", "eta": self.eta}


@dataclass(frozen=True)
class GaussianMarginals:
    """Discrete Gaussian N_Z(0, sigma^2) on every cell of every marginal.

    Attributes:
        sigma: noise standard deviation, in rows.
        histograms: number of noisy counts that one row is in.
    """

    sigma: float
    histograms: int

    def __post_init__(self) -> None:
        require_positive("sigma", self.sigma)
        if not self.histograms >= 1:
            raise ValueError(f"histograms must be >= 1, got {self.histograms!r}")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description of the mechanism."""
        return {
            "mechanism": "discrete_gaussian",
            "sigma": self.sigma,
            "histograms": self.histograms,
        }


@dataclass(frozen=True)
class Guarantee:
    """The promise of a plan: (epsilon, delta)-DP of everything released, for one row."""

    epsilon: float
    delta: float
    neighbors: Neighbors = "add_remove"
    unit: Literal["row"] = "row"

    def __post_init__(self) -> None:
        require_positive("epsilon", self.epsilon)
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must be > 0 and < 1, got {self.delta!r}")
        if self.neighbors not in ("add_remove", "replace_one"):
            raise ValueError(
                f"neighbors must be 'add_remove' or 'replace_one', got {self.neighbors!r}"
            )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description of the promise."""
        return {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors,
            "unit": self.unit,
        }


@dataclass(frozen=True, eq=False)
class NoisePlan:
    """Every mechanism of one fit with its parameters, and what they guarantee together.

    Attributes:
        bits: law of the bit that a threshold query releases.
        leaves: noise of the leaves.
        marginals: noise of the private marginals, released first; None if there are none.
        guarantee: epsilon and delta as requested.
        certified_delta: bound that the accountant found at guarantee.epsilon; <= guarantee.delta.
        accountant: "exact" or "theorem6".
        num_trees: k.
        max_depth: h, split nodes on a longest path.
        questions: m = k (1 + floor(log2 h)), threshold queries that one row can be in.
        notes: parameters for the certificate, by name.
    """

    bits: BitTable
    leaves: GaussianLeaves | ExponentialLeaves
    marginals: GaussianMarginals | None
    guarantee: Guarantee
    certified_delta: float
    accountant: str
    num_trees: int
    max_depth: int
    questions: int
    notes: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.certified_delta <= self.guarantee.delta:
            raise ValueError(
                f"certified_delta must be in [0, {self.guarantee.delta!r}], "
                f"got {self.certified_delta!r}"
            )
        object.__setattr__(self, "notes", MappingProxyType(dict(self.notes)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A read-only mapping cannot be pickled; plans travel to workers.
        values = (self.bits, self.leaves, self.marginals, self.guarantee, self.certified_delta)
        shape = (self.accountant, self.num_trees, self.max_depth, self.questions)
        return NoisePlan, (*values, *shape, dict(self.notes))

    @property
    def leaf_mode(self) -> str:
        """Return "proportions" for noisy class counts, "majority" for one drawn label a leaf."""
        return "proportions" if isinstance(self.leaves, GaussianLeaves) else "majority"

    @property
    def certain_count(self) -> int:
        """Every node with at least this many rows that was asked about is kept."""
        return self.bits.certain_count

    def to_dict(self) -> dict[str, Any]:
        """JSON-able summary for certificates and dry runs."""
        return {
            "guarantee": self.guarantee.to_dict(),
            "certified_delta": self.certified_delta,
            "accountant": self.accountant,
            "num_trees": self.num_trees,
            "max_depth": self.max_depth,
            "questions": self.questions,
            "bits": self.bits.to_dict(),
            "leaves": self.leaves.to_dict(),
            "marginals": None if self.marginals is None else self.marginals.to_dict(),
            "notes": dict(self.notes),
        }
