"""One scenario from draws to a lower bound on epsilon."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lumberjack_spark.audit.backend import RoutedBackend
from lumberjack_spark.audit.bound import epsilon_lower_bound
from lumberjack_spark.audit.observation import Observations, Observer
from lumberjack_spark.audit.scenarios import Scenario
from lumberjack_spark.audit.score import LikelihoodRatio
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import NoisePlan
from lumberjack_spark.training import fit_forest

CONFIDENCE = 0.999
_MOST_EVENTS = 200

NewKey = Callable[[], NoiseKey]


@dataclass(frozen=True)
class AuditResult:
    """What one scenario showed.

    Attributes:
        scenario: its name.
        epsilon, delta: the claim.
        lower_bound: epsilon that the draws show at least, at delta, in nats.
        draws: fits of each of the two tables.
        seconds: wall time.
    """

    scenario: str
    epsilon: float
    delta: float
    lower_bound: float
    draws: int
    seconds: float

    @property
    def is_within(self) -> bool:
        """Whether the bound is below the claim."""
        return self.lower_bound <= self.epsilon


def audit(
    scenario: Scenario,
    *,
    draws: int,
    confidence: float = CONFIDENCE,
    plan: NoisePlan | None = None,
    new_key: NewKey = NoiseKey.fresh,
) -> AuditResult:
    """Draw forests with and without the row, and bound the epsilon that they show.

    Args:
        scenario: tables and claim.
        draws: fits of each table, >= 4; half of them teach the score.
        confidence: probability that the bound is not too large, in (0, 1).
        plan: noise that is used; the scenario's own if None. Another one is a planted fault, of
            which the claim knows nothing.
        new_key: gives the key of each fit.
    """
    if not draws >= 4:
        raise ValueError(f"draws must be >= 4, got {draws!r}")
    started = time.monotonic()
    with_row, without = (
        draw_observations(scenario, with_row=side, draws=draws, plan=plan, new_key=new_key)
        for side in (True, False)
    )
    claim = scenario.plan.guarantee
    bound = shown_epsilon(with_row, without, delta=claim.delta, confidence=confidence)
    seconds = time.monotonic() - started
    return AuditResult(scenario.name, claim.epsilon, claim.delta, bound, draws, seconds)


def shown_epsilon(
    with_row: Observations, without: Observations, *, delta: float, confidence: float = CONFIDENCE
) -> float:
    """Lower bound on the epsilon that equally many draws from both tables show, at delta.

    One half of the draws teaches the score and chooses the event, the other half is counted.
    """
    score = LikelihoodRatio.learn(with_row.half(0), without.half(0))
    learnt = score.of(with_row.half(0)), score.of(without.half(0))
    tested = score.of(with_row.half(1)), score.of(without.half(1))
    # Both directions are tested, so each may be wrong half as often.
    alpha = (1 - confidence) / 2
    return max(
        _bound(learnt, tested, delta=delta, alpha=alpha),
        _bound((-learnt[1], -learnt[0]), (-tested[1], -tested[0]), delta=delta, alpha=alpha),
    )


def draw_observations(
    scenario: Scenario,
    *,
    with_row: bool,
    draws: int,
    plan: NoisePlan | None = None,
    new_key: NewKey = NoiseKey.fresh,
) -> Observations:
    """Fit one of the two tables again and again, and look at each release.

    Args:
        scenario: tables and claim.
        with_row: whether x is in the table.
        draws: how many fits.
        plan: as for audit.
        new_key: as for audit.
    """
    used = scenario.plan if plan is None else plan
    rows = [scenario.rows, scenario.row] if with_row else [scenario.rows]
    backend = RoutedBackend(rows)
    observer = Observer(scenario.schema, scenario.rows, scenario.row)

    def look(source: RoutedBackend) -> tuple[bytes, list[float]]:
        forest = fit_forest(source, scenario.schema, used, seed=scenario.seed, key=new_key())
        return observer.look(forest)

    known = None if scenario.known is None else RoutedBackend([scenario.known])
    shapes: list[bytes] = []
    numbers: list[list[float]] = []
    for _ in range(draws):
        shape, seen = look(backend)
        if known is not None:
            other_shape, other_seen = look(known)
            shape, seen = shape + other_shape, [*seen, seen[0] - other_seen[0]]
        shapes.append(shape)
        numbers.append(seen)
    return Observations(shapes, np.array(numbers))


def _bound(
    learnt: tuple[np.ndarray, np.ndarray],
    tested: tuple[np.ndarray, np.ndarray],
    *,
    delta: float,
    alpha: float,
) -> float:
    """Bound from the event {score >= cut} under (P, Q), with the cut that learning draws favour."""
    best, cut = -1.0, math.inf
    for candidate in _candidates(np.concatenate(learnt)):
        found = _shown(learnt, candidate, delta=delta, alpha=alpha)
        if found > best:
            best, cut = found, candidate
    return _shown(tested, cut, delta=delta, alpha=alpha)


def _candidates(scores: np.ndarray) -> np.ndarray:
    """Cuts to choose from: the distinct scores, or quantiles of them if they are many."""
    distinct = np.unique(scores)
    places = np.linspace(0, len(distinct) - 1, min(len(distinct), _MOST_EVENTS)).astype(np.int64)
    chosen: np.ndarray = distinct[places]
    return chosen


def _shown(
    scores: tuple[np.ndarray, np.ndarray], cut: float, *, delta: float, alpha: float
) -> float:
    """Epsilon shown by the event {score >= cut}."""
    likely, unlikely = ((int((side >= cut).sum()), len(side)) for side in scores)
    return epsilon_lower_bound(likely, unlikely, delta=delta, alpha=alpha)
