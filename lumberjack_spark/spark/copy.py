"""A copy of the columns to train from: read once from a table that may change between reads.

All passes of a fit must see the same rows. A table made by rand(), an unordered limit, or files
that change in between do not promise that; a copy does.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from lumberjack_spark.spark._classic_files import remove_folder
from lumberjack_spark.spark.failures import spark_failures


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
        with spark_failures("copying rows"):
            rows.toDF(*plain).write.parquet(path)
        yield session.read.parquet(path).toDF(*names)
    finally:
        if not remove_folder(session, path):
            # The data go; an empty folder stays.
            with spark_failures("removing the copy of rows"):
                empty = session.createDataFrame([], "c0 int")
                empty.write.mode("overwrite").parquet(path)
