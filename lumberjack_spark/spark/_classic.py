"""What only a classic Spark session offers; every function has an answer for Spark Connect too."""

from pyspark.sql import SparkSession


def parallelism(session: SparkSession) -> int:
    """Tasks that can run at once; on Connect, where nobody tells, the shuffle's usual number."""
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except Exception:  # Connect raises its own error types, or AttributeError
        return max(1, int(session.conf.get("spark.sql.shuffle.partitions", "200")))
