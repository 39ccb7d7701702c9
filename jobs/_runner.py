"""What every job does: command line, log on standard error, JSON as last line, exit code.

Exit codes   0 done; 2 configuration, schema or paths; 3 budget; 5 Spark failed; 130 interrupted;
             1 anything else, which is a mistake of ours.
Messages     one block without traceback. They speak of declarations: an unexpected exception is
             named by its class alone, since its own words may quote a row.
"""

import argparse
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from jobs._config import JobConfig, load_config
from lumberjack_spark.errors import BudgetError, LumberjackError, SparkFailureError
from lumberjack_spark.schema import SchemaMistakesError

OK, MISTAKE_OF_OURS, CONFIGURATION, BUDGET, SPARK, INTERRUPTED = 0, 1, 2, 3, 5, 130
LOGGER = logging.getLogger("lumberjack_spark")

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """One program.

    Attributes:
        name: as in its file's name.
        about: one sentence for --help.
        run: does the work; what it returns is the JSON object.
        add_arguments: adds what this program understands besides.
    """

    name: str
    about: str
    run: Callable[[argparse.Namespace, JobConfig], Result]
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None


def run_job(job: Job, arguments: Sequence[str] | None = None) -> int:
    """Run a program and return its exit code; a wrong command line exits with code 2.

    Args:
        job: the program.
        arguments: the command line without the program's name; None for this process's own.
    """
    given = _parser(job).parse_args(arguments)
    with _log_on_stderr(quiet=given.quiet):
        try:
            result = job.run(given, load_config(given.config, given.set))
        except KeyboardInterrupt:
            return _stop(job, INTERRUPTED, "interrupted")
        except Exception as error:
            if given.traceback:
                traceback.print_exc()
            return _stop(job, exit_code(error), _block(error))
    sys.stdout.write(json.dumps(result, allow_nan=False) + "\n")
    sys.stdout.flush()
    return OK


def exit_code(error: BaseException) -> int:
    """Exit code for an exception."""
    if isinstance(error, BudgetError):
        return BUDGET
    if isinstance(error, SparkFailureError):
        return SPARK
    if isinstance(error, (LumberjackError, OSError)):
        return CONFIGURATION
    # By name: a job that never starts Spark does not import it either.
    if type(error).__module__.split(".")[0] in ("pyspark", "py4j", "grpc"):
        return SPARK
    return MISTAKE_OF_OURS


def _parser(job: Job) -> argparse.ArgumentParser:
    """The command line that all programs share, and this one's own part."""
    parser = argparse.ArgumentParser(prog=f"jobs/{job.name}.py", description=job.about)
    parser.add_argument("config", help="YAML file; see conf/flights.yaml")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="change the config, as in --set privacy.epsilon=0.5; may be repeated",
    )
    parser.add_argument("--quiet", action="store_true", help="log warnings only")
    parser.add_argument(
        "--traceback",
        action="store_true",
        help="show where an error came from; may quote rows of the table",
    )
    job.add_arguments(parser)
    return parser


@contextmanager
def _log_on_stderr(*, quiet: bool) -> Iterator[None]:
    """Send the package's log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    before = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.WARNING if quiet else logging.INFO)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)


def _stop(job: Job, code: int, words: str) -> int:
    """Say why the program stops."""
    sys.stderr.write(f"{job.name} stopped: {words}\n")
    sys.stderr.flush()
    return code


def _block(error: Exception) -> str:
    """An exception as one readable block."""
    if isinstance(error, SchemaMistakesError) and len(error.mistakes) > 1:
        lines = "".join(f"\n  - {mistake}" for mistake in error.mistakes)
        return f"{len(error.mistakes)} mistakes in the configuration{lines}"
    code = exit_code(error)
    if code == MISTAKE_OF_OURS or (code == SPARK and not isinstance(error, SparkFailureError)):
        return f"unexpected {type(error).__name__}{_place(error)}; --traceback shows more"
    return str(error)


def _place(error: Exception) -> str:
    """Innermost line of these programs and the package that an exception passed."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(root + os.sep)]
    if not ours:
        return ""
    return f" at {os.path.relpath(ours[-1].filename, root)}:{ours[-1].lineno}"
