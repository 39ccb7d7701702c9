"""What only a classic Spark session offers; every function has an answer for Spark Connect too."""

from pyspark.sql import SparkSession


def parallelism(session: SparkSession) -> int:
    """Tasks that can run at once; on Connect, where nobody tells, the shuffle's usual number."""
    try:
        return max(1, int(session.sparkContext.defaultParallelism))
    except Exception:  # Connect raises its own error types, or AttributeError
        return max(1, int(session.conf.get("spark.sql.shuffle.partitions") or 200))


def running_tasks(session: SparkSession) -> tuple[int, int] | None:
    """(done, all) tasks of the stages that run now, whoever started them; None on Connect."""
    try:
        tracker = session.sparkContext.statusTracker()
        infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    except Exception:  # Connect has no status tracker; progress must never fail a fit
        return None
    running = [info for info in infos if info is not None]
    if not running:
        return None
    return sum(i.numCompletedTasks for i in running), sum(i.numTasks for i in running)
