"""The noise key travels inside task closures; client libraries log whole queries at DEBUG.

Py4J writes every command it sends, pickled closures included, and so does Spark Connect's client.
Whoever reads such a log could undo the noise, so these loggers are held at INFO while a closure
with a key in it is made and sent.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_WRITE_QUERIES = ("py4j", "pyspark.sql.connect")


@contextmanager
def key_unlogged() -> Iterator[None]:
    """Hold the loggers that write queries at INFO or above inside the block."""
    known = [*_WRITE_QUERIES, *logging.root.manager.loggerDict]
    names = {n for n in known if any(n == w or n.startswith(f"{w}.") for w in _WRITE_QUERIES)}
    loggers = [logging.getLogger(name) for name in sorted(names)]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(max(logger.getEffectiveLevel(), logging.INFO))
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
