"""Count the rows that each row rule touches, so that declarations can be judged. Not private.

    python jobs/check.py conf/flights.yaml --yes-not-private

The counts are exact and for the data's owner alone. Bounds or categories that are changed because
of them come from the data: the guarantee takes them as public, so it no longer covers them.
Last line of standard output: rows, left_out, touched.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from jobs._config import JobConfig
from jobs._row_rules import RuleCounter, rule_names
from jobs._runner import Job, run_job
from jobs._session import open_session
from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import DataSchema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WORDS = {
    "below": "below min, moved to it",
    "above": "above max, moved to it",
    "other": "not declared, read as 'other'",
    "missing": "missing, read by the declared rule",
}
_LABEL_WORDS = {
    "missing": "label missing, left out",
    "not_declared": "label not declared, left out",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with a command line, this process's own if None; gives the exit code."""
    job = Job("check", "Count rows by row rule; not private.", _run, _add_arguments)
    return run_job(job, arguments)


def count_rows(rows: "DataFrame", schema: DataSchema) -> tuple[int, np.ndarray]:
    """Number of rows of a table, and int64[n_rules] of them that each rule touches.

    Raises:
        SchemaError: the table does not suit the schema.
        SparkFailureError: Spark failed.
    """
    from pyspark.sql import functions as sql

    from lumberjack_spark.spark.columns import select_columns
    from lumberjack_spark.spark.failures import spark_failures

    n_rules = len(rule_names(schema))

    def count_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts, counter = np.zeros(n_rules + 1, np.int64), RuleCounter(schema)
        for batch in batches:
            counts += np.append(counter.touched(batch), batch.num_rows)
        columns = [pa.array(np.arange(n_rules + 1)), pa.array(counts)]
        yield pa.RecordBatch.from_arrays(columns, ["rule", "touched"])

    needed = select_columns(rows, schema, with_label=True)
    partial = needed.mapInArrow(count_partition, "rule long, touched long")
    with spark_failures("counting rows"):
        summed = partial.groupBy("rule").agg(sql.sum("touched").alias("touched")).toArrow()
    found = np.zeros(n_rules + 1, np.int64)
    found[summed["rule"].to_numpy()] = summed["touched"].to_numpy()
    return int(found[-1]), found[:-1]


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    """What this program understands besides."""
    parser.add_argument(
        "--yes-not-private",
        action="store_true",
        help="confirm that exact counts of the table may be shown",
    )


def _run(given: argparse.Namespace, config: JobConfig) -> dict[str, Any]:
    """The work."""
    if not given.yes_not_private:
        raise SchemaError(
            "--yes-not-private must be given: this program shows exact counts of the table, which "
            "no guarantee covers"
        )
    from jobs._tables import read_rows

    schema = config.schema
    with open_session("check") as session:
        rows, counts = count_rows(read_rows(session, config.input), schema)
    touched: dict[str, dict[str, int]] = {}
    for (name, rule), count in zip(rule_names(schema), counts.tolist(), strict=True):
        touched.setdefault(name, {})[rule] = count
    left_out = sum(touched.pop(schema.label).values())
    sys.stderr.write(_report(rows, counts, schema))
    return {"rows": rows, "left_out": left_out, "touched": touched, "private": False}


def _report(rows: int, counts: np.ndarray, schema: DataSchema) -> str:
    """Counts above zero for people to read."""
    lines = [f"Row rules, exact counts, not private: {rows} rows"]
    for position, (name, rule) in enumerate(rule_names(schema)):
        if counts[position]:
            words = _LABEL_WORDS[rule] if name == schema.label else _WORDS[rule]
            lines.append(f"  {name:<24}{counts[position]:>12}  {words}")
    if len(lines) == 1:
        lines.append("  no rule touches any row")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
