"""Score the held-out rows of a config with its model: accuracy beside the majority share.

    python jobs/evaluate.py conf/flights.yaml

The figures are exact and not private: publishing them beside the model is outside its guarantee.
Last line of standard output: rows, accuracy, majority, auc, log_loss, confusion.
"""

import argparse
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._config import JobConfig
from jobs._metrics import Metrics, finish_metrics, metrics_text, partial_metrics
from jobs._runner import Job, run_job
from jobs._session import open_session
from lumberjack_spark.model.scorer import Scorer, class_indices, probabilities

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOGGER = logging.getLogger("lumberjack_spark.jobs")
NOT_PRIVATE = "exact figures of the held-out rows, not private: no guarantee covers them"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    job = Job("evaluate", "Metrics on held-out rows; not private.", _run, _add_arguments)
    return run_job(job, arguments)


def evaluate(rows: "DataFrame", scorer: Scorer) -> Metrics:
    """Figures of the rows of a table whose label is declared.

    Raises:
        SchemaError: the table does not suit the schema.
        SparkFailureError: Spark failed.
    """
    from pyspark.sql import functions as sql

    from lumberjack_spark.spark.columns import select_columns
    from lumberjack_spark.spark.failures import spark_failures

    def score_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            raw = scorer.raw(batch)
            labels = scorer.reader.labels(batch)
            cells, values = partial_metrics(labels, probabilities(raw), class_indices(raw))
            yield pa.RecordBatch.from_arrays([pa.array(cells), pa.array(values)], ["cell", "value"])

    needed = select_columns(rows, scorer.schema, with_label=True)
    partial = needed.mapInArrow(score_partition, "cell long, value double")
    with spark_failures("evaluating"):
        summed = partial.groupBy("cell").agg(sql.sum("value").alias("value")).toArrow()
    cells, values = (summed[name].to_numpy() for name in ("cell", "value"))
    return finish_metrics(cells, values, len(scorer.schema.classes))


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """What this program understands besides."""
    parser.add_argument("--model", help="folder of the model; output.path if left out")


def _run(given: argparse.Namespace, config: JobConfig) -> dict[str, Any]:
    """The work."""
    from jobs._tables import held_out_rows, load_model_of, read_rows

    path = given.model or config.output.resolved_path()
    with open_session("evaluate") as session:
        scorer = load_model_of(session, path, config.schema).scorer
        rows = held_out_rows(read_rows(session, config.input), config.split)
        metrics = evaluate(rows, scorer)
    sys.stderr.write(
        f"Evaluation of {path}: {NOT_PRIVATE}.\n{metrics_text(metrics, scorer.schema.classes)}\n"
    )
    return {"model": path, **metrics.to_dict(), "private": False}


if __name__ == "__main__":
    sys.exit(main())
