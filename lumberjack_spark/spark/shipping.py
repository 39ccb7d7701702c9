"""How a forest reaches the workers: within the function that scores, or as a file of the session.

Classic    sessions broadcast a large function by themselves.
Connect    a function travels within each query, which a server refuses beyond 128 MiB and holds in
           memory several times below that; a large forest goes there once, as an artifact.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable

from pyspark.sql import SparkSession

from lumberjack_spark.model.packed_scorer import read_scorer, write_scorer
from lumberjack_spark.model.scorer import Scorer
from lumberjack_spark.spark.failures import failure_kind, without_rows

MOST_INLINE_BYTES = 16 << 20


def shipped(scorer: Scorer, session: SparkSession) -> Callable[[], Scorer]:
    """A small function that gives the scorer on a worker.

    Raises:
        SparkFailureError: the session did not take the file.
    """
    size = scorer.structure.nodes.nbytes + scorer.leaf_values.nbytes
    if size <= MOST_INLINE_BYTES or not is_connect(session):
        return lambda: scorer
    name = _upload(scorer, session)

    def from_file() -> Scorer:
        from pyspark import SparkFiles

        return read_scorer(SparkFiles.get(name))

    return from_file


def is_connect(session: SparkSession) -> bool:
    """Whether a session talks to a Spark Connect server."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def _upload(scorer: Scorer, session: SparkSession) -> str:
    """Name of the scorer's file in the session; a file that is there already is taken."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scorer")
        write_scorer(scorer, path)
        with open(path, "rb") as file:
            name = f"lumberjack-{hashlib.file_digest(file, 'sha256').hexdigest()[:32]}.arrow"
        named = os.path.join(folder, name)
        os.rename(path, named)
        without_rows("sending the forest", lambda: _add_artifact(session, named))
    return name


def _add_artifact(session: SparkSession, path: str) -> None:
    """Send a file to a session, unless it has one of that name."""
    try:
        session.addArtifacts(path, file=True)
    except Exception as error:
        if "ALREADY_EXISTS" not in failure_kind(error):
            raise
