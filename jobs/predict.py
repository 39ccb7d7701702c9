"""Write the rows of a config's input with predictions beside their columns.

    python jobs/predict.py conf/flights.yaml --to predictions --set input.path=new.parquet

Adds `predictedLabel` and `probability` (one share for each declared class, in their order). The
label need not be in the table. What is written holds rows: it is for their owner, not released.
Last line of standard output: predictions, model, seconds.
"""

import argparse
import logging
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._config import JobConfig
from jobs._runner import Job, run_job
from jobs._session import open_session
from lumberjack_spark.errors import SchemaError
from lumberjack_spark.spark.failures import failure_kind, spark_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LOGGER = logging.getLogger("lumberjack_spark.jobs")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    job = Job("predict", "Write rows with their predictions.", _run, _add_arguments)
    return run_job(job, arguments)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """What this program understands besides."""
    parser.add_argument("--to", required=True, help="folder to write to")
    parser.add_argument("--model", help="folder of the model; output.path if left out")
    parser.add_argument("--format", default="parquet", help="a format of Spark's writer")
    parser.add_argument("--overwrite", action="store_true", help="replace what is at --to")
    parser.add_argument(
        "--held-out", action="store_true", help="only rows that training does not see"
    )


def _run(given: argparse.Namespace, config: JobConfig) -> dict[str, Any]:
    """The work."""
    from jobs._tables import held_out_rows, load_model_of, read_rows
    from lumberjack_spark.ml import LumberjackClassificationModel

    started = time.monotonic()
    path = given.model or config.output.resolved_path()
    with open_session("predict") as session:
        forest = load_model_of(session, path, config.schema)
        rows = read_rows(session, config.input)
        if given.held_out:
            rows = held_out_rows(rows, config.split)
        model = LumberjackClassificationModel(forest)
        scored = _plain(model.setRawPredictionCol("").setPredictionCol("").transform(rows), given)
        with spark_failures("writing predictions"):
            _write(scored, given)
    LOGGER.info("wrote %s", given.to)
    return {
        "predictions": given.to,
        "model": path,
        "seconds": round(time.monotonic() - started, 1),
    }


def _write(scored: "DataFrame", given: argparse.Namespace) -> None:
    """Write the rows; nothing is written over unless it was asked for."""
    writer = scored.write.format(given.format).mode("overwrite" if given.overwrite else "error")
    try:
        writer.save(given.to)
    except Exception as error:
        if "PATH_ALREADY_EXISTS" not in failure_kind(error):
            raise
    else:
        return
    raise SchemaError(f"--to {given.to!r} must not exist yet: choose another, or give --overwrite")


def _plain(scored: "DataFrame", given: argparse.Namespace) -> "DataFrame":
    """Scores in types that the format can hold: an array, or JSON text in a text format."""
    from pyspark.ml.functions import vector_to_array
    from pyspark.sql import functions as sql

    shares = vector_to_array(sql.col("probability"))
    in_text = given.format.lower() in ("csv", "text")
    return scored.withColumn("probability", sql.to_json(shares) if in_text else shares)


if __name__ == "__main__":
    sys.exit(main())
