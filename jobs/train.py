"""Train a private forest on the rows of a config that are not held out, and save it.

    python jobs/train.py conf/flights.yaml --set privacy.epsilon=0.5
    spark-submit --properties-file conf/spark-cluster.conf jobs/train.py conf/flights.yaml

Last line of standard output: model, epsilon, delta, trees, nodes, seconds. With --dry-run the plan
of all noise, without any data and without Spark.
"""

import argparse
import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._config import JobConfig
from jobs._forest import estimator_of, plan_summary, plan_text
from jobs._runner import Job, run_job
from jobs._session import open_session
from lumberjack_spark.ml import LumberjackClassifier

LOGGER = logging.getLogger("lumberjack_spark.jobs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    return run_job(Job("train", "Train a private forest.", _run, _add_arguments), arguments)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """What this program understands besides."""
    parser.add_argument("--dry-run", action="store_true", help="show the plan, touch no data")
    parser.add_argument(
        "--overwrite", action="store_true", help="replace a model that is at output.path"
    )


def _run(given: argparse.Namespace, config: JobConfig) -> dict[str, Any]:
    """The work."""
    started = time.monotonic()
    estimator = estimator_of(config)
    plan = estimator.plan()
    if given.dry_run:
        sys.stderr.write(
            f"Plan of the noise; no data was touched.\n{plan_text(plan, estimator.getSchema())}\n"
        )
        return plan_summary(plan, estimator.getSchema())
    overwrite = given.overwrite or config.output.overwrite
    path, nodes = _train(config, estimator, overwrite=overwrite)
    return {
        "model": path,
        "epsilon": plan.guarantee.epsilon,
        "delta": plan.guarantee.delta,
        "trees": plan.num_trees,
        "nodes": nodes,
        "seconds": round(time.monotonic() - started, 1),
    }


def _train(
    config: JobConfig, estimator: LumberjackClassifier, *, overwrite: bool
) -> tuple[str, int]:
    """Path and number of nodes of the model that was saved."""
    from jobs._tables import check_output_is_free, read_rows, training_rows

    config.output.resolved_path()  # named before Spark takes its time to start
    with open_session("train") as session:
        path = check_output_is_free(session, config.output, overwrite=overwrite)
        rows = training_rows(read_rows(session, config.input), config.split)
        model = estimator.fit(rows)
        writer = model.write().session(session)
        (writer.overwrite() if overwrite else writer).save(path)
        LOGGER.info("saved %s with its certificate", path)
        return path, model.totalNumNodes


if __name__ == "__main__":
    sys.exit(main())
