"""Draw many tiny forests with and without one row, and show what they tell apart.

    python jobs/audit.py
    python jobs/audit.py --draws 40000 --epsilon 1 --delta 0.02 --scenario leaves

Prints one line a scenario: the claim, and the epsilon that the draws show at least, with 99.9 %
confidence. Last line of standard output: the same as JSON. Needs neither Spark nor a config.
Exit codes   0 all bounds are below their claims; 1 one is not: a fault, or one unlucky run in a
             thousand a scenario; 2 a wrong command line; 3 no plan for this epsilon and delta.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from lumberjack_spark.audit import SCENARIOS, AuditResult, audit, make_scenario
from lumberjack_spark.audit.experiment import CONFIDENCE
from lumberjack_spark.errors import BudgetError

WITHIN, BEYOND, BUDGET = 0, 1, 3
_HEAD = f"{'scenario':20} {'epsilon':>8} {'delta':>7} {'shown':>7} {'draws':>8} {'seconds':>8}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    given = _parser().parse_args(arguments)
    try:
        scenarios = [
            make_scenario(name, epsilon=given.epsilon, delta=given.delta)
            for name in given.scenario or SCENARIOS
        ]
    except BudgetError as error:
        sys.stderr.write(f"audit stopped: {error}\n")
        return BUDGET
    _say(_HEAD)
    results = []
    for scenario in scenarios:
        results.append(audit(scenario, draws=given.draws))
        _say(_line(results[-1]))
    within = all(result.is_within for result in results)
    summary = {
        "within": within,
        "confidence": CONFIDENCE,
        "scenarios": [asdict(result) | {"is_within": result.is_within} for result in results],
    }
    _say(json.dumps(summary, allow_nan=False))
    return WITHIN if within else BEYOND


def _parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="jobs/audit.py", description="Audit the privacy of a fit by drawing many tiny forests."
    )
    parser.add_argument(
        "--draws", type=_draws, default=4000, help="fits of each of the two tables (4000)"
    )
    parser.add_argument("--epsilon", type=float, default=1.0, help="claim, in nats (1)")
    parser.add_argument("--delta", type=float, default=0.1, help="claim, 0.01 or more (0.1)")
    parser.add_argument(
        "--scenario",
        action="append",
        choices=list(SCENARIOS),
        help="one of them; may be repeated; all if left out",
    )
    return parser


def _draws(text: str) -> int:
    """A number of draws that leaves some for both halves."""
    draws = int(text)
    if draws < 4:
        raise argparse.ArgumentTypeError(f"draws must be >= 4, got {draws}")
    return draws


def _line(result: AuditResult) -> str:
    """One line of the table."""
    claim = f"{result.scenario:20} {result.epsilon:8.3f} {result.delta:7.3f}"
    shown = f"{result.lower_bound:7.3f} {result.draws:8d} {result.seconds:8.1f}"
    return f"{claim} {shown}" + ("" if result.is_within else "  BEYOND THE CLAIM")


def _say(line: str) -> None:
    """Write one line of the result."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
