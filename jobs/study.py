"""How the defaults were chosen: fits over tables, budgets and settings, without Spark.

    python jobs/study.py --data DIR --tables adult,acs_texas --epsilons 1,4 --settings default
    python jobs/study.py --plot

Each fit adds a line to jobs/study_results/study.csv; fits that are there are not done again.
Figures are on held-out rows, so they are not private: the study serves to choose one set of
defaults for all tables, on tables that are public.
Settings   "default", or changes to it: "num_trees=15", "leaf_share=0.4+encoding_share=0.1",
           "encoding_share=0" (the paper's trees), "wide" (numeric bounds 100 times too wide),
           "extra_trees" (scikit-learn's, depth 15, not private).
"""

import argparse
import csv
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._study_tables import load_table, split_rows
from lumberjack_spark.defaults import FitDefaults, fit_defaults
from lumberjack_spark.encoding import marginal_histograms
from lumberjack_spark.model import ForestModel
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import NoisePlan, make_plan
from lumberjack_spark.schema import DataSchema, Numeric, RowReader
from lumberjack_spark.training import LocalBackend, fit_forest

LOGGER = logging.getLogger("lumberjack_spark.jobs")
RESULTS = Path(__file__).resolve().parent / "study_results"
DELTA = 1e-6
FIELDS = (
    "table",
    "setting",
    "epsilon",
    "seed",
    "accuracy",
    "auc",
    "log_loss",
    "nodes",
    "threshold",
    "leaf_sigma",
    "seconds",
)
_WHOLE = ("num_trees", "max_depth", "min_exact_count")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    parser = argparse.ArgumentParser(description="Study of the defaults.")
    parser.add_argument("--data", default=os.environ.get("LUMBERJACK_DATA"), type=Path)
    parser.add_argument("--tables", default="adult,acs_texas")
    parser.add_argument("--epsilons", default="0.5,1,2,4")
    parser.add_argument("--settings", default="default")
    parser.add_argument("--seeds", default=5, type=int)
    parser.add_argument("--test-fraction", default=0.1, type=float)
    parser.add_argument("--results", default=RESULTS / "study.csv", type=Path)
    parser.add_argument("--plot", action="store_true", help="draw what is there, fit nothing")
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if given.plot:
        from jobs._study_plots import draw_plots

        draw_plots(given.results)
        return 0
    given.results.parent.mkdir(parents=True, exist_ok=True)
    for name in given.tables.split(","):
        _study_table(name, given)
    return 0


def _study_table(name: str, given: argparse.Namespace) -> None:
    """All fits of one table that are not there yet."""
    schema, rows = load_table(name, given.data)
    done = {tuple(line[field] for field in FIELDS[:4]) for line in read_lines(given.results)}
    for seed in range(given.seeds):
        training, test = split_rows(rows, salt=seed, test_fraction=given.test_fraction)
        for setting in given.settings.split(","):
            for epsilon in given.epsilons.split(","):
                if (name, setting, epsilon, str(seed)) in done:
                    continue
                run = _extra_trees if setting == "extra_trees" else _private_forest
                figures = run(schema, training, test, setting, float(epsilon), seed)
                line = dict(table=name, setting=setting, epsilon=epsilon, seed=seed, **figures)
                _append(given.results, line)
                LOGGER.info("%s", " ".join(f"{line.get(field, '')}" for field in FIELDS))


def plan_of(schema: DataSchema, epsilon: float, setting: str) -> NoisePlan:
    """Plan of a setting: the defaults, but for what the setting says."""
    chosen = fit_defaults(
        epsilon=epsilon,
        delta=DELTA,
        n_features=len(schema.features),
        n_classes=len(schema.classes),
        encoding_share=0.0 if "encoding_share=0" in setting.split("+") else None,
    )
    for change in setting.split("+"):
        if "=" in change:
            field, value = change.split("=")
            typed: Any = int(value) if field in _WHOLE else float(value)
            chosen = replace(chosen, **{field: typed})
    return _plan(schema, epsilon, chosen)


def _plan(schema: DataSchema, epsilon: float, chosen: FitDefaults) -> NoisePlan:
    """Plan of these choices."""
    share = chosen.encoding_share
    return make_plan(
        epsilon=epsilon,
        delta=DELTA,
        num_trees=chosen.num_trees,
        max_depth=chosen.max_depth,
        min_exact_count=chosen.min_exact_count,
        leaf_share=chosen.leaf_share,
        marginal_share=share,
        histograms=marginal_histograms(schema) if share > 0 else 0,
    )


def _private_forest(
    schema: DataSchema, training: pa.Table, test: pa.Table, setting: str, epsilon: float, seed: int
) -> dict[str, Any]:
    """Figures of a private forest."""
    if "wide" in setting.split("+"):
        schema = widened(schema)
    plan = plan_of(schema, epsilon, setting)
    started = time.monotonic()
    backend = LocalBackend([training.to_batches()])
    forest = fit_forest(backend, schema, plan, seed=seed, key=NoiseKey.fresh())
    seconds = time.monotonic() - started
    model = ForestModel.of_release(forest, schema=schema, plan=plan, seed=seed, private_key=True)
    raw = np.concatenate([model.predict_raw(batch) for batch in test.to_batches()])
    return {
        **_figures(raw / raw.sum(axis=1, keepdims=True), _labels(schema, test)),
        "nodes": len(forest.structure.nodes),
        "threshold": plan.bits.threshold,
        "leaf_sigma": round(float(getattr(plan.leaves, "sigma", 0.0)), 2),
        "seconds": round(seconds, 1),
    }


def widened(schema: DataSchema) -> DataSchema:
    """The same columns with bounds 100 times as wide for every number that is no category."""

    def wide(declared: Any) -> Any:
        if not isinstance(declared, Numeric) or declared.as_categories:
            return declared
        more = 49.5 * (declared.max - declared.min)
        return replace(declared, min=declared.min - more, max=declared.max + more)

    columns = {name: wide(declared) for name, declared in schema.columns.items()}
    return DataSchema(columns, schema.label, schema.classes)


def _extra_trees(
    schema: DataSchema, training: pa.Table, test: pa.Table, _: str, epsilon: float, seed: int
) -> dict[str, Any]:
    """Figures of extremely randomised trees on the same rows and features; epsilon is unused."""
    from sklearn.ensemble import ExtraTreesClassifier

    del epsilon
    started = time.monotonic()
    trees = ExtraTreesClassifier(100, max_depth=15, random_state=seed)
    labels = _labels(schema, training)
    trees.fit(_matrix(schema, training)[labels >= 0], labels[labels >= 0])
    seconds = round(time.monotonic() - started, 1)
    shares = trees.predict_proba(_matrix(schema, test))
    return {**_figures(shares, _labels(schema, test)), "seconds": seconds}


def _matrix(schema: DataSchema, rows: pa.Table) -> np.ndarray:
    """Clean columns as float64[n, d]; categories as their codes, missing numbers below all."""
    reader = RowReader(schema)
    parts = [np.stack(reader.features(batch), axis=1) for batch in rows.to_batches()]
    lowest = min(float(np.nanmin(part)) for part in parts)
    return np.nan_to_num(np.concatenate(parts).astype(np.float64), nan=lowest - 1)


def _labels(schema: DataSchema, rows: pa.Table) -> np.ndarray:
    """Class of each row, -1 if not declared."""
    reader = RowReader(schema)
    return np.concatenate([reader.labels(batch) for batch in rows.to_batches()])


def _figures(shares: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Accuracy, area under the ROC curve (mean over classes) and log loss in nats."""
    from sklearn.metrics import roc_auc_score

    shares, labels = shares[labels >= 0], labels[labels >= 0]
    of_truth = np.maximum(shares[np.arange(len(labels)), labels], 1e-12)
    first = 1 if shares.shape[1] == 2 else 0
    areas = [roc_auc_score(labels == k, shares[:, k]) for k in range(first, shares.shape[1])]
    return {
        "accuracy": round(float((shares.argmax(axis=1) == labels).mean()), 5),
        "auc": round(float(np.mean(areas)), 5),
        "log_loss": round(float(-np.log(of_truth).mean()), 5),
    }


def read_lines(path: Path) -> Iterator[dict[str, str]]:
    """Lines of earlier fits."""
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)


def _append(path: Path, line: dict[str, Any]) -> None:
    """Add one line, with a header if it is the first."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, restval="")
        if is_new:
            writer.writeheader()
        writer.writerow(line)


if __name__ == "__main__":
    sys.exit(main())
