"""The jobs' config files: read whole, changed by settings, wrong in one error."""

import importlib
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from jobs._config import expand, load_config
from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, Numeric

ROOT = Path(__file__).parents[2]
SMALL = """
input: {path: "${A_FOLDER}/x.parquet"}
label: {column: y, classes: [no, yes]}
features: {a: {min: 0, max: 1}}
privacy: {epsilon: 1, delta: 1e-6}
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def mistakes_of(path, *overrides):
    with pytest.raises(SchemaError) as caught:
        load_config(path, overrides)
    return getattr(caught.value, "mistakes", (str(caught.value),))


def test_what_is_left_out_is_the_estimators_default(small):
    config = load_config(small)
    assert config.schema.classes == ("no", "yes")
    assert (config.privacy.epsilon, config.privacy.delta) == (1.0, 1e-6)
    assert (config.forest.num_trees, config.forest.max_depth) == (30, 63)
    left_out = [config.forest.leaf_mode, config.forest.seed, config.split, config.output.path]
    left_out += [getattr(config.privacy, name) for name in ("accountant", "threshold", "neighbors")]
    left_out += [config.privacy.structure_fraction, config.privacy.leaf_share]
    left_out += [config.privacy.encoding_share, config.privacy.min_exact_count]
    assert left_out == [None] * 11
    assert config.output.overwrite is False


def test_settings_change_and_add_values_in_order(small):
    settings = ["privacy.epsilon=0.5", "privacy.delta=1e-9", "forest.seed=3", "split.id=id"]
    settings += ["split.test_fraction=.1", "split.salt=3", "features.b={values: [no, yes]}"]
    settings += ["features.a.max=9", "forest.leaf_mode=majority", "forest.leaf_mode=proportions"]
    settings += ["input.where=ST = 48", "output.path=out/a=b", "input.path=/data/x y.parquet"]
    config = load_config(small, settings)
    assert (config.privacy.epsilon, config.privacy.delta) == (0.5, 1e-9)
    assert (config.forest.seed, config.forest.leaf_mode) == (3, "proportions")
    assert (config.split.id, config.split.test_fraction, config.split.salt) == ("id", 0.1, 3)
    assert config.schema.columns["a"] == Numeric(0, 9)
    assert config.schema.columns["b"] == Categorical(["no", "yes"])
    assert config.input.where == "ST = 48"
    assert config.output.resolved_path() == "out/a=b"
    assert config.input.resolved_path() == "/data/x y.parquet"
    assert load_config(small, [*settings, "split=null"]).split is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("privacy.epsilom=1", "privacy: unknown key 'epsilom'; did you mean 'epsilon'?"),
        ("forrest.seed=1", "unknown key 'forrest'; did you mean 'forest'?"),
        ("features.a.mix=1", "features['a']: unknown key 'mix'; did you mean 'min'?"),
        ("privacy.epsilon=0", "privacy.epsilon must be greater than 0, got 0"),
        ("privacy.epsilon=.nan", "privacy.epsilon must be"),
        ("privacy.epsilon=.inf", "privacy.epsilon must be"),
        ("privacy.epsilon=true", "privacy.epsilon must be"),
        ("privacy.epsilon='1'", "privacy.epsilon must be"),
        ("privacy.epsilon=null", "privacy.epsilon must be"),
        ("privacy.delta=1", "privacy.delta must be less than 1, got 1"),
        ("privacy=null", "privacy must be declared"),
        ("privacy=7", "privacy must map keys to values, got 7"),
        ("privacy={epsilon: 1}", "privacy.delta must be declared: it has no default"),
        ("privacy.accountant=exakt", "did you mean 'exact'?"),
        ("privacy.min_exact_count=1.5", "privacy.min_exact_count must be"),
        ("forest.num_trees=0", "forest.num_trees must be greater than or equal to 1, got 0"),
        ("forest.max_depth=127", "forest.max_depth must be less than or equal to 126, got 127"),
        ("split.salt=1", "split.id must be declared"),
        ("split={id: i, test_fraction: 1}", "split.test_fraction must be less than 1"),
        ("input.table=t", "input: exactly one of path, table and dataset must be given"),
        ("input={}", "input: exactly one of path, table and dataset must be given, got none"),
        ("input.folder=f", "input: folder must be given with dataset only"),
        ("input.options={inferSchema: true}", "input: options must not ask for inferSchema"),
        ("input.options={a: [1]}", "input: options.a must be a text, number or boolean"),
        ("input.format=json", "input: types must be given for json"),
        ("input.path=3", "input.path must be string, got 3"),
        ("privacy.epsilon", "--set must be section.key=value"),
        ("privacy..epsilon=1", "--set must be section.key=value"),
        ("privacy.epsilon.x=1", "'epsilon' must be a section"),
        ("privacy.epsilon=[1", "the value must be YAML"),
        ("label.column=a", "label: column 'a' must not be a feature as well"),
    ],
)
def test_a_mistake_is_named_with_its_place(small, setting, words):
    assert any(words in mistake for mistake in mistakes_of(small, setting))


def test_mistakes_of_all_sections_are_in_one_error(tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "input: {}\nlabel: {column: y}\nfeatures: {a: {min: 2, max: 1}}\nforest: {trees: 3}\n"
        "forest: {num_treees: 3}\noutputs: {}\n",
        encoding="utf-8",
    )
    text = "\n".join(mistakes_of(path, "split.salt=x"))
    for words in (
        "line 5: key 'forest' must stand once",
        "unknown key 'outputs'; did you mean 'output'?",
        "forest: unknown key 'num_treees'; did you mean 'num_trees'?",
        "input: exactly one of",
        "privacy must be declared",
        "split.id must be declared",
        "split.salt must be",
        "label: classes must be declared",
        "features['a']: min must be < max",
    ):
        assert words in text


def test_a_file_that_is_no_config_is_named(tmp_path):
    (tmp_path / "list.yaml").write_text("[1]\n", encoding="utf-8")
    assert "must map sections" in mistakes_of(tmp_path / "list.yaml")[0]
    assert "absent.yaml" in mistakes_of(tmp_path / "absent.yaml")[0]


def test_environment_variables_of_paths_are_looked_up_when_used(small, monkeypatch):
    monkeypatch.delenv("A_FOLDER", raising=False)
    config = load_config(small)
    with pytest.raises(SchemaError, match=r"input.path: .*A_FOLDER must be set.*export A_FOLDER="):
        config.input.resolved_path()
    monkeypatch.setenv("A_FOLDER", "/data/${HOME}")
    assert config.input.resolved_path() == "/data/${HOME}/x.parquet"
    assert expand("s3://bucket/$x/{y}", "input.path") == "s3://bucket/$x/{y}"
    with pytest.raises(SchemaError, match=r"output.path must be declared"):
        config.output.resolved_path()


@pytest.mark.parametrize(
    ("name", "features", "file"),
    [
        ("adult", 14, "adult.parquet"),
        ("acs_income", 10, "acsincome_2018.parquet"),
        ("flights", 9, None),
    ],
)
def test_the_configs_that_come_with_the_project_are_right(name, features, file, monkeypatch):
    config = load_config(ROOT / "conf" / f"{name}.yaml")
    assert len(config.schema.features) == features
    assert config.privacy.delta == 1e-6
    if file:
        monkeypatch.setenv("LUMBERJACK_DATA", "/data")
        assert config.input.resolved_path() == f"/data/{file}"


def test_the_adult_config_lists_the_categories_of_the_uci_description():
    schema = load_config(ROOT / "conf" / "adult.yaml").schema
    sizes = [d.size for d in schema.columns.values() if isinstance(d, Categorical)]
    assert sizes == [8, 16, 7, 14, 6, 5, 2, 41]
    assert schema.classes == ("<=50K", ">50K")


def test_the_census_config_leaves_both_readings_of_code_numbers_open():
    schema = load_config(ROOT / "conf" / "acs_income.yaml").schema
    codes = [f.name for f in schema.features if f.is_numeric and f.declaration.as_categories]
    assert codes == ["OCCP", "POBP"]
    assert len(schema.columns["OCCP"].whole_numbers) == 9821
    assert schema.classes == (False, True)


@pytest.mark.parametrize("name", ["adult", "acs_income"])
def test_the_tables_of_the_configs_fit_them(name):
    config = load_config(ROOT / "conf" / f"{name}.yaml")
    try:
        path = Path(config.input.resolved_path())
    except SchemaError as error:
        pytest.skip(str(error))
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder")
    fields = pq.read_schema(path)
    types = dict(zip(fields.names, fields.types, strict=True))
    config.schema.check_columns(types, with_label=True)
    assert config.split.id in types


def test_reading_a_config_does_not_load_spark():
    code = "import sys, jobs._config, jobs._datasets; print(sorted({'pyspark'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout.split() == [b"[]"]
    assert importlib.import_module("jobs._datasets").DATASETS.keys() == {"flights"}
