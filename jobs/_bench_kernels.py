"""The kernels of a fit alone, in this process: their CPU seconds, and what a unit of each costs.

A fit by fit_forest over TimedBackend does what Spark's tasks do with the same arrays, and keeps the
seconds of each part. Kernels are distinct, route, merge and count; read, marginals, pairs, encode
and pack are shown beside them. Without Spark there is no other work, so that what a fit takes
beyond these is what moving rows, starting tasks and the driver cost.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import MarginalBins, PairBins
from lumberjack_spark.model.estimate import leaf_values
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import NoisePlan
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.training import (
    Counting,
    LocalBackend,
    LocalCells,
    Reading,
    Routing,
    count_nodes,
    fit_forest,
)
from lumberjack_spark.training.tasks import RUN_RECORDS, RUN_SCHEMA, Packed
from lumberjack_spark.trees import DistinctRows, Run, merge_stream, route, sum_leaf_values

KERNELS = ("distinct", "route", "merge", "count")
_WARM_ROWS = 20_000
_RUNS_A_BATCH = 64
_REPEATS = 3

Partitions = Sequence[Sequence[pa.RecordBatch]]


@dataclass(frozen=True, eq=False)
class KernelTask:
    """A fit to do with kernels alone; goes to another process.

    Attributes:
        schema: declarations, as DataSchema.to_dict gives them.
        plan: the noise.
        seed: structure seed.
    """

    schema: dict[str, Any]
    plan: NoisePlan
    seed: int


@dataclass(eq=False)
class TimedBackend:
    """Runs the passes in this process and keeps CPU seconds by part.

    Reads rows and passes over their cells; see training.fit.Backend and CellTable.

    Attributes:
        partitions: the table.
        seconds: CPU seconds by part.
        passes: what each counting pass was asked.
        records: records of path codes that the passes made.
    """

    partitions: Partitions
    seconds: dict[str, float] = field(default_factory=dict)
    passes: list[tuple[Routing, Counting]] = field(default_factory=list)
    records: int = 0
    cells: LocalCells = field(init=False)

    @contextmanager
    def read(self, reading: Reading) -> Iterator["TimedBackend"]:
        """The rows as cells; see training.fit.Backend."""
        with self._timed("read"), LocalBackend(self.partitions).read(reading) as self.cells:
            pass
        yield self

    def marginals(self, bins: MarginalBins) -> np.ndarray:
        """Exact counts of all cells."""
        with self._timed("marginals"):
            return self.cells.marginals(bins)

    def pairs(self, bins: PairBins) -> np.ndarray:
        """Exact counts of all pairs."""
        with self._timed("pairs"):
            return self.cells.pairs(bins)

    def nodes(self, routing: Routing, counting: Counting) -> Iterable[tuple[int, Packed]]:
        """(tree, packed node records)."""
        self.passes.append((routing, counting))
        pieces: dict[int, list[Run]] = {tree: [] for tree in range(routing.num_trees)}
        for rows in self._distinct(routing):
            for tree in range(routing.num_trees):
                if routing.within is not None and len(routing.within[tree]) == 0:
                    continue
                with self._timed("route"):
                    run = rows.run(**route_arguments(routing, tree))
                self.records += len(run.payload)
                pieces[tree] += run.pieces(RUN_RECORDS)
        for tree in range(routing.num_trees):
            yield from self._count(tree, pieces.pop(tree), counting)

    def _distinct(self, routing: Routing) -> Iterator[DistinctRows]:
        """Distinct rows of each chunk."""
        for cells, labels in itertools.chain.from_iterable(self.cells.chunks()):
            with self._timed("encode"):
                codes = routing.encoder.encode(cells)
            with self._timed("distinct"):
                rows = DistinctRows.of(codes, labels)
            yield rows

    def _count(self, tree: int, runs: list[Run], counting: Counting) -> Iterator[tuple[int, bytes]]:
        """Node records of one tree."""
        runs.sort(key=lambda run: tuple(run.codes[0].tolist()))
        with self._timed("pack"):
            batches = list(_run_batches(tree, runs))
        before = self.seconds.get("merge", 0.0)
        with self._timed("merge"):
            for _ in merge_stream(runs):
                pass
        with self._timed("count"):
            found = list(count_nodes(batches, counting))
        # count_nodes merges too: that part was measured alone just before.
        self.seconds["count"] -= self.seconds["merge"] - before
        for batch in found:
            yield from ((tree, nodes) for nodes in batch.column("nodes").to_pylist())

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        started = time.process_time()
        yield
        self.seconds[part] = self.seconds.get(part, 0.0) + time.process_time() - started


def route_arguments(routing: Routing, tree: int) -> dict[str, Any]:
    """Arguments of DistinctRows.run, and of route, for one tree."""
    return {
        "seed": routing.seed,
        "tree": tree,
        "max_depth": routing.max_depth,
        "space": routing.space,
        "within": None if routing.within is None else routing.within[tree],
        "within_level": routing.within_level,
    }


def kernel_seconds(partitions: Partitions, task: KernelTask) -> dict[str, Any]:
    """CPU seconds of a fit's kernels, by part and in all, and the records that they made."""
    _fit([[partitions[0][0].slice(0, _WARM_ROWS)]], task)  # compiles, or loads what is compiled
    backend = _fit(partitions, task)[0]
    seconds = {part: round(spent, 4) for part, spent in backend.seconds.items()}
    total = sum(backend.seconds.get(kernel, 0.0) for kernel in KERNELS)
    return {"parts_s": seconds, "kernels_s": round(total, 4), "records": backend.records}


def unit_costs(partitions: Partitions, task: KernelTask) -> list[dict[str, Any]]:
    """What a unit of each kernel costs on the first chunk of a table.

    Returns:
        For each kernel its unit, the units measured, nanoseconds of CPU a unit (the best of
        three), and bytes of its input and output arrays a unit.
    """
    first = [[partitions[0][0]]]
    _fit([[first[0][0].slice(0, _WARM_ROWS)]], task)
    backend, forest = _fit(first, task)
    routing, counting = backend.passes[0]
    cells, labels = next(next(backend.cells.chunks()))
    codes = routing.encoder.encode(cells)
    rows = DistinctRows.of(codes, labels)
    costs = [
        _cost(
            "encode", "row x column", codes.size, cells.nbytes + codes.nbytes,
            lambda: routing.encoder.encode(cells),
        ),
        _cost(
            "DistinctRows", "row", len(labels), 2 * codes.nbytes + labels.nbytes + 4 * len(labels),
            lambda: DistinctRows.of(codes, labels),
        ),
    ]  # fmt: skip
    for (asked, _), name in zip(backend.passes, ("route", "route within"), strict=False):
        costs.append(_route_cost(name, rows, asked))
    costs += _run_costs([rows.run(**route_arguments(routing, 0))], routing, counting)
    values = leaf_values(forest, task.plan)
    costs.append(
        _cost(
            "sum_leaf_values", "row x tree", len(labels) * routing.num_trees,
            codes.nbytes * routing.num_trees,
            lambda: sum_leaf_values(codes, forest.structure, values),
        )
    )  # fmt: skip
    return costs


def _route_cost(name: str, rows: DistinctRows, routing: Routing) -> dict[str, Any]:
    """Cost of walking the first tree that has anything to walk."""
    tree = 0
    if routing.within is not None:
        tree = int(np.argmax([len(nodes) for nodes in routing.within]))
    arguments = route_arguments(routing, tree)
    _, codes = route(rows.columns, **arguments)
    levels = max(int(_levels(codes).sum()) - routing.within_level * len(codes), 1)
    # A step down reads one code of the row and moves its index.
    n_bytes = levels * (2 + 8) + codes.nbytes
    return _cost(name, "row x level", levels, n_bytes, lambda: route(rows.columns, **arguments))


def _run_costs(runs: list[Run], routing: Routing, counting: Counting) -> list[dict[str, Any]]:
    """Costs of what happens to the codes of the first tree on their way."""
    whole = runs[0]
    n, width = len(whole.payload), 8 * routing.n_words + 4
    halves = [Run(whole.codes[i::2], whole.payload[i::2]) for i in (0, 1)]
    contiguous = [Run(half.codes.copy(), half.payload.copy()) for half in halves]
    batches = list(_run_batches(0, list(whole.pieces(RUN_RECORDS))))
    return [
        _cost("pack", "record", n, 2 * n * width, whole.pack),
        _cost("merge", "record", n, 2 * n * width, lambda: list(merge_stream(contiguous))),
        _cost("count", "record", n, n * width, lambda: list(count_nodes(batches, counting))),
    ]


def _cost(
    kernel: str, unit: str, units: int, n_bytes: int, work: Callable[[], Any]
) -> dict[str, Any]:
    """Best of some runs, a unit."""
    spent = []
    for _ in range(_REPEATS):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return {
        "kernel": kernel,
        "unit": unit,
        "units": int(units),
        "ns": round(min(spent) / units * 1e9, 3),
        "bytes": round(n_bytes / units, 2),
    }


def _fit(partitions: Partitions, task: KernelTask) -> tuple[TimedBackend, Any]:
    """The backend after a fit, and the forest."""
    backend = TimedBackend(partitions)
    schema = DataSchema.from_dict(task.schema)
    forest = fit_forest(backend, schema, task.plan, seed=task.seed, key=NoiseKey.fresh())
    return backend, forest


def _run_batches(tree: int, runs: list[Run]) -> Iterator[pa.RecordBatch]:
    """Runs as the shuffle hands them over; what they sort by is not read any more."""
    for start in range(0, len(runs), _RUNS_A_BATCH):
        packed = [run.pack() for run in runs[start : start + _RUNS_A_BATCH]]
        keys = pa.array(np.zeros(len(packed), np.int64))
        trees = pa.array(np.full(len(packed), tree, np.int32))
        columns = [trees, keys, keys, pa.array(packed, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, schema=RUN_SCHEMA)


def _levels(codes: np.ndarray) -> np.ndarray:
    """Branches of each path code: the place of its last 1; int64[n]."""
    levels = np.zeros(len(codes), np.int64)
    for word in range(codes.shape[1]):
        part = codes[:, word]
        lowest = part & (~part + np.uint64(1))
        here = 63 - np.log2(np.maximum(lowest, np.uint64(1)).astype(np.float64)).astype(np.int64)
        levels = np.where(part != 0, 64 * word + here, levels)
    return levels
