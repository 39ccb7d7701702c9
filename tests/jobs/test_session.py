"""The Spark session of a job, as far as it can be seen without starting one."""

import sys
import zipfile

import pytest

from jobs import _session
from lumberjack_spark.errors import SparkFailureError


class Builder:
    """Stands for SparkSession.builder: remembers properties, gives itself as the session."""

    def __init__(self, fails=False):
        self.properties, self.fails, self.archives, self.stopped = {}, fails, [], False

    def appName(self, name):
        self.properties["name"] = name
        return self

    def config(self, name, value):
        self.properties[name] = value
        return self

    def getOrCreate(self):
        if self.fails:
            raise RuntimeError("row (Alice, 42)")
        return self

    def addArtifacts(self, path, *, pyfile):
        assert pyfile
        with zipfile.ZipFile(path) as archive:
            self.archives.append(archive.namelist())

    def stop(self):
        self.stopped = True


@pytest.fixture
def builder(monkeypatch, tmp_path):
    from pyspark.sql import SparkSession

    made = Builder()
    monkeypatch.setattr(SparkSession, "builder", made)
    monkeypatch.setattr(_session, "_session_of_others", lambda: None)
    monkeypatch.setattr(_session.tempfile, "tempdir", str(tmp_path))
    for name in (*_session._ELSEWHERE, "PYTHONPATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, "another-python")
    return made


def logs_in(folder):
    return list(folder.glob("lumberjack-spark-*.log"))


def test_plain_python_gets_a_local_session_whose_workers_run_this_python(builder, tmp_path):
    with _session.open_session("train") as session:
        assert session is builder
        assert builder.properties["spark.master"] == "local[*]"
        assert builder.properties["name"] == "lumberjack_spark train"
        assert _session.os.environ["PYSPARK_PYTHON"] == sys.executable
        assert _session.os.environ["PYTHONPATH"] == str(_session.ROOT)
        (log,) = logs_in(tmp_path)
        assert log.stat().st_mode & 0o077 == 0
        options = builder.properties["spark.driver.extraJavaOptions"]
        assert f"-Dlumberjack.log={log}" in options
        assert "spark-log4j2.properties" in options
        assert not builder.archives
    assert builder.stopped
    assert logs_in(tmp_path) == []


@pytest.mark.parametrize("variable", _session._ELSEWHERE)
def test_spark_submit_and_connect_keep_their_settings_and_get_the_packages_files(
    builder, monkeypatch, variable
):
    monkeypatch.setenv(variable, "something")
    with _session.open_session("train"):
        assert builder.properties == {"name": "lumberjack_spark train"}
        assert _session.os.environ["PYSPARK_PYTHON"] == "another-python"
        (names,) = builder.archives
        assert {"lumberjack_spark/__init__.py", "lumberjack_spark/ml/classifier.py"} <= set(names)
        assert all(name.endswith(".py") for name in names)
    assert builder.stopped


def test_a_session_that_is_there_is_neither_changed_nor_stopped(builder, monkeypatch):
    monkeypatch.setattr(_session, "_session_of_others", lambda: builder)
    with _session.open_session("train") as session:
        assert session is builder
    assert builder.properties == {}
    assert not builder.archives
    assert not builder.stopped


def test_the_log_of_a_failure_is_kept_and_named(builder, tmp_path, caplog):
    def work():
        with _session.open_session("train"):
            logs_in(tmp_path)[0].write_text("row (Alice, 42)", encoding="utf-8")
            raise SparkFailureError("training failed")

    with pytest.raises(SparkFailureError):
        work()
    (log,) = logs_in(tmp_path)
    assert str(log) in caplog.text
    assert "Alice" not in caplog.text
    assert builder.stopped


def test_a_session_that_does_not_start_is_a_spark_failure_that_says_what_is_needed(
    builder, tmp_path
):
    builder.fails = True
    with pytest.raises(SparkFailureError, match="Java 17") as caught:
        _session.open_session("train").__enter__()
    assert "Alice" not in str(caught.value)
    assert caught.value.__context__ is None
    assert logs_in(tmp_path) == []


def test_property_files_hold_a_name_and_a_value_a_line():
    assert _session.laptop_properties()["spark.driver.memory"] == "2g"
    for file in (_session.ROOT / "conf").glob("spark-*.conf"):
        for line in file.read_text(encoding="utf-8").splitlines():
            assert not line.strip() or line.startswith("#") or len(line.split()) == 2, line
