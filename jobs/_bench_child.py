"""Work of the benchmark that runs in a process of its own: scikit-learn, and the bare kernels.

There it has its own memory, so that the driver's peak is that of a fit, and its own CPU clock. The
functions here take plain arguments and give JSON-able figures.
"""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from jobs._bench_kernels import KernelTask


def child_process() -> ProcessPoolExecutor:
    """One process that starts Python afresh; keep it, so that it stays warm."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def warm_numbers(path: str) -> int:
    """Read the doubles and labels of a table once; returns the number of rows."""
    return len(_numbers(path)[1])


def extra_trees(path: str, *, trees: int, depth: int, scoring: bool) -> dict[str, Any]:
    """Fit scikit-learn's ExtraTreesClassifier, and score the same rows if asked to.

    Args:
        path: Parquet folder of doubles f0.. and label.
        trees: number of trees.
        depth: max_depth.
        scoring: whether to score.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    features, labels = _numbers(path)
    forest = ExtraTreesClassifier(trees, max_depth=depth, n_jobs=-1, random_state=1)
    found = {"fit": _timed(lambda: forest.fit(features, labels))}
    if scoring:
        found["transform"] = _timed(lambda: forest.predict_proba(features))
    return found


def _timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds by the clock and of CPU."""
    wall, cpu = time.monotonic(), time.process_time()
    work()
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    return {"wall_s": round(wall, 4), "cpu_total_s": round(cpu, 3)}


def bare_kernels(path: str, task: "KernelTask") -> dict[str, Any]:
    """CPU seconds of the kernels on the arrays that a fit makes of a table.

    Args:
        path: Parquet folder of the table.
        task: the fit to do.
    """
    from jobs._bench_kernels import kernel_seconds

    return kernel_seconds(_partitions(path), task)


def kernel_table(path: str, task: "KernelTask") -> list[dict[str, Any]]:
    """Nanoseconds and bytes of each kernel a unit; arguments as for bare_kernels."""
    from jobs._bench_kernels import unit_costs

    return unit_costs(_partitions(path), task)


def _partitions(path: str) -> list[list[Any]]:
    """Arrow batches of each file of a Parquet folder."""
    return [pq.read_table(file).to_batches() for file in sorted(Path(path).glob("*.parquet"))]


_held: dict[str, tuple[np.ndarray, np.ndarray]] = {}


def _numbers(path: str) -> tuple[np.ndarray, np.ndarray]:
    """(float32[n, d], int64[n]) of a table of doubles; the last one stays in memory."""
    if path not in _held:
        _held.clear()
        table = pq.read_table(path)
        names = table.column_names[:-1]
        features = np.column_stack([table[name].to_numpy().astype(np.float32) for name in names])
        _held[path] = features, table["label"].to_numpy().astype(np.int64)
    return _held[path]
