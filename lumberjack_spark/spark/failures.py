"""Spark's exceptions without the content of rows.

A failed cast or a crashed task tells its row in its message: a release without noise. What is
raised instead names the work and the kind of failure; the whole message stays in Spark's own log,
which belongs to the data's owner.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from lumberjack_spark.errors import LumberjackError, SparkFailureError

T = TypeVar("T")


def without_rows(work: str, call: Callable[[], T]) -> T:
    """What a call gives; every failure within is raised as one that shows no data.

    Args:
        work: what is being done, for the message.
        call: does it.

    Raises:
        SparkFailureError: something failed. Errors of this package and interrupts pass through.
    """
    try:
        return call()
    except LumberjackError:
        raise
    except Exception as error:
        kind = failure_kind(error)
    # Out here no exception is being handled that would hang on to the new one as its context.
    raise SparkFailureError(f"{work} failed: {kind}; Spark's log says more")


@contextmanager
def spark_failures(work: str) -> Iterator[None]:
    """The same for a block of a program; the failure is kept as a context that is never printed."""
    try:
        yield
    except LumberjackError:
        raise
    except Exception as error:
        kind = failure_kind(error)
        raise SparkFailureError(f"{work} failed: {kind}; Spark's log says more") from None


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
