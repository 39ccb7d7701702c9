"""A program for test_faults: fits on a small cluster of processes whose parts are killed meanwhile.

    python faults_on_cluster.py FOLDER

Prints one line of JSON a scenario. A trap stands inside a task, on one partition, and springs once:
a file is renamed, which one process alone can do. So a fault comes in the stage that was chosen,
after other tasks of it are done, whatever the machine's speed.
"""

import gc
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from pyspark import TaskContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from lumberjack_spark.ml import LumberjackClassifier
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.spark.backend import SparkBackend
from lumberjack_spark.training import LocalBackend, fit_forest

SECRET = bytes(range(32))
NAP_S = 600  # far longer than a fit: one that ends earlier did not wait for the sleeper
ROWS, PARTITIONS = 60_000, 6
FITS_IN_A_ROW = 10
SCENARIOS = {
    f"{deed} while {work}": (deed, work)
    for deed, work in [
        ("executor killed", "counting marginals"),
        ("executor killed", "routing to the middle"),
        ("executor killed", "counting to the middle"),
        ("executor killed", "routing below"),
        ("executor killed", "counting below"),
        ("worker killed", "routing to the middle"),
        ("worker killed", "counting below"),
        ("worker asleep", "routing to the middle"),
        ("worker asleep", "counting below"),
    ]
}
SCHEMA = DataSchema(
    {"size": Numeric(0, 100), "hour": Numeric(0, 23), "color": Categorical(["red", "green"])},
    label="late",
    classes=["no", "yes"],
)


@dataclass(frozen=True)
class Trap:
    """A fault that waits for a task.

    Attributes:
        file: while it exists, the trap is set.
        deed: what it does.
        partition: the task that it waits for.
    """

    file: str
    deed: str
    partition: int

    def tread(self) -> None:
        """Spring, if this is the task and nobody was here before."""
        context = TaskContext.get()
        if context is None or context.partitionId() != self.partition:
            return
        try:
            os.rename(self.file, self.file + ".sprung")
        except FileNotFoundError:
            return
        if self.deed == "worker asleep":
            time.sleep(NAP_S)
        elif self.deed == "worker killed":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            executor = psutil.Process(os.getppid()).parent()
            assert "CoarseGrainedExecutorBackend" in " ".join(executor.cmdline())
            executor.kill()
            time.sleep(NAP_S)


@dataclass(frozen=True)
class TrappedReader:
    """A RowReader with a trap in the way of every batch's labels."""

    reader: Any
    trap: Trap

    @property
    def schema(self) -> DataSchema:
        return self.reader.schema

    def features(self, batch: Any) -> Any:
        return self.reader.features(batch)

    def labels(self, batch: Any) -> Any:
        self.trap.tread()
        return self.reader.labels(batch)


@dataclass(frozen=True)
class TrappedKey:
    """A NoiseKey with a trap in the way of every stream."""

    secret: bytes
    trap: Trap

    def stream(self, stage: str, *ids: int) -> Any:
        self.trap.tread()
        return NoiseKey.injected(self.secret).stream(stage, *ids)


class TrappedBackend:
    """A SparkBackend with a trap in the tasks of one stage."""

    def __init__(self, backend: SparkBackend, deed: str, work: str, file: str) -> None:
        self._backend, self._work = backend, work
        in_map = not work.startswith("counting to") and not work.startswith("counting below")
        self._trap = Trap(file, deed, PARTITIONS - 1 if in_map else 1)

    def marginals(self, counting):
        if self._work == "counting marginals":
            counting = replace(counting, reader=TrappedReader(counting.reader, self._trap))
        return self._backend.marginals(counting)

    def nodes(self, routing, counting):
        where = "to the middle" if routing.within is None else "below"
        if self._work == f"routing {where}":
            routing = replace(routing, reader=TrappedReader(routing.reader, self._trap))
        if self._work == f"counting {where}":
            counting = replace(counting, key=TrappedKey(SECRET, self._trap))
        return self._backend.nodes(routing, counting)


def cluster(folder: Path) -> SparkSession:
    """Two executors, each a process of its own, and impatience with slow tasks."""
    home = folder / "home"
    home.mkdir()
    for part in Path(_find_spark_home()).iterdir():
        if part.name != "work":  # where executors write: it would stay in the installed Spark
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        # Tables this small would otherwise be put into one partition again.
        "spark.sql.adaptive.enabled": "false",
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "2s",
        "spark.python.task.killTimeout": "100ms",
    }
    builder: Any = SparkSession.builder.master("local-cluster[2,1,2048]").appName("faults")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def make_rows(session: SparkSession) -> Any:
    """The same rows each time they are read."""
    noise = [sql.pmod(sql.xxhash64("id", sql.lit(i)), sql.lit(1000)) / 10 for i in range(4)]
    color = sql.when(noise[2] < 30, "red").when(noise[2] < 95, "green").otherwise("mauve")
    late = (noise[0] > 60) != (noise[3] < 10)
    return session.range(0, ROWS, 1, PARTITIONS).select(
        noise[0].alias("size"),
        (noise[1] * 0.24).cast("int").alias("hour"),
        color.alias("color"),
        sql.when(late, "yes").otherwise("no").alias("late"),
    )


def executors(session: SparkSession) -> tuple[int, int]:
    """(alive, dead) executors."""
    store = session.sparkContext._jsc.sc().statusStore()
    all_of_them = store.executorList(False).iterator()
    alive, dead = 0, 0
    while all_of_them.hasNext():
        executor = all_of_them.next()
        if executor.id() != "driver":
            alive, dead = alive + executor.isActive(), dead + (not executor.isActive())
    return alive, dead


def wait_until(is_so: Any, seconds: float = 180.0) -> bool:
    """Whether something comes to be in time."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def same(a: Any, b: Any) -> bool:
    """Whether two forests are equal, bit for bit."""
    arrays = [
        (f.leaf_counts, *f.encoder.to_arrays().values(), f.structure.nodes, f.structure.roots)
        for f in (a, b)
    ]
    return all(np.array_equal(x, y) for x, y in zip(*arrays, strict=True))


def say(scenario: str, **found: Any) -> None:
    """One line for the test."""
    sys.stdout.write(json.dumps({"scenario": scenario, **found}) + "\n")
    sys.stdout.flush()


def disturbed_fits(session: SparkSession, folder: Path, estimator: LumberjackClassifier) -> None:
    """Every scenario, compared with a fit in this process."""
    rows, plan = make_rows(session), estimator.plan()
    key = NoiseKey.injected(SECRET)
    one_partition = [rows.toArrow().to_batches()]
    wanted = fit_forest(LocalBackend(one_partition), SCHEMA, plan, seed=3, key=key)
    found = fit_forest(SparkBackend(rows), SCHEMA, plan, seed=3, key=key)
    say("undisturbed", equal=same(found, wanted), nodes=len(wanted.structure.nodes))
    for name, (deed, work) in SCENARIOS.items():
        ready = wait_until(lambda: executors(session)[0] == 2)
        dead = executors(session)[1]
        file = folder / name.replace(" ", "_")
        file.touch()
        started = time.monotonic()
        backend = TrappedBackend(SparkBackend(rows), deed, work, str(file))
        found = fit_forest(backend, SCHEMA, plan, seed=3, key=key)
        seconds = time.monotonic() - started
        is_killed = deed == "executor killed"
        seen = not is_killed or wait_until(lambda dead=dead: executors(session)[1] > dead, 30)
        say(
            name,
            equal=same(found, wanted),
            sprung=not file.exists() and Path(f"{file}.sprung").exists(),
            ready=ready,
            died=executors(session)[1] - dead,
            seen=seen,
            seconds=round(seconds, 1),
        )


def fits_in_a_row(session: SparkSession, folder: Path, estimator: LumberjackClassifier) -> None:
    """Many fits, and what they leave behind."""
    rows = make_rows(session)
    copies = folder / "copies"
    estimator.setMaterializeDir(str(copies))

    def fit() -> None:
        estimator._fit_with_key(rows, NoiseKey.injected(SECRET))

    def state() -> dict[str, int]:
        gc.collect()
        session.sparkContext._jvm.System.gc()
        runtime = session.sparkContext._jvm.Runtime.getRuntime()
        return {
            "python_bytes": psutil.Process().memory_info().rss,
            "jvm_bytes": runtime.totalMemory() - runtime.freeMemory(),
            "shuffle_files": sum(1 for _ in (folder / "spark").rglob("shuffle_*.data")),
        }

    def temporary() -> set[str]:
        return {path.name for path in (folder / "tmp").iterdir()}

    for _ in range(3):
        fit()
    before, there_before = state(), temporary()
    for _ in range(FITS_IN_A_ROW):
        fit()

    def is_clean() -> bool:
        return state()["shuffle_files"] <= before["shuffle_files"]

    clean = wait_until(is_clean, 60)
    after = state()
    say(
        "in a row",
        clean=clean,
        grown={name: after[name] - before[name] for name in before},
        cached=session.sparkContext._jsc.getPersistentRDDs().size(),
        copies=[path.name for path in copies.iterdir()],
        left=sorted(temporary() - there_before),
    )


def main(folder: Path) -> None:
    """All of it."""
    session = cluster(folder)
    session.range(1).count()  # what Spark itself keeps in the temporary folder is there now
    estimator = LumberjackClassifier(
        schema=SCHEMA, epsilon=20.0, delta=1e-5, numTrees=4, maxDepth=24
    )
    try:
        disturbed_fits(session, folder, estimator)
        fits_in_a_row(session, folder, estimator)
    finally:
        session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
