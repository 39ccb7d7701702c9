"""Train, predict, evaluate and check through the programs, in one session that was there before."""

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from jobs import check, evaluate, predict, train
from lumberjack_spark.errors import SchemaError
from lumberjack_spark.model import load_model, storage

pytestmark = pytest.mark.spark

ROWS = 3017
CONFIG = """
input: {{path: {folder}/rows.parquet}}
label: {{column: y, classes: ["no", "yes"]}}
features:
  size: {{min: 0, max: 100}}
  color: {{values: [red, green, blue]}}
privacy: {{epsilon: 20, delta: 1e-5}}
forest: {{num_trees: 5, max_depth: 8}}
split: {{id: id, test_fraction: 0.3, salt: 4}}
output: {{path: {folder}/model}}
"""


def make_rows():
    rng = np.random.default_rng(11)
    size = rng.uniform(-5, 105, ROWS)
    color = rng.choice(["red", "green", "blue", "grey"], ROWS)
    late = (size > 60) ^ (color == "red") ^ (rng.random(ROWS) < 0.05)
    labels = np.where(late, "yes", "no").astype(object)
    labels[:17] = None
    columns = {"id": np.arange(ROWS), "size": size, "color": color, "y": labels}
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def is_held_out(identity, salt="4", fraction=0.3):
    """Slow twin of the split: text and hash by hand."""
    digest = hashlib.sha256(f"{salt}:{identity}".encode()).hexdigest()
    return int(digest[:8], 16) < round(fraction * 2**32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, spark):
    folder = tmp_path_factory.mktemp("jobs")
    pq.write_table(make_rows(), folder / "rows.parquet")
    (folder / "job.yaml").write_text(CONFIG.format(folder=folder), encoding="utf-8")
    return folder


@pytest.fixture
def run(folder, capsys):
    """Run a program on the config; exit code, JSON of the last line or None, standard error."""

    def run(program, *arguments):
        code = program.main([str(folder / "job.yaml"), *arguments])
        out, err = capsys.readouterr()
        assert len(out.splitlines()) == (code == 0)
        return code, json.loads(out) if out else None, err

    return run


@pytest.fixture
def trained(folder, run):
    """Folder with a trained model."""
    if not (folder / "model").exists():
        assert run(train)[0] == 0
    return folder


def numbers_in(text):
    """Whole numbers that stand alone in a text."""
    return set(re.findall(r"(?<![\w.\-])\d+(?![\w.])", text))


def test_training_says_what_it_made_and_nothing_of_the_rows(folder, run, spark):
    before = dict(spark.conf.getAll)
    code, result, err = run(train, "--overwrite")
    assert code == 0
    assert result.keys() == {"model", "epsilon", "delta", "trees", "nodes", "seconds"}
    assert (result["epsilon"], result["delta"], result["trees"]) == (20.0, 1e-5, 5)
    model = load_model(folder / "model")
    assert result["nodes"] == sum(model.nodes_of_trees)
    rows = make_rows().to_pylist()
    kept = [row for row in rows if not is_held_out(row["id"])]
    labelled = [row for row in kept if row["y"] is not None]
    counts = {ROWS, len(kept), len(labelled)}
    counts |= {sum(row["y"] == y for row in kept) for y in ("no", "yes")}
    shown = err + json.dumps(result) + model.certificate_text
    shown += "".join(file.read_text() for file in (folder / "model" / "metadata").iterdir())
    assert not numbers_in(shown) & {str(count) for count in counts}
    assert "seconds" not in json.dumps(model.certificate)
    assert dict(spark.conf.getAll) == before
    assert spark.range(3).count() == 3


def test_evaluation_is_that_of_the_predictions_on_the_rows_that_the_hash_holds_out(trained, run):
    code, found, err = run(evaluate)
    assert code == 0
    assert found["private"] is False
    assert "not private" in err
    assert re.search(r"accuracy +0\.\d+\n +majority share +0\.\d+\n", err)
    code, made, _ = run(predict, "--to", str(trained / "held"), "--held-out", "--overwrite")
    assert code == 0
    assert made["predictions"] == str(trained / "held")
    scored = pq.read_table(trained / "held").to_pylist()
    rows = make_rows().to_pylist()
    assert sorted(row["id"] for row in scored) == [r["id"] for r in rows if is_held_out(r["id"])]
    known = [row for row in scored if row["y"] is not None]
    hits = sum(row["predictedLabel"] == row["y"] for row in known) / len(known)
    assert found["rows"] == len(known)
    assert found["accuracy"] == pytest.approx(hits, abs=1e-6)
    majority = max(sum(row["y"] == y for row in known) for y in ("no", "yes")) / len(known)
    assert found["majority"] == pytest.approx(majority, abs=1e-6)
    confusion = [
        [sum(r["y"] == y and r["predictedLabel"] == p for r in known) for p in ("no", "yes")]
        for y in ("no", "yes")
    ]
    assert found["confusion"] == confusion
    truth = [row["probability"][row["y"] == "yes"] for row in known]
    assert found["log_loss"] == pytest.approx(-np.log(truth).mean(), abs=1e-6)
    assert np.allclose([sum(row["probability"]) for row in scored], 1)


def test_predictions_need_no_label_and_keep_other_columns(trained, run):
    rows = make_rows().slice(0, 9).drop_columns(["y"]).append_column("note", pa.array(["x"] * 9))
    pq.write_table(rows, trained / "new.parquet")
    path = f"input.path={trained / 'new.parquet'}"
    to = ["--to", str(trained / "csv"), "--format", "csv"]
    assert run(predict, "--set", path, *to, "--overwrite")[0] == 0
    lines = "".join(part.read_text() for part in (trained / "csv").glob("part-*.csv")).splitlines()
    assert len(lines) == 9
    assert all(line.split(",")[3] == "x" for line in lines)
    code, _, err = run(predict, "--set", path, *to)
    assert code == 2
    assert "give --overwrite" in err


def test_training_sees_no_row_that_is_held_out(trained, run, monkeypatch):
    seen = []

    def fit(_, rows):
        seen.extend(row["id"] for row in rows.collect())
        raise SchemaError("enough")

    monkeypatch.setattr(train.LumberjackClassifier, "fit", fit)
    assert run(train, "--overwrite")[0] == 2
    assert sorted(seen) == [each for each in range(ROWS) if not is_held_out(each)]
    seen.clear()
    assert run(train, "--overwrite", "--set", "split=null")[0] == 2
    assert sorted(seen) == list(range(ROWS))


def test_an_existing_model_stays_unless_told_otherwise(trained, run):
    before = load_model(trained / "model").leaf_counts
    code, _, err = run(train)
    assert code == 2
    assert "output.path" in err
    assert "--overwrite" in err
    assert np.array_equal(load_model(trained / "model").leaf_counts, before)
    assert run(train, "--set", "output.overwrite=true")[0] == 0
    after = load_model(trained / "model").leaf_counts
    assert not np.array_equal(after, before)


def test_what_is_no_model_is_not_overwritten_and_no_budget_is_spent(trained, run, monkeypatch):
    (trained / "letters").mkdir()
    (trained / "letters" / "a.txt").write_text("dear", encoding="utf-8")
    monkeypatch.setattr(train.LumberjackClassifier, "fit", lambda *_: pytest.fail("it was fitted"))
    code, _, err = run(train, "--overwrite", "--set", f"output.path={trained / 'letters'}")
    assert code == 2
    assert "is not overwritten" in err
    assert (trained / "letters" / "a.txt").read_text(encoding="utf-8") == "dear"


def test_an_interrupt_while_saving_leaves_the_old_model(trained, run, monkeypatch):
    before = load_model(trained / "model").leaf_counts

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "_write_metadata", interrupted)
    code, _, err = run(train, "--overwrite")
    assert code == 130
    assert err.endswith("train stopped: interrupted\n")
    monkeypatch.undo()
    assert np.array_equal(load_model(trained / "model").leaf_counts, before)
    monkeypatch.setattr(storage, "_write_data", interrupted)
    assert run(train, "--set", f"output.path={trained / 'fresh'}")[0] == 130
    assert not (trained / "fresh").exists()


def test_seed_and_salt_change_trees_and_split(trained, run):
    fresh = ["--set", f"output.path={trained / 'other'}", "--overwrite"]
    assert run(train, *fresh, "--set", "forest.seed=3")[0] == 0
    first, other = load_model(trained / "model"), load_model(trained / "other")
    assert other.certificate["declared_public"]["seed"] == 3
    assert not np.array_equal(first.structure.nodes[:1], other.structure.nodes[:1])
    rows = {salt: run(evaluate, "--set", f"split.salt={salt}")[1]["rows"] for salt in (4, 5)}
    known = [row["id"] for row in make_rows().to_pylist() if row["y"] is not None]
    for salt, found in rows.items():
        assert found == sum(is_held_out(each, salt=salt) for each in known)


def test_values_of_a_csv_file_that_do_not_parse_are_missing_and_not_shown(trained, run):
    lines = ["id,size,color,y"]
    lines += [f"{i},{i % 100},red,{'yes' if i % 100 > 50 else 'no'}" for i in range(300)]
    lines += ["300,oops-a-word,red,no", "three,5,green,perhaps", '302,"1,5",,yes', "303"]
    (trained / "rows.csv").write_text("\n".join(lines), encoding="utf-8")
    settings = [
        f"input={{path: {trained / 'rows.csv'}, format: csv, options: {{header: true}}}}",
        f"output.path={trained / 'csv_model'}",
    ]
    arguments = [word for setting in settings for word in ("--set", setting)]
    for types in ("{}", "{id: bigint, size: double}"):
        more = ["--set", f"input.types={types}"]
        code, _, err = run(train, *arguments, *more, "--overwrite")
        assert code == 0
        assert "oops" not in err
        code, found, _ = run(check, *arguments, *more, "--yes-not-private")
        assert code == 0
        assert (found["rows"], found["left_out"]) == (304, 2)
        assert found["touched"]["size"]["missing"] == 3
        assert found["touched"]["color"] == {"other": 0, "missing": 2}


def test_check_shows_nothing_unless_told_that_it_is_not_private(trained, run):
    code, _, err = run(check)
    assert code == 2
    assert "--yes-not-private" in err
    code, found, err = run(check, "--yes-not-private")
    assert code == 0
    rows = make_rows().to_pylist()
    assert (found["rows"], found["left_out"]) == (ROWS, 17)
    assert found["touched"]["size"]["below"] == sum(row["size"] < 0 for row in rows)
    assert found["touched"]["size"]["above"] == sum(row["size"] > 100 for row in rows)
    assert found["touched"]["color"]["other"] == sum(row["color"] == "grey" for row in rows)
    assert "not private" in err


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        (["input.path=/nowhere/at/all"], 2, "PATH_NOT_FOUND"),
        (["input={table: no_such_table}"], 2, "TABLE_OR_VIEW_NOT_FOUND"),
        (["input.where=size >"], 2, "input.where must be an SQL condition"),
        (["input.where=no_such > 1"], 2, "input.where must be an SQL condition"),
        (["input.types={size: dubble}"], 2, "must have a Spark type"),
        (["input.types={sise: double}"], 2, "column 'sise' must be in the table"),
        (["split.id=idd"], 2, "split.id: column 'idd' must be in the table"),
        (["features.weight={min: 0, max: 1}", "label.column=z"], 2, "column 'weight'"),
        (["input.where=raise_error(concat('row ', id)) is null"], 5, "training failed"),
    ],
)
def test_what_is_wrong_is_one_block_without_content_of_rows(trained, run, settings, code, words):
    arguments = [word for setting in settings for word in ("--set", setting)]
    where = ["--set", f"output.path={trained / 'never'}"]
    found, _, err = run(train, *arguments, *where)
    assert found == code
    assert words in err
    assert "Traceback" not in err
    assert "row 1" not in err
    assert not (trained / "never").exists()


def test_evaluation_needs_a_split_and_a_model_for_the_same_question(trained, run):
    code, _, err = run(evaluate, "--set", "split=null")
    assert (code, "split must be declared" in err) == (2, True)
    code, _, err = run(evaluate, "--set", "label.classes=[no, yes, maybe]")
    assert (code, "must have been trained for" in err) == (2, True)
    code, _, err = run(evaluate, "--model", str(trained / "rows.parquet"))
    assert (code, "holds a file" in err) == (2, True)
    code, _, err = run(evaluate, "--set", "features.size.max=99")
    assert (code, "its own hold" in err) == (0, True)


def test_the_folder_with_everything_is_named_by_a_variable(trained, run, monkeypatch):
    monkeypatch.setenv("A_FOLDER", str(trained))
    path = "input.path=${A_FOLDER}/rows.parquet"
    assert run(evaluate, "--set", path, "--model", str(Path(trained) / "model"))[0] == 0


def test_a_copy_to_train_from_is_removed(trained, run):
    copies = trained / "copies"
    settings = ["--set", f"input.materialize_dir={copies}", "--overwrite"]
    assert run(train, *settings, "--set", f"output.path={trained / 'copied'}")[0] == 0
    assert list(copies.iterdir()) == []
