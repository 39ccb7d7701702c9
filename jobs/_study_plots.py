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
            for colour, setting in enumerate(("default", "encoding_share=0", "extra_trees")):
                points = sorted(
                    (epsilon, values[figure])
                    for (name, other, epsilon), values in means.items()
                    if (name, other) == (table, setting)
                )
                places = zip(*points, strict=True) if points else ([], [])
                axis.plot(*places, color=f"C{colour}", marker="o", label=setting)
            axis.set_xscale("log", base=2)
            axis.set_title(f"{table}: {figure}")
            axis.set_xlabel("epsilon")
    axes[0, 0].legend()
    grid.tight_layout()
    grid.savefig(results.parent / "budget.png", dpi=110)
    _draw_settings(_by_seed(results), results.parent / "settings.png", plt)


def _draw_settings(fits: dict[Key, dict[str, list[float]]], path: Path, plt: object) -> None:
    """Difference of each setting from the default over the seeds that both have, by figure."""
    settings = sorted({setting for _, setting, _ in fits} - {"default", "extra_trees"})
    tables = sorted({table for table, _, _ in fits})
    grid, axes = plt.subplots(1, 3, figsize=(14, 1 + 0.4 * len(settings)), sharey=True)  # type: ignore[attr-defined]
    for at, (axis, figure) in enumerate(zip(axes, FIGURES, strict=True)):
        for (table, setting, epsilon), values in sorted(fits.items()):
            usual = fits.get((table, "default", epsilon), {})
            common = values.keys() & usual.keys()
            if setting in settings and common:
                gap = float(np.mean([values[seed][at] - usual[seed][at] for seed in common]))
                colour = f"C{tables.index(table)}"
                axis.plot(gap, settings.index(setting), "o", alpha=0.6, color=colour)
        axis.axvline(0, color="grey", linewidth=0.7)
        axis.set_yticks(range(len(settings)), settings)
        axis.set_title(f"{figure}, minus that of the defaults")
    for at, table in enumerate(tables):
        axes[0].plot([], [], "o", color=f"C{at}", label=table)
    axes[0].legend(fontsize=7, loc="center left")
    grid.tight_layout()
    grid.savefig(path, dpi=110)


def _by_seed(results: Path) -> dict[Key, dict[str, list[float]]]:
    """Figures of each fit by (table, setting, epsilon) and seed."""
    from jobs.study import read_lines

    found: dict[Key, dict[str, list[float]]] = defaultdict(dict)
    for line in read_lines(results):
        key = (line["table"], line["setting"], float(line["epsilon"]))
        found[key][line["seed"]] = [float(line[figure]) for figure in FIGURES]
    return found


def _means(results: Path) -> dict[Key, dict[str, float]]:
    """Means over seeds of each (table, setting, epsilon)."""
    return {
        key: dict(zip(FIGURES, np.mean(list(fits.values()), axis=0), strict=True))
        for key, fits in _by_seed(results).items()
    }
