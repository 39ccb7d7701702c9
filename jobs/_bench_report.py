"""What the benchmark found, summed up: medians and ratios, a table in Markdown, a plot.

Every figure comes from the raw runs, which are kept beside it.
"""

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

OURS, SPARK, SKLEARN = "lumberjack_spark", "spark_forest", "sklearn_extra_trees"
LARGE = "spark_large_forest"
_RIVALS = {SPARK: "Spark forest", LARGE: "large Spark forest", SKLEARN: "extra trees"}
_PACKAGES = ("lumberjack-spark", "pyspark", "numpy", "numba", "pyarrow", "scikit-learn")
_GIB = 2**30

Run = Mapping[str, Any]


def about_this_machine() -> dict[str, Any]:
    """Versions and hardware."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "versions": {"python": platform.python_version(), **versions},
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / _GIB, 1),
        "processor": _processor(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def summary_of(runs: Sequence[Run], kernels: Sequence[Run]) -> list[dict[str, Any]]:
    """One entry a (rows, trees, depth, step): medians of each system, ratios, largest peaks."""
    found = []
    for shape in _shapes(runs):
        own = _of(runs, shape, OURS)
        entry: dict[str, Any] = {**shape, "repeats": len(own)}
        entry["wall_s"] = median(own, "wall_s")
        entry["cpu_s"] = median(own, "cpu_total_s")
        entry["rows_per_s"] = round(shape["rows"] / max(entry["wall_s"], 1e-9))
        for role in ("driver_above_idle", "jvm", "workers"):
            entry[f"peak_{role}_bytes"] = max(run["peak_bytes"][role] for run in own)
        for name in ("shuffle_bytes", "result_bytes", "map_task_s", "reduce_task_s", "nodes"):
            values = [run[name] for run in own if run.get(name) is not None]
            entry[name] = statistics.median(values) if values else None
        for system in _RIVALS:
            theirs = _of(runs, shape, system)
            if theirs:
                wall = median(theirs, "wall_s")
                entry[f"{system}_wall_s"] = wall
                entry[f"{system}_cpu_s"] = median(theirs, "cpu_total_s")
                entry[f"ratio_to_{system}"] = round(entry["wall_s"] / max(wall, 1e-9), 4)
        alone = [k for k in kernels if all(k[name] == shape[name] for name in shape if name in k)]
        if alone and shape["step"] == "fit":
            entry["kernels_s"] = median(alone, "kernels_s")
            entry["cpu_over_kernels"] = round(entry["cpu_s"] / max(entry["kernels_s"], 1e-9), 3)
        found.append(entry)
    return found


def growth_of(summary: Sequence[Run]) -> list[dict[str, Any]]:
    """How time follows rows, from each size to the next of the same shape and step."""
    found = []
    for small in summary:
        same = [
            large
            for large in summary
            if all(large[name] == small[name] for name in ("trees", "depth", "step"))
            and large["rows"] > small["rows"]
        ]
        for large in same:
            found.append(
                {
                    "step": small["step"],
                    "trees": small["trees"],
                    "depth": small["depth"],
                    "from_rows": small["rows"],
                    "to_rows": large["rows"],
                    "rows": round(large["rows"] / small["rows"], 3),
                    "time": round(large["wall_s"] / max(small["wall_s"], 1e-9), 3),
                    "cpu": round(large["cpu_s"] / max(small["cpu_s"], 1e-9), 3),
                }
            )
    return found


def median(runs: Iterable[Run], name: str) -> float:
    """Median of a figure, to four digits."""
    return round(float(statistics.median(run[name] for run in runs)), 4)


def markdown_of(result: Mapping[str, Any]) -> str:
    """The summary as Markdown tables."""
    heads = ["rows", "trees", "depth", "step", "seconds", "rows/s", "CPU s", "CPU / kernels"]
    heads += [head for name in _RIVALS.values() for head in (f"{name} s", "ratio")]
    heads += ["driver MiB above idle", "worker MiB", "shuffle MiB"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for entry in result["summary"]:
        cells = [
            f"{entry['rows']:,}", entry["trees"], entry["depth"], entry["step"],
            f"{entry['wall_s']:.2f}", f"{entry['rows_per_s']:,}", f"{entry['cpu_s']:.1f}",
            _shown(entry.get("cpu_over_kernels")),
            *(_shown(entry.get(f"{system}_wall_s" if of_time else f"ratio_to_{system}"))
              for system in _RIVALS for of_time in (True, False)),
            _mib(entry["peak_driver_above_idle_bytes"]), _mib(entry["peak_workers_bytes"]),
            _mib(entry.get("shuffle_bytes")),
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for each in result["growth"]:
        lines.append(
            f"\n{each['step']}, {each['trees']} trees, depth {each['depth']}: rows x {each['rows']}"
            f" ({each['from_rows']:,} -> {each['to_rows']:,}), time x {each['time']}, "
            f"CPU x {each['cpu']}"
        )
    if result.get("unit_costs"):
        lines += ["", "| kernel | unit | ns a unit | bytes a unit |", "|---|---|---|---|"]
        lines += [
            f"| {c['kernel']} | {c['unit']} | {c['ns']} | {c['bytes']} |"
            for c in result["unit_costs"]
        ]
    return "\n".join(lines)


def draw(summary: Sequence[Run], path: Path) -> None:
    """Plot seconds over rows, one line a system, one panel a step."""
    from matplotlib.figure import Figure

    steps = list(dict.fromkeys(entry["step"] for entry in summary)) or ["fit"]
    figure = Figure(figsize=(5.5 * len(steps), 4.2), layout="constrained")
    for place, step in enumerate(steps, 1):
        axes = figure.add_subplot(1, len(steps), place)
        shown = [entry for entry in summary if entry["step"] == step]
        for shape in dict.fromkeys((e["trees"], e["depth"]) for e in shown):
            here = [e for e in shown if (e["trees"], e["depth"]) == shape]
            name = f"{OURS}, {shape[0]} trees, depth {shape[1]}"
            _line(axes, here, "wall_s", name, "o-")
            for system, style in zip(_RIVALS, ("s--", "d-.", "^:"), strict=True):
                theirs = [e for e in here if f"{system}_wall_s" in e]
                _line(axes, theirs, f"{system}_wall_s", f"{system}, {shape[0]} trees", style)
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title=step)
        axes.grid(visible=True, which="both", alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def _line(axes: Any, entries: Sequence[Run], name: str, label: str, style: str) -> None:
    """One system's line, if it ran."""
    if entries:
        axes.plot([e["rows"] for e in entries], [e[name] for e in entries], style, label=label)


def _shapes(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Every (rows, trees, depth, step) of ours, in order."""
    names = ("rows", "trees", "depth", "step")
    keys = dict.fromkeys(tuple(r[n] for n in names) for r in runs if r["system"] == OURS)
    return [dict(zip(names, key, strict=True)) for key in keys]


def _of(runs: Sequence[Run], shape: Mapping[str, Any], system: str) -> list[Run]:
    """Runs of a system beside which ours of this shape ran; only ours has our depth."""
    names = ("rows", "trees", "step", *(("depth",) if system == OURS else ()))
    return [r for r in runs if r["system"] == system and all(r[n] == shape[n] for n in names)]


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _mib(value: float | None) -> str:
    return "" if value is None else f"{value / 2**20:,.0f}"


def _processor() -> str:
    """Name of the processor, where the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.processor()
