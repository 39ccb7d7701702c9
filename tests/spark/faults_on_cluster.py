"""A program for test_faults: fits on a small cluster of processes whose parts fail meanwhile.

    python faults_on_cluster.py killed FOLDER
    python faults_on_cluster.py asleep FOLDER

"killed" runs on local-cluster, and ends with many undisturbed fits in a row. "asleep" needs two
hosts, since Spark never places a second attempt on the host of the first: a standalone cluster of
our own, whose workers go by two names of this machine (Linux knows 127.0.0.2 without set-up).

Prints one line of JSON a scenario. A trap stands inside a task, on one partition, and springs once:
a file is renamed, which one process alone can do. So a fault comes in the stage that was chosen,
after other tasks of it are done, whatever the machine's speed.
"""

import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
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
NAP_S = 900  # far longer than a fit: one that ends earlier did not wait for the sleeper
ROWS, PARTITIONS = 60_000, 6
FITS_IN_A_ROW = 10
SCENARIOS = {
    f"{deed} while {work}": (deed, work)
    for deed, work in [
        ("executor killed", "reading rows"),
        ("executor killed", "counting pairs"),
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
ESTIMATOR = LumberjackClassifier(schema=SCHEMA, epsilon=20.0, delta=1e-5, numTrees=4, maxDepth=24)
LOCAL_CLUSTER = "local-cluster[2,1,2048]"


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
            os._exit(1)


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


class TrappedPart:
    """Stands in for an object that sees cells, with a trap in the way of one of its methods."""

    def __init__(self, part: Any, method: str, trap: Trap) -> None:
        self._part, self._method, self._trap = part, method, trap

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == self._method:
            self._trap.tread()
        return getattr(self._part, name)

    def __reduce__(self) -> Any:
        return TrappedPart, (self._part, self._method, self._trap)


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

    @contextlib.contextmanager
    def read(self, reading):
        if self._work == "reading rows":
            reading = replace(reading, reader=TrappedReader(reading.reader, self._trap))
        with self._backend.read(reading) as self._cells:
            yield self

    def marginals(self, bins):
        return self._cells.marginals(bins)

    def pairs(self, bins):
        if self._work == "counting pairs":
            bins = TrappedPart(bins, "in_tables", self._trap)
        return self._cells.pairs(bins)

    def nodes(self, routing, counting):
        where = "to the middle" if routing.within is None else "below"
        if self._work == f"routing {where}":
            encoder = TrappedPart(routing.encoder, "encode", self._trap)
            routing = replace(routing, encoder=encoder)
        if self._work == f"counting {where}":
            counting = replace(counting, key=TrappedKey(SECRET, self._trap))
        return self._cells.nodes(routing, counting)


def own_spark(folder: Path) -> None:
    """Let Spark's processes write into the folder alone."""
    home = folder / "home"
    home.mkdir()
    for part in Path(_find_spark_home()).iterdir():
        if part.name != "work":  # where executors write: it would stay in the installed Spark
            (home / part.name).symlink_to(part)
    os.environ["SPARK_HOME"] = str(home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_DIRS"] = str(folder / "spark")


@contextlib.contextmanager
def two_hosts(folder: Path) -> Iterator[str]:
    """Address of a standalone cluster of two workers with one core each."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    host, port = address.split(":")
    common = ["--webui-port", "0"]
    parts = [["master.Master", "--host", host, "--port", port, *common]]
    for name in ("127.0.0.1", "127.0.0.2"):
        size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / name)]
        parts.append(["worker.Worker", "--host", name, *size, *common, f"spark://{address}"])
    started = []
    try:
        for i, (part, *arguments) in enumerate(parts):
            program = f"{os.environ['SPARK_HOME']}/bin/spark-class"
            command = [program, f"org.apache.spark.deploy.{part}", *arguments]
            with open(folder / f"{part}-{i}.log", "w") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
        yield f"spark://{address}"
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def session_on(master: str) -> SparkSession:
    """Two executors, each a process of its own, and impatience with slow tasks."""
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
        # Shuffle files of a dead executor are given up at once and made again.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "500ms",
    }
    builder: Any = SparkSession.builder.master(master).appName("faults")
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


def disturbed_fits(session: SparkSession, folder: Path, deeds: str) -> None:
    """The scenarios of these deeds, compared with a fit in this process."""
    rows, plan = make_rows(session), ESTIMATOR.plan()
    key = NoiseKey.injected(SECRET)
    one_partition = [rows.toArrow().to_batches()]
    wanted = fit_forest(LocalBackend(one_partition), SCHEMA, plan, seed=3, key=key)
    found = fit_forest(SparkBackend(rows), SCHEMA, plan, seed=3, key=key)
    say(f"not {deeds}", equal=same(found, wanted), nodes=len(wanted.structure.nodes))
    for name, (deed, work) in SCENARIOS.items():
        if not deed.endswith(deeds):
            continue
        ready = wait_until(lambda: executors(session)[0] == 2)
        dead = executors(session)[1]
        file = folder / name.replace(" ", "_")
        file.touch()
        started = time.monotonic()
        backend = TrappedBackend(SparkBackend(rows), deed, work, str(file))
        found = fit_forest(backend, SCHEMA, plan, seed=3, key=key)
        seconds = time.monotonic() - started
        if deed == "executor killed":  # its death may be noticed after the fit
            wait_until(lambda dead=dead: executors(session)[1] > dead, 30)
        say(
            name,
            equal=same(found, wanted),
            sprung=not file.exists() and Path(f"{file}.sprung").exists(),
            ready=ready,
            died=executors(session)[1] - dead,
            seconds=round(seconds, 1),
        )


def fits_in_a_row(session: SparkSession, folder: Path) -> None:
    """Many fits, and what they leave behind."""
    rows = make_rows(session)
    copies = folder / "copies"
    estimator = ESTIMATOR.copy().setMaterializeDir(str(copies))

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


def main(deeds: str, folder: Path) -> None:
    """All scenarios of some deeds."""
    own_spark(folder)
    on_hosts = two_hosts(folder) if deeds == "asleep" else contextlib.nullcontext(LOCAL_CLUSTER)
    with on_hosts as master:
        session = session_on(master)
        try:
            disturbed_fits(session, folder, deeds)
            if deeds == "killed":
                fits_in_a_row(session, folder)
        finally:
            session.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
