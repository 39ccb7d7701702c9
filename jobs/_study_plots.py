"""Plots of the study's table: figures against epsilon, and what each setting changes."""

from collections import defaultdict
from pathlib import Path

import numpy as np

FIGURES = ("accuracy", "auc", "log_loss")

Key = tuple[str, str, float]


def draw_plots(results: Path) -> None:
    """Write budget.png and settings.png beside the table of results."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    means = _means(results)
    tables = sorted({table for table, _, _ in means})
    grid, axes = plt.subplots(len(tables), 3, figsize=(12, 3 * len(tables)), squeeze=False)
    for row, table in zip(axes, tables, strict=True):
        for axis, figure in zip(row, FIGURES, strict=True):
            for setting in ("default", "encoding_share=0", "extra_trees"):
                points = sorted(
                    (epsilon, values[figure])
                    for (name, other, epsilon), values in means.items()
                    if (name, other) == (table, setting)
                )
                if points:
                    axis.plot(*zip(*points, strict=True), marker="o", label=setting)
            axis.set_xscale("log", base=2)
            axis.set_title(f"{table}: {figure}")
            axis.set_xlabel("epsilon")
    axes[0, 0].legend()
    grid.tight_layout()
    grid.savefig(results.parent / "budget.png", dpi=110)
    _draw_settings(means, results.parent / "settings.png", plt)


def _draw_settings(means: dict[Key, dict[str, float]], path: Path, plt: object) -> None:
    """Difference of each setting from the default, by figure; one mark a table and epsilon."""
    settings = sorted({setting for _, setting, _ in means} - {"default", "extra_trees"})
    grid, axes = plt.subplots(1, 3, figsize=(14, 1 + 0.4 * len(settings)), sharey=True)  # type: ignore[attr-defined]
    for axis, figure in zip(axes, FIGURES, strict=True):
        for (table, setting, epsilon), values in sorted(means.items()):
            usual = means.get((table, "default", epsilon))
            if setting in settings and usual is not None:
                place = settings.index(setting)
                axis.plot(values[figure] - usual[figure], place, "o", alpha=0.6)
                label = f" {table} {epsilon:g}"
                axis.annotate(label, (values[figure] - usual[figure], place), fontsize=5)
        axis.axvline(0, color="grey", linewidth=0.7)
        axis.set_yticks(range(len(settings)), settings)
        axis.set_title(f"{figure}, minus that of the defaults")
    grid.tight_layout()
    grid.savefig(path, dpi=110)


def _means(results: Path) -> dict[Key, dict[str, float]]:
    """Means over seeds of each (table, setting, epsilon)."""
    from jobs.study import read_lines

    found: dict[Key, list[list[float]]] = defaultdict(list)
    for line in read_lines(results):
        key = (line["table"], line["setting"], float(line["epsilon"]))
        found[key].append([float(line[figure]) for figure in FIGURES])
    return {
        key: dict(zip(FIGURES, np.mean(values, axis=0), strict=True))
        for key, values in found.items()
    }
