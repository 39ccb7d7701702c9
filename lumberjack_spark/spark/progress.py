"""What a long stage shows while it runs: its name, tasks done, seconds.

Each stage is logged once at its end, at INFO. While it runs, one line is rewritten on standard
error where a person may look at it: on a terminal or in a notebook. Setting the level of the
logger "lumberjack_spark" above INFO silences both. Nothing shown depends on the content of rows.
"""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from lumberjack_spark.spark._classic import running_tasks

LOGGER = logging.getLogger("lumberjack_spark")
_SECONDS_BETWEEN_LINES = 1.0


@contextmanager
def stage(name: str, session: SparkSession) -> Iterator[None]:
    """Show and log the Spark work done inside the block.

    Args:
        name: what is being done, such as "counting nodes".
        session: the session whose tasks are counted.
    """
    started = time.monotonic()
    done = threading.Event()
    watcher = None
    if _someone_looks():
        watcher = threading.Thread(
            target=_rewrite_line, args=(name, session, started, done), daemon=True
        )
        watcher.start()
    try:
        yield
    finally:
        done.set()
        if watcher is not None:
            watcher.join()
    LOGGER.info("%s: %.1f s", name, time.monotonic() - started)


def _someone_looks() -> bool:
    """Whether standard error is a terminal or a notebook, and log lines are wanted."""
    if LOGGER.getEffectiveLevel() > logging.INFO and LOGGER.level != logging.NOTSET:
        return False
    notebook = "ipykernel" in sys.modules
    return notebook or (sys.stderr is not None and sys.stderr.isatty())


def _rewrite_line(name: str, session: SparkSession, started: float, done: threading.Event) -> None:
    """Rewrite the progress line until done, then clear it."""
    width = 0
    while not done.wait(_SECONDS_BETWEEN_LINES):
        tasks = running_tasks(session)
        counted = f", {tasks[0]} of {tasks[1]} tasks" if tasks else ""
        line = f"{name}{counted}, {time.monotonic() - started:.0f} s"
        width = max(width, len(line))
        sys.stderr.write("\r" + line.ljust(width))
        sys.stderr.flush()
    if width:
        sys.stderr.write("\r" + " " * width + "\r")
        sys.stderr.flush()
