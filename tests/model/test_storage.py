"""Saved models: complete or absent, whatever happens, and honest about what a path holds."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model import ForestModel, load_model, save_model, saved_format, storage
from lumberjack_spark.noise import NoiseKey
from tests.small_models import fit_small, small_plan, small_table

OLD = fit_small()
NEW = fit_small(key=NoiseKey.injected(bytes(32)), plan=small_plan(num_trees=2))
HERE = Path(__file__).parent


def same(model, other):
    table = small_table(100)
    return (
        model.structure.num_trees == other.structure.num_trees
        and (model.predict(table).raw == other.predict(table).raw).all()
    )


def metadata_of(path):
    (file,) = (path / "metadata").glob("part-*")
    return json.loads(file.read_text()), file


def change_metadata(path, change):
    content, file = metadata_of(path)
    change(content)
    file.write_text(json.dumps(content))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model"
    save_model(OLD, path)
    return path


def test_a_model_comes_back_as_it_was(saved):
    model = load_model(saved)
    assert same(model, OLD)
    assert model.certificate == OLD.certificate
    assert model.schema == OLD.schema
    assert (model.leaf_counts == OLD.leaf_counts).all()


def test_a_model_with_a_private_encoder_comes_back_too(tmp_path):
    from lumberjack_spark.encoding import marginal_histograms
    from tests.small_models import SCHEMA

    plan = small_plan(marginal_share=0.2, histograms=marginal_histograms(SCHEMA))
    model = fit_small(plan=plan)
    model.save(tmp_path / "model")
    assert same(ForestModel.load(tmp_path / "model"), model)


def test_two_saves_of_a_model_are_alike(saved, tmp_path):
    save_model(OLD, tmp_path / "again")
    assert metadata_of(saved)[0] == metadata_of(tmp_path / "again")[0]


def test_a_large_array_is_cut_into_parts_and_joined(saved, monkeypatch, tmp_path):
    monkeypatch.setattr("lumberjack_spark.model.saved_format._PART_BYTES", 7)
    save_model(OLD, tmp_path / "cut")
    assert same(load_model(tmp_path / "cut"), OLD)


def test_what_is_there_is_not_overwritten_unasked(saved):
    with pytest.raises(FileExistsError, match="must not exist yet"):
        save_model(NEW, saved)
    assert same(load_model(saved), OLD)


def test_an_overwrite_leaves_nothing_of_the_old_model(saved):
    for generation in (2, 3):
        save_model(NEW, saved, overwrite=True)
        assert same(load_model(saved), NEW)
        assert [p.name for p in (saved / "data").iterdir()] == [str(generation)]
    assert len(list((saved / "metadata").iterdir())) == 1


@pytest.mark.parametrize("keep", ["photos", "metadata"])
def test_an_overwrite_spares_what_is_no_model(tmp_path, keep):
    (tmp_path / keep).mkdir()
    (tmp_path / keep / "part-0").write_text('{"class":"other.Model"}')
    with pytest.raises(ModelFormatError, match="not overwritten"):
        save_model(NEW, tmp_path, overwrite=True)
    assert (tmp_path / keep / "part-0").exists()


STEPS = ["os.rename", "os.replace", "pq.write_table", "metadata_line", "Path.mkdir"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_an_interrupt_leaves_the_old_model_or_the_new_one(saved, monkeypatch, step, after):
    interrupt(monkeypatch, step, after=after)
    try:
        save_model(NEW, saved, overwrite=True)
    except KeyboardInterrupt:
        monkeypatch.undo()
        found = load_model(saved)
        assert same(found, OLD) or (after and step == "os.replace" and same(found, NEW))
        save_model(NEW, saved, overwrite=True)  # the next save is not in the way of leftovers
    assert same(load_model(saved), NEW)


@pytest.mark.parametrize("step", STEPS)
def test_an_interrupt_leaves_no_half_of_a_first_model(tmp_path, monkeypatch, step):
    interrupt(monkeypatch, step, after=False)
    with pytest.raises(KeyboardInterrupt):
        save_model(NEW, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def interrupt(monkeypatch, step, *, after):
    """Raise KeyboardInterrupt before or after a step of a save."""
    names = {"os": os, "pq": pq, "Path": Path}
    owner, _, name = step.rpartition(".")
    target = names.get(owner, storage)
    real = getattr(target, name)

    def stopped(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(target, name, stopped)


def test_unknown_fields_and_arrays_of_a_later_minor_version_are_ignored(saved):
    def later(content):
        content["lumberjack"] |= {"version": "1.7", "surprise": {"a": [1]}}
        content["novel"] = 1

    change_metadata(saved, later)
    assert same(load_model(saved), OLD)


def test_a_higher_major_version_is_refused_by_name(saved):
    change_metadata(saved, lambda content: content["lumberjack"].update(version="2.0"))
    with pytest.raises(ModelFormatError, match=r"at most 1\.x, got 2\.0.*newer release"):
        load_model(saved)


@pytest.mark.parametrize("version", ["", "one", None, "1"])
def test_a_version_that_is_none_is_refused(saved, version):
    change_metadata(saved, lambda content: content["lumberjack"].update(version=version))
    with pytest.raises(ModelFormatError, match="format"):
        load_model(saved)


@pytest.mark.parametrize("bytes_kept", [0, 10, 1000, -9])
def test_cut_data_are_named_damaged(saved, bytes_kept):
    (file,) = (saved / "data" / "1").iterdir()
    file.write_bytes(file.read_bytes()[:bytes_kept])
    with pytest.raises(ModelFormatError, match="damaged"):
        load_model(saved)


@pytest.mark.parametrize("bytes_kept", [0, 50, -2])
def test_cut_metadata_are_named(saved, bytes_kept):
    _, file = metadata_of(saved)
    file.write_bytes(file.read_bytes()[:bytes_kept])
    with pytest.raises(ModelFormatError, match="metadata cannot be read"):
        load_model(saved)


def test_a_changed_array_is_noticed(saved):
    (file,) = (saved / "data" / "1").iterdir()
    rows = pq.read_table(file).to_pylist()
    for row in rows:
        if row["name"] == "leaf_values":
            row["bytes"] = np.zeros(len(row["bytes"]), np.uint8).tobytes()
    pq.write_table(pa.Table.from_pylist(rows), file)
    with pytest.raises(ModelFormatError, match="damaged copy"):
        load_model(saved)


@pytest.mark.parametrize("name", ["nodes", "leaf_values", "encoder.kinds"])
def test_a_missing_array_is_noticed(saved, name):
    (file,) = (saved / "data" / "1").iterdir()
    rows = [row for row in pq.read_table(file).to_pylist() if row["name"] != name]
    pq.write_table(pa.Table.from_pylist(rows), file)
    with pytest.raises(ModelFormatError, match=f"{name}|damaged"):
        load_model(saved)


def test_an_array_of_a_later_minor_version_is_ignored(saved, tmp_path, monkeypatch):
    real = saved_format.model_arrays

    def later(model):
        return real(model) | {"surprise": np.array([True, False])}

    monkeypatch.setattr(storage, "model_arrays", later)
    monkeypatch.setattr(saved_format, "model_arrays", later)
    save_model(OLD, tmp_path / "later")
    monkeypatch.undo()
    assert same(load_model(tmp_path / "later"), OLD)


def test_missing_data_are_named(saved):
    shutil.rmtree(saved / "data")
    with pytest.raises(ModelFormatError, match="data are missing"):
        load_model(saved)


def write_class(path, name):
    (path / "metadata").mkdir(parents=True)
    (path / "metadata" / "part-00000").write_text(json.dumps({"class": name, "uid": "x"}))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lumberjack_spark.ml.classifier.LumberjackClassifier", "use LumberjackClassifier.load"),
        (
            "org.apache.spark.ml.classification.RandomForestClassificationModel",
            "holds a pyspark.ml.classification.RandomForestClassificationModel: "
            "use RandomForestClassificationModel.load",
        ),
        ("pyspark.ml.pipeline.PipelineModel", "use PipelineModel.load"),
    ],
)
def test_another_stage_is_named_with_the_class_to_use(tmp_path, name, told):
    write_class(tmp_path / "stage", name)
    with pytest.raises(ModelFormatError, match=told):
        load_model(tmp_path / "stage")


def test_nothing_an_empty_folder_and_other_things_are_told_apart(tmp_path):
    with pytest.raises(ModelFormatError, match="nothing is there"):
        load_model(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFormatError, match="is empty"):
        load_model(tmp_path / "empty")
    with pytest.raises(ModelFormatError, match="holds empty"):
        load_model(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFormatError, match="holds a file"):
        load_model(tmp_path / "file")


def test_a_save_holds_no_host_path_count_or_time_of_day(saved):
    content, _ = metadata_of(saved)
    assert content["timestamp"] % 86_400_000 == 0
    text = json.dumps(content)
    assert os.uname().nodename not in text
    assert str(saved.parent) not in text
    assert {name for name in content["lumberjack"]} == {
        "format",
        "version",
        "generation",
        "digest",
        "schema",
        "certificate",
    }
    (file,) = (saved / "data" / "1").iterdir()
    names = set(pq.read_table(file).column("name").to_pylist())
    known = {"roots", "nodes", "leaf_offsets", "kinds", "leaf_counts", "leaf_values"}
    assert {name for name in names if not name.startswith("encoder.")} == known


def test_the_model_of_format_version_1_loads_to_its_predictions():
    model = load_model(HERE / "saved_v1")
    expected = json.loads((HERE / "saved_v1_expected.json").read_text())
    rows = pa.table({name: expected["rows"][name] for name in ("age", "city", "hours")})
    found = model.predict(rows)
    assert found.raw.tolist() == expected["raw"]
    assert found.label.tolist() == expected["label"]
    assert model.certificate["epsilon"] == expected["epsilon"]
