"""Spark's exceptions without the content of rows.

A failed cast or a crashed task tells its row in its message: a release without noise. What is
raised instead names the work and the kind of failure; the whole message stays in Spark's own log,
which belongs to the data's owner.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from lumberjack_spark.errors import LumberjackError, SparkFailureError


@contextmanager
def spark_failures(work: str) -> Iterator[None]:
    """Raise every failure within as a SparkFailureError that shows no data.

    Args:
        work: what is being done, for the message.

    Raises:
        SparkFailureError: something failed. Errors of this package and interrupts pass through.
    """
    try:
        yield
    except LumberjackError:
        raise
    except Exception as error:
        # Without a chain: the cause's message may quote a row.
        failure = SparkFailureError(f"{work} failed: {failure_kind(error)}; Spark's log says more")
    else:
        return
    raise failure from None


def failure_kind(error: BaseException) -> str:
    """Class of an exception, with Spark's error condition where there is one."""
    name = type(error).__name__
    for method in ("getCondition", "getErrorClass"):
        try:
            condition = getattr(error, method)()
        except Exception:
            continue
        if isinstance(condition, str) and condition:
            return f"{name} [{condition}]"
    return name
