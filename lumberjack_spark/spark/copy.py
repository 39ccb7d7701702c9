"""A copy of the columns to train from: read once from a table that may change between reads.

All passes of a fit must see the same rows. A table made by rand(), an unordered limit, or files
that change in between do not promise that; a copy does.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

from lumberjack_spark.spark._classic_files import remove_folder
from lumberjack_spark.spark.failures import without_rows

_STRAGGLERS_SECONDS = 1.0


@contextmanager
def copied(rows: DataFrame, folder: str) -> Iterator[DataFrame]:
    """The same rows from a copy, which is removed at the end, also after a failure.

    Args:
        rows: the table; its columns keep their names.
        folder: where the copy goes, under a new name; a path that driver and executors reach.

    Raises:
        SparkFailureError: the copy could not be written.
    """
    session = rows.sparkSession
    path = f"{folder.rstrip('/')}/lumberjack-rows-{os.getpid()}-{time.time_ns()}"
    names = rows.columns
    plain = [f"c{i}" for i in range(len(names))]  # any name suits Spark, not any name Parquet
    try:
        without_rows("copying rows", lambda: rows.toDF(*plain).write.parquet(path))
        yield session.read.parquet(path).toDF(*names)
    except BaseException:
        _remove(session, path)
        time.sleep(_STRAGGLERS_SECONDS)  # tasks of a failed job may still be writing
        raise
    finally:
        _remove(session, path)


def _remove(session: SparkSession, path: str) -> None:
    """Remove the copy, or at least its data where a session cannot remove folders."""
    if not remove_folder(session, path):
        empty = session.range(0)
        without_rows(
            "removing the copy of rows", lambda: empty.write.mode("overwrite").parquet(path)
        )
