"""How much of a large epsilon can be spent when noise is drawn from 64-bit words.

Purpose    rounded draws cost t (1 + e^epsilon) of delta, so beyond some epsilon nothing can be
           certified. A plan for a smaller epsilon is valid for the larger one as well.
Units      epsilon in nats.
Safe side  the epsilon that is spent is at most the one that was asked for.
"""

import math
from collections.abc import Callable

from lumberjack_spark.errors import BudgetError
from lumberjack_spark.privacy.release import Release, draw_distance
from lumberjack_spark.privacy.request import PlanRequest

# Part of delta that the rounding of draws may take.
ROUNDING_PART = 0.25


def spendable_epsilon(request: PlanRequest, release_at: Callable[[float], Release]) -> float:
    """Largest epsilon up to the requested one whose rounding takes a quarter of delta at most.

    Args:
        request: the budget.
        release_at: noise of leaves and marginals for an epsilon, at least roughly.

    Raises:
        BudgetError: there is none; delta is below the floor for so many draws.
    """
    epsilon = request.epsilon
    for _ in range(50):
        distance = draw_distance(release_at(epsilon))
        room = ROUNDING_PART * request.delta / distance - 1
        if room <= 1:
            break
        if math.log(room) >= epsilon:
            return epsilon
        epsilon = 0.999 * math.log(room)
    floor = 3 * distance / ROUNDING_PART
    raise BudgetError(
        f"delta must be at least about {floor:.1e} for so many trees and this leaf mode, since "
        f"noise is drawn from 64-bit words, got {request.delta!r}; raise delta or use fewer trees"
    )
