"""Python workers that are quick to take the next task.

Spark collects garbage in a worker after each of its tasks. With pandas, numba and scipy loaded that
looks at over 100,000 objects which stay for good, 0.05 to 0.1 s a task: more than a task on a small
partition takes. Not for tasks that hold secrets: a cycle that is alive then would stay.
"""

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")
_settled_modules = 0


def settle() -> None:
    """Leave what is loaded by now out of later collections of garbage in this process.

    Does so once for each set of modules, after a collection of its own, so that repeated calls
    are cheap and keep no garbage alive.
    """
    global _settled_modules
    if len(sys.modules) > _settled_modules:
        _settled_modules = len(sys.modules)
        gc.collect()
        gc.freeze()


def then_settle(parts: Iterable[_T]) -> Iterator[_T]:
    """The same parts; settles when the last one is taken."""
    yield from parts
    settle()
