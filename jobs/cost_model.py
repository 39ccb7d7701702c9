"""Fit a cost model to a benchmark, check it on a size it has not seen, and look at larger ones.

    python jobs/cost_model.py benchmark_results/benchmark.json
    python jobs/cost_model.py benchmark_results/benchmark.json --rows 1e9 --trees 50 --executors 50

The largest table of the benchmark is held out: the model is fitted to the others and predicts it.
For larger ones it is fitted to all. Predictions take a cluster whose cores are like the measured
ones. Needs no Spark; standard output is Markdown, its last line JSON.
"""

import argparse
import json
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._bench_report import OURS
from jobs._cost_terms import TERMS, CostModel, Shape, figure

_SHOWN = ("cpu_total_s", "map_task_s", "reduce_task_s", "shuffle_bytes", "result_bytes",
          "driver_peak_bytes", "nodes")  # fmt: skip
_GOAL = 0.25
_MOST_RESULT_BYTES = 2**30  # spark.driver.maxResultSize, as Spark sets it
_ARROW_LIMIT_ROWS = 1 << 18  # rows that a task takes in hand at once; more partitions are no use
_GIB = 2**30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    given = _parser().parse_args(arguments)
    document = json.loads(Path(given.benchmark).read_text(encoding="utf-8"))
    runs = fits_of(document)
    sizes = sorted({run["rows"] for run in runs})
    if len(sizes) < 2:
        sys.stderr.write("cost_model stopped: the benchmark must have two sizes or more\n")
        return 2
    check = held_out_check(runs, sizes[-1])
    model = CostModel.fitted(runs)
    wanted = replace(
        Shape.of_run(runs[-1]), rows=given.rows, trees=given.trees, depth=given.depth, nodes=0.0
    )
    cluster = {"executors": given.executors, "cores": given.cores, "gbit": given.gbit}
    outlook = [
        projected(model, replace(wanted, threshold=float(threshold)), **cluster)
        for threshold in given.thresholds or [wanted.threshold, *_powers(wanted, model)]
    ]
    _say(_text(model, check, sizes[-1], outlook, wanted, cluster))
    worst = max(abs(row["off"]) for row in check if row["quantity"] in ("cpu_total_s", "wall_s"))
    _say(json.dumps({"held_out": check, "worst_off": worst, "outlook": outlook}, allow_nan=False))
    return 0


def _parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="jobs/cost_model.py", description="Model the cost.")
    parser.add_argument(
        "benchmark", help="benchmark.json of jobs/benchmark.py, of two sizes or more"
    )
    parser.add_argument("--rows", type=float, default=1e9, help="of the table to predict (1e9)")
    parser.add_argument("--trees", type=int, default=50, help="trees to predict (50)")
    parser.add_argument("--depth", type=int, default=63, help="depth to predict (63)")
    parser.add_argument("--executors", type=int, default=50, help="executors of the cluster (50)")
    parser.add_argument("--cores", type=int, default=4, help="cores of an executor (4)")
    parser.add_argument("--gbit", type=float, default=10.0, help="network of an executor, Gbit/s")
    parser.add_argument(
        "--thresholds", type=_numbers, help="thresholds to predict; else some that suit the rows"
    )
    return parser


def fits_of(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One run a shape: medians of the rounds of our own fits."""
    groups: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for run in document["runs"]:
        if run["system"] == OURS and run["step"] == "fit":
            groups.setdefault((run["rows"], run["trees"], run["depth"]), []).append(run)
    cores = document["about"]["cores"]
    found = []
    for rounds in groups.values():
        run = dict(rounds[0], cores=cores)
        for name in ("wall_s", *TERMS):
            values = [figure(each, name) for each in rounds]
            if None not in values:
                run[name] = statistics.median(v for v in values if v is not None)
        run["cpu_s"] = {"driver": run["driver_cpu_s"]}
        run["peak_bytes"] = {"driver_above_idle": run["driver_peak_bytes"]}
        found.append(run)
    return found


def held_out_check(runs: Sequence[Mapping[str, Any]], rows: int) -> list[dict[str, Any]]:
    """Measured and predicted figures of the fits of one size, by a model of the other sizes."""
    others = [run for run in runs if run["rows"] != rows]
    model = CostModel.fitted(others)
    found = []
    for run in (run for run in runs if run["rows"] == rows):
        predicted = model.predict(replace(Shape.of_run(run), nodes=0.0))
        predicted["wall_s"] = wall_seconds(predicted, run["trees"], run["cores"]) + _idle(others)
        for quantity in ("wall_s", *_SHOWN):
            measured = figure(run, quantity)
            if measured and quantity in predicted:
                found.append(
                    {
                        "trees": run["trees"],
                        "depth": run["depth"],
                        "quantity": quantity,
                        "measured": measured,
                        "predicted": predicted[quantity],
                        "off": predicted[quantity] / measured - 1,
                    }
                )
    return found


def wall_seconds(predicted: Mapping[str, float], trees: int, cores: int) -> float:
    """Seconds by the clock: map tasks on all cores, reduce tasks one a tree at most, driver."""
    mapped = predicted.get("map_task_s", predicted["cpu_total_s"]) / cores
    reduced = predicted.get("reduce_task_s", 0.0) / min(trees, cores)
    return mapped + reduced + predicted["driver_cpu_s"]


def _idle(runs: Sequence[Mapping[str, Any]]) -> float:
    """Median seconds of a fit in which neither tasks nor driver work: starting jobs and workers."""
    idle = [run["wall_s"] - wall_seconds(run, run["trees"], run["cores"]) for run in runs]
    return max(0.0, float(statistics.median(idle)))


def projected(
    model: CostModel, shape: Shape, *, executors: int, cores: int, gbit: float
) -> dict[str, Any]:
    """A fit on a cluster, and what limits it."""
    found = model.predict(shape)
    all_cores = executors * cores
    parts = {
        "map tasks": found.get("map_task_s", found["cpu_total_s"]) / all_cores,
        "reduce tasks, one a tree": found.get("reduce_task_s", 0.0) / min(shape.trees, all_cores),
        "network": found.get("shuffle_bytes", 0.0) / (min(executors, shape.trees) * gbit * 1.25e8),
        "driver": found["driver_cpu_s"],
    }
    longest = max(parts, key=lambda part: parts[part])
    return {
        "threshold": shape.threshold,
        "nodes": found["nodes"],
        "cpu_hours": found["cpu_total_s"] / 3600,
        "seconds": sum(parts.values()),
        **{f"seconds: {part}": seconds for part, seconds in parts.items()},
        "shuffle_gib": found.get("shuffle_bytes", 0.0) / _GIB,
        "result_gib": found.get("result_bytes", 0.0) / _GIB,
        "driver_gib": found["driver_peak_bytes"] / _GIB,
        "limit": longest
        if found.get("result_bytes", 0.0) < _MOST_RESULT_BYTES
        else "driver memory: node records exceed spark.driver.maxResultSize (1 GiB)",
    }


def _powers(shape: Shape, model: CostModel) -> list[float]:
    """Thresholds that leave about 100, 10 and 1 million nodes."""
    nodes = model.predict(shape)["nodes"]
    wanted = [shape.threshold * nodes / most for most in (1e8, 1e7, 1e6)]
    return [float(f"{threshold:.1g}") for threshold in wanted if threshold > 2 * shape.threshold]


def _text(
    model: CostModel,
    check: Sequence[Mapping[str, Any]],
    rows: int,
    outlook: Sequence[Mapping[str, Any]],
    shape: Shape,
    cluster: Mapping[str, float],
) -> str:
    """Everything in Markdown."""
    lines = ["| quantity | term | cost |", "|---|---|---|"]
    for quantity, costs in model.costs.items():
        for (term, _), cost in zip(TERMS[quantity], costs, strict=True):
            lines.append(f"| {quantity} | {term} | {cost:.4g} |")
    lines += ["", f"Held out: {rows:,} rows, predicted from the smaller sizes.", ""]
    lines += ["| trees | depth | quantity | measured | predicted | off |", "|---" * 6 + "|"]
    for each in check:
        mark = "" if abs(each["off"]) <= _GOAL else " (beyond 25 %)"
        lines.append(
            f"| {each['trees']} | {each['depth']} | {each['quantity']} | {each['measured']:.4g} | "
            f"{each['predicted']:.4g} | {each['off']:+.0%}{mark} |"
        )
    lines += [
        "",
        f"{shape.rows:.3g} rows, {shape.trees} trees, depth {shape.depth}, on "
        f"{cluster['executors']} executors of {cluster['cores']} cores, {cluster['gbit']:g} Gbit/s "
        f"each; {max(1, round(shape.rows / _ARROW_LIMIT_ROWS)):,} partitions.",
        "",
    ]
    names = list(outlook[0])
    lines += ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    for each in outlook:
        cells = [v if isinstance(v, str) else f"{v:,.3g}" for v in each.values()]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [float(part) for part in text.split(",")]


def _say(text: str) -> None:
    """Write to standard output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
