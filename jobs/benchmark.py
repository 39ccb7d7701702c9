"""Time fits and scoring against Spark's own forest and scikit-learn's, on the same rows in one run.

    python jobs/benchmark.py conf/acs_income.yaml --rows 325000,1300000
    python jobs/benchmark.py --smoke

Systems take turns in a warm session: a round that is not counted, then --repeats rounds that are.
Beside seconds: CPU seconds of driver, JVM and Python workers; peak memory of each; bytes of the
shuffle; CPU seconds of the kernels alone on the same arrays. Every raw figure goes to
<out>/benchmark.json, a plot to <out>/benchmark.png; standard output shows tables in Markdown, and
the summary as JSON in its last line. The figures are exact and tell how many rows there are, so
they are not private.
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._bench_child import bare_kernels, child_process, kernel_table
from jobs._bench_report import about_this_machine, draw, growth_of, markdown_of, summary_of
from jobs._config import load_config
from jobs._forest import estimator_of
from jobs._runner import exit_code
from jobs._session import ROOT, laptop_properties

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from pyspark.sql import DataFrame, SparkSession

    from jobs._bench_systems import System
    from jobs._bench_tables import BenchTable
    from lumberjack_spark.ml import LumberjackClassifier

LOGGER = logging.getLogger("lumberjack_spark.jobs")
_SMOKE = {"rows": [2000, 5000], "trees": [2], "depths": [20], "rival_depth": 2, "large_depth": 3}
_SMOKE_ROWS = 4000
_MOST_BARE = 3  # the kernels alone hardly vary


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.smoke:
        vars(given).update(_SMOKE, warm_ups=0, repeats=1, kernels=True)
        given.rivals = ["spark", "sklearn", "large"]
    elif given.config is None:
        parser.error("a config or --smoke must be given")
    try:
        result = _benchmark(given)
    except Exception as error:
        traceback.print_exc()
        return exit_code(error)
    out = Path(given.out)
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1, allow_nan=False)
    (out / "benchmark.json").write_text(text + "\n", encoding="utf-8")
    draw(result["summary"], out / "benchmark.png")
    _say(markdown_of(result))
    _say(json.dumps({"summary": result["summary"], "growth": result["growth"]}, allow_nan=False))
    return 0


def _parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="jobs/benchmark.py", description="Measure the speed.")
    parser.add_argument("config", nargs="?", help="YAML file; see conf/acs_income.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    parser.add_argument(
        "--rows",
        type=_numbers,
        default=[0],
        help="numbers of rows, about; beyond the input's, copies with jittered numbers; 0: all",
    )
    parser.add_argument("--trees", type=_numbers, default=[30], help="numbers of trees (30)")
    parser.add_argument("--depths", type=_numbers, default=[63], help="depths of our trees (63)")
    parser.add_argument("--rival-depth", type=int, default=10, help="of the others' trees (10)")
    parser.add_argument(
        "--rivals",
        type=_words,
        default=["spark", "sklearn"],
        help="none, or some of spark,sklearn,large; the last is Spark's again, with as many nodes "
        "as ours, about, and only scored",
    )
    parser.add_argument("--large-depth", type=int, default=20, help="of its trees (20)")
    parser.add_argument("--steps", type=_words, default=["fit", "transform"], help="fit,transform")
    parser.add_argument("--repeats", type=int, default=5, help="rounds that count (5)")
    parser.add_argument("--warm-ups", type=int, default=1, help="rounds before that do not (1)")
    parser.add_argument("--no-bare", action="store_true", help="do not time the kernels alone")
    parser.add_argument("--kernels", action="store_true", help="show what a unit of each costs")
    parser.add_argument("--memory", default="6g", help="the JVM's heap, if no session runs yet")
    parser.add_argument("--out", default="benchmark_results", help="folder for JSON and plot")
    parser.add_argument("--smoke", action="store_true", help="a small run on a made-up table")
    return parser


def _benchmark(given: argparse.Namespace) -> dict[str, Any]:
    """Everything that was found, JSON-able."""
    config = None if given.smoke else load_config(given.config, given.set)
    with (
        tempfile.TemporaryDirectory(prefix="lumberjack-benchmark-") as folder,
        child_process() as child,
        _session(given.memory) as session,
    ):
        if config is None:
            rows, estimator = _smoke_input(session)
        else:
            from jobs._tables import read_rows

            rows, estimator = read_rows(session, config.input), estimator_of(config)
        bench = _Bench(given, estimator, Path(folder), child)
        bench.measure(rows)
    summary = summary_of(bench.runs, bench.kernels)
    return {
        "about": about_this_machine(),
        "settings": {name: value for name, value in vars(given).items() if name != "out"},
        "summary": summary,
        "growth": growth_of(summary),
        "runs": bench.runs,
        "kernels": bench.kernels,
        "unit_costs": bench.unit_costs,
    }


@dataclass
class _Bench:
    """A run of the benchmark.

    Attributes:
        given: the command line.
        estimator: ours, but for trees and depth.
        folder: for tables.
        child: process for what must not be in this one.
        runs: figures of every round that counts.
        kernels: figures of the kernels alone.
        unit_costs: of each kernel.
    """

    given: argparse.Namespace
    estimator: "LumberjackClassifier"
    folder: Path
    child: "ProcessPoolExecutor"
    runs: list[dict[str, Any]] = field(default_factory=list)
    kernels: list[dict[str, Any]] = field(default_factory=list)
    unit_costs: list[dict[str, Any]] = field(default_factory=list)

    def measure(self, rows: "DataFrame") -> None:
        """All sizes, trees and depths."""
        from jobs._bench_tables import bench_table

        schema, have = self.estimator.getSchema(), rows.count()
        for wanted in self.given.rows:
            path = str(self.folder / f"rows-{wanted}")
            table = bench_table(rows, schema, wanted=wanted or have, have=have, path=path)
            LOGGER.info("%d rows in %d partitions", table.rows, table.partitions)
            for trees in self.given.trees:
                ours = [self._with(trees, depth) for depth in self.given.depths]
                self._rounds(table, trees, self._systems(table, trees, ours))
                for estimator in ours:
                    self._kernels_alone(table, estimator)
            table.close()

    def _with(self, trees: int, depth: int) -> "LumberjackClassifier":
        """Our estimator with so many trees of a depth."""
        estimator: LumberjackClassifier = self.estimator.copy()
        estimator.set(estimator.numTrees, trees)
        estimator.set(estimator.maxDepth, depth)
        return estimator

    def _systems(
        self, table: "BenchTable", trees: int, ours: Sequence["LumberjackClassifier"]
    ) -> list["System"]:
        """All that take turns on a table."""
        from jobs._bench_systems import ExtraTrees, LargeSparkForest, Ours, SparkForest

        schema, depth = self.estimator.getSchema(), self.given.rival_depth
        systems: list[System] = [Ours(estimator, table) for estimator in ours]
        if "spark" in self.given.rivals:
            systems.append(SparkForest(table, schema, trees=trees, depth=depth))
        if "large" in self.given.rivals:
            large = self.given.large_depth
            systems.append(LargeSparkForest(table, schema, trees=trees, depth=large))
        if "sklearn" in self.given.rivals:
            systems.append(ExtraTrees(table, schema, self.child, trees=trees, depth=depth))
        return systems

    def _rounds(self, table: "BenchTable", trees: int, systems: Sequence["System"]) -> None:
        """The systems in turn, --repeats times after the warm-ups."""
        scoring = "transform" in self.given.steps
        for turn in range(1 - self.given.warm_ups, self.given.repeats + 1):
            for system in systems:
                shape = {"rows": table.rows, "trees": trees, "depth": system.depth}
                for figures in system.round(scoring=scoring):
                    words = f"round {turn}" if turn > 0 else "warm-up"
                    step, seconds = figures["step"], figures["wall_s"]
                    LOGGER.info("%s, %s, %s: %.2f s", words, system.name, step, seconds)
                    if turn > 0:
                        run = {"system": system.name, **shape, "repeat": turn, **figures}
                        self.runs.append(run)
        for system in systems:
            system.close()

    def _kernels_alone(self, table: "BenchTable", estimator: "LumberjackClassifier") -> None:
        """What the kernels of a fit take by themselves."""
        from jobs._bench_kernels import KernelTask

        plan = estimator.plan()
        task = KernelTask(estimator.getSchema().to_dict(), plan, estimator.getSeed())
        shape = {"rows": table.rows, "trees": plan.num_trees, "depth": plan.max_depth}
        for _ in range(0 if self.given.no_bare else min(self.given.repeats, _MOST_BARE)):
            found = self.child.submit(bare_kernels, table.path, task).result()
            LOGGER.info("kernels alone: %.2f s of CPU", found["kernels_s"])
            self.kernels.append({**shape, **found})
        if self.given.kernels and not self.unit_costs:
            self.unit_costs = self.child.submit(kernel_table, table.path, task).result()


@contextmanager
def _session(memory: str) -> Iterator["SparkSession"]:
    """The active session, or one with the properties of conf/spark-laptop.conf and more heap."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), *paths]))
    builder: Any = SparkSession.builder
    for name, value in (laptop_properties() | {"spark.driver.memory": memory}).items():
        builder = builder.config(name, value)
    session: SparkSession = builder.appName("lumberjack_spark benchmark").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def _smoke_input(session: "SparkSession") -> tuple["DataFrame", "LumberjackClassifier"]:
    """A made-up table, and an estimator for it."""
    from pyspark.sql import functions as sql

    from lumberjack_spark.ml import LumberjackClassifier
    from lumberjack_spark.schema import Categorical, DataSchema, Numeric

    names = ["red", "green", "blue"]
    features: list[tuple[str, Any]] = [
        ("size", Numeric(0, 100)),
        ("hour", Numeric(0, 23)),
        ("color", Categorical(names)),
    ]
    schema = DataSchema(features, label="late", classes=["no", "yes"])
    place = (sql.rand(2) * len(names)).cast("int") + 1
    rows = session.range(_SMOKE_ROWS).select(
        (sql.rand(0) * 100).alias("size"),
        (sql.rand(1) * 24).cast("int").alias("hour"),
        sql.element_at(sql.array(*map(sql.lit, names)), place).alias("color"),
        sql.when(sql.rand(3) < 0.5, "no").otherwise("yes").alias("late"),
    )
    return rows, LumberjackClassifier(schema=schema, epsilon=4.0, delta=1e-5, accountant="theorem6")


def _numbers(text: str) -> list[int]:
    """Whole numbers between commas; 1e6 is one too."""
    return [int(float(part)) for part in text.split(",")]


def _words(text: str) -> list[str]:
    """Words between commas."""
    return text.split(",")


def _say(text: str) -> None:
    """Write to standard output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("lumberjack_spark").setLevel(logging.INFO)
    sys.exit(main())
