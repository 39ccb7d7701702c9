"""Models saved and loaded through tables, as on a file system of the cluster's."""

import json

import pytest

from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model import load_model
from lumberjack_spark.model.saved_format import SavedModel
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.spark import storage
from lumberjack_spark.spark._classic_files import local_path
from tests.small_models import fit_small, small_plan, small_table

OLD = fit_small()
NEW = fit_small(key=NoiseKey.injected(bytes(32)), plan=small_plan(num_trees=2))


def scores(model):
    return model.predict(small_table(100)).raw.tolist()


def test_paths_without_a_session_are_local():
    assert local_path(None, "/a/b") == "/a/b"
    assert local_path(None, "a/b:c") == "a/b:c"
    assert local_path(None, "file:/a/b") == "/a/b"
    assert local_path(None, "file:///a/b") == "/a/b"
    assert local_path(None, "hdfs://host/a") is None
    assert local_path(None, "s3a://bucket/a") is None


@pytest.mark.spark
def test_a_path_belongs_to_the_file_system_of_the_session(spark):
    assert local_path(spark, "/a/b") == "/a/b"
    assert local_path(spark, "dbfs:/a/b") is None


@pytest.fixture
def elsewhere(monkeypatch):
    """Paths are taken for those of a cluster's file system."""
    monkeypatch.setattr(storage, "local_path", lambda session, path: None)


@pytest.mark.spark
@pytest.mark.usefixtures("elsewhere")
def test_a_model_goes_through_tables_and_back(spark, tmp_path, monkeypatch):
    path = str(tmp_path / "model")
    saved = SavedModel(OLD, "uid_1", {"predictionCol": "p"})
    storage.save_anywhere(saved, path, session=spark)
    loaded = storage.load_anywhere(path, session=spark)
    assert (loaded.uid, loaded.params) == ("uid_1", {"predictionCol": "p"})
    assert scores(loaded.model) == scores(OLD)
    assert scores(load_model(path)) == scores(OLD)
    with pytest.raises(FileExistsError):
        storage.save_anywhere(saved, path, session=spark)
    storage.save_anywhere(SavedModel(NEW), path, session=spark, overwrite=True)
    assert scores(storage.load_anywhere(path, session=spark).model) == scores(NEW)
    assert scores(load_model(path)) == scores(NEW)
    # A local overwrite in between, and another one through tables.
    OLD.save(path, overwrite=True)
    assert scores(storage.load_anywhere(path, session=spark).model) == scores(OLD)
    storage.save_anywhere(SavedModel(NEW), path, session=spark, overwrite=True)
    assert scores(load_model(path)) == scores(NEW)


@pytest.mark.spark
@pytest.mark.usefixtures("elsewhere")
def test_an_interrupted_overwrite_leaves_the_old_model(spark, tmp_path, monkeypatch):
    path = str(tmp_path / "model")
    storage.save_anywhere(SavedModel(OLD), path, session=spark)

    def stopped(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(storage, "metadata_line", stopped)
        with pytest.raises(KeyboardInterrupt):
            storage.save_anywhere(SavedModel(NEW), path, session=spark, overwrite=True)
    assert scores(storage.load_anywhere(path, session=spark).model) == scores(OLD)
    storage.save_anywhere(SavedModel(NEW), path, session=spark, overwrite=True)
    assert scores(storage.load_anywhere(path, session=spark).model) == scores(NEW)


@pytest.mark.spark
@pytest.mark.usefixtures("elsewhere")
def test_what_a_path_holds_instead_is_named(spark, tmp_path):
    with pytest.raises(ModelFormatError, match="no saved model is there"):
        storage.load_anywhere(str(tmp_path / "none"), session=spark)
    (tmp_path / "stage" / "metadata").mkdir(parents=True)
    line = json.dumps({"class": "pyspark.ml.pipeline.PipelineModel"})
    (tmp_path / "stage" / "metadata" / "part-0").write_text(line)
    path = str(tmp_path / "stage")
    with pytest.raises(ModelFormatError, match=r"use PipelineModel\.load"):
        storage.load_anywhere(path, session=spark)
    with pytest.raises(ModelFormatError, match="not overwritten"):
        storage.save_anywhere(SavedModel(NEW), path, session=spark, overwrite=True)
