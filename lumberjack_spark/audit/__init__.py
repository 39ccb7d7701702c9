"""An audit that can fail: many tiny forests on neighbouring tables, and what they tell apart.

The accountant says that no event is more than e^epsilon times likelier, plus delta, with a row than
without it. The audit plays the attacker: it draws forests with and without one row by the very code
of a fit, learns on half of them which outcomes speak for the row, and bounds from below, on the
other half, the epsilon that such outcomes show. A bound above the claim is a fault for certain, up
to the stated confidence; a bound below it proves nothing, but a small one in a worst case would be
a surprise.

backend      rows are routed once, counting and noise are repeated
scenarios    tables, rows and plans that come close to the worst case
observation  what the attacker looks at in a release
score        how much an outcome speaks for the row, learnt from draws
bound        the epsilon that two counts of an event show
experiment   one scenario from draws to a bound
"""

from lumberjack_spark.audit.backend import RoutedBackend
from lumberjack_spark.audit.bound import epsilon_lower_bound, probability_bounds
from lumberjack_spark.audit.experiment import (
    AuditResult,
    audit,
    draw_observations,
    shown_epsilon,
)
from lumberjack_spark.audit.observation import Observations, Observer
from lumberjack_spark.audit.scenarios import SCENARIOS, Scenario, make_scenario
from lumberjack_spark.audit.score import LikelihoodRatio

__all__ = [
    "SCENARIOS",
    "AuditResult",
    "LikelihoodRatio",
    "Observations",
    "Observer",
    "RoutedBackend",
    "Scenario",
    "audit",
    "draw_observations",
    "epsilon_lower_bound",
    "make_scenario",
    "probability_bounds",
    "shown_epsilon",
]
