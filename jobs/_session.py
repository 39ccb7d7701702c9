"""The Spark session of a job.

Active     a session that is there already is used: nothing is configured on it or stopped.
Elsewhere  under spark-submit or Spark Connect their own settings say what the session is; workers
           are sent the files of the package, which may not be installed there.
Otherwise  local[*] with the properties of conf/spark-laptop.conf. Workers start this interpreter,
           and Spark's log goes to a file of this user alone: it may quote rows.
"""

import importlib.util
import logging
import os
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lumberjack_spark.errors import SparkFailureError
from lumberjack_spark.spark.failures import failure_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOGGER = logging.getLogger("lumberjack_spark.jobs")
ROOT = Path(__file__).resolve().parents[1]
_CONF = ROOT / "conf"
# Set by spark-submit, by users who choose a master for plain python, and for Spark Connect.
_ELSEWHERE = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE")


@contextmanager
def open_session(job: str) -> Iterator["SparkSession"]:
    """The session to work with; one that was made here is stopped at the end.

    Args:
        job: shown as the name of the Spark application.

    Raises:
        SparkFailureError: Spark did not start.
    """
    from pyspark.sql import SparkSession

    # What the package does with pandas works with pandas 3.
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    active = _session_of_others()
    if active is not None:
        yield active
        return
    builder: Any = SparkSession.builder
    builder = builder.appName(f"lumberjack_spark {job}")
    opened = _elsewhere if any(name in os.environ for name in _ELSEWHERE) else _on_this_machine
    with opened(builder) as session:
        try:
            yield session
        finally:
            session.stop()


def _session_of_others() -> "SparkSession | None":
    """A session that runs already, also one that another thread started."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None or importlib.util.find_spec("pyspark.core") is None:
        return active
    from pyspark import SparkContext

    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.builder.getOrCreate()


@contextmanager
def _elsewhere(builder: Any) -> Iterator["SparkSession"]:
    """A session that spark-submit or the environment describes."""
    with tempfile.TemporaryDirectory() as folder:
        session = _started(builder)
        if (ROOT / "lumberjack_spark" / "__init__.py").is_file():
            archive = Path(folder) / "lumberjack_spark.zip"
            _zip_package(archive)
            session.addArtifacts(str(archive), pyfile=True)
        # The folder stays until the end: Spark may serve the file from there.
        yield session


@contextmanager
def _on_this_machine(builder: Any) -> Iterator["SparkSession"]:
    """A local session of our own."""
    # Read when the JVM starts, and by it when it starts workers.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(ROOT) not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), *paths]))
    handle, log_file = tempfile.mkstemp(prefix="lumberjack-spark-", suffix=".log")
    os.close(handle)
    for name, value in laptop_properties().items():
        builder = builder.config(name, value)
    layout = (_CONF / "spark-log4j2.properties").as_uri()
    options = f"-Dlog4j2.configurationFile={layout} -Dlumberjack.log={log_file}"
    try:
        yield _started(builder.config("spark.driver.extraJavaOptions", options))
    except SparkFailureError:
        if os.path.getsize(log_file):
            LOGGER.error("Spark's own log, which may quote rows: %s", log_file)
        else:
            _remove(log_file)
        raise
    except BaseException:
        _remove(log_file)
        raise
    _remove(log_file)


def laptop_properties() -> dict[str, str]:
    """Properties of conf/spark-laptop.conf."""
    lines = (_CONF / "spark-laptop.conf").read_text(encoding="utf-8").splitlines()
    pairs = [line.split(None, 1) for line in lines if line.strip() and line[0] != "#"]
    return {name: value.strip() for name, value in pairs}


def _started(builder: Any) -> "SparkSession":
    """The session, or an error that says what is missing."""
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:
        failure = SparkFailureError(
            f"Spark did not start: {failure_kind(error)}; it needs Java 17 or newer, on the PATH "
            "or named by JAVA_HOME"
        )
    else:
        return session
    raise failure from None


def _zip_package(archive: Path) -> None:
    """Write the package's source files into a zip file from which Python imports."""
    package = ROOT / "lumberjack_spark"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(package.rglob("*.py")):
            made.write(file, file.relative_to(ROOT))


def _remove(file: str) -> None:
    """Remove a file where the system lets us."""
    with suppress(OSError):
        os.unlink(file)
