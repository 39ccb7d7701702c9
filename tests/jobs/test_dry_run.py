"""A dry run: the whole plan, without data and without Spark."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from jobs import train

ROOT = Path(__file__).parents[2]
CONFIG = """
input: {path: "${NO_SUCH_FOLDER}/rows.parquet"}
label: {column: y, classes: [no, yes]}
features: {a: {min: 0, max: 1}, b: {values: [r, g]}}
privacy: {epsilon: 1, delta: 1e-6, accountant: theorem6}
forest: {num_trees: 30, max_depth: 100}
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_FOLDER", raising=False)
    path = tmp_path / "job.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return str(path)


def dry_run(capsys, *arguments):
    assert train.main([*arguments, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    return json.loads(out), err


def test_the_papers_plan_has_the_papers_figures(config, capsys):
    # k=30, h=100, delta=1e-6, epsilon=1, c0=0: sigma 81.14, Delta 469.6 (Theorem 6, 75 %).
    plan, text = dry_run(capsys, config, "--set", "privacy.min_exact_count=0")
    assert plan["questions"] == 210
    assert plan["sigma"] == pytest.approx(81.14, abs=0.01)
    assert plan["gap"] == pytest.approx(469.6, abs=0.1)
    assert plan["c0"] == 0
    assert plan["threshold"] in (470, 471)
    assert "m = 210: 30 trees x 7" in text
    assert "sigma = 81.1" in text


def test_the_figures_of_a_plan_fit_together(config, capsys):
    exact = ["--set", "privacy.accountant=exact", "--set", "privacy.min_exact_count=5"]
    plan, text = dry_run(capsys, config, *exact)
    assert (plan["trees"], plan["max_depth"], plan["c0"]) == (30, 100, 5)
    assert plan["smallest_group"] == 6
    assert 6 <= plan["threshold"] < plan["sure_group"]
    assert plan["certified_delta"] <= plan["delta"] == 1e-6
    assert plan["leaf_noise"] > 0
    assert plan["plan"]["bits"]["threshold"] == plan["threshold"]
    for words in ("threshold", "smallest group  6 rows", "leaf noise", "passes", "(1, 1e-06)"):
        assert words in text


@pytest.mark.parametrize(("depth", "counting"), [(8, 1), (100, 2)])
def test_a_share_for_the_encoder_adds_passes_for_features_and_for_pairs(
    config, capsys, depth, counting
):
    settings = ["--set", "privacy.accountant=exact", "--set", f"forest.max_depth={depth}"]
    plain, text = dry_run(capsys, config, *settings, "--set", "privacy.encoding_share=0")
    assert (plain["passes"], plain["marginal_noise"]) == (counting, None)
    assert "marginals       none" in text
    plan, text = dry_run(capsys, config, *settings, "--set", "privacy.encoding_share=0.1")
    assert plan["passes"] == counting + 2
    assert f"sigma = {plan['marginal_noise']:.6g} rows" in text


def test_drawn_labels_are_shown_with_their_weight(config, capsys):
    plan, text = dry_run(capsys, config, "--set", "forest.leaf_mode=majority")
    assert plan["leaf_mode"] == "majority"
    assert f"exp({plan['leaf_noise']:.6g} x count)" in text


def test_a_budget_that_nothing_can_be_planned_with_has_code_3(config, capsys):
    assert train.main([config, "--dry-run", "--set", "privacy.delta=1e-300"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("train stopped: ")
    assert "Traceback" not in err


def test_features_without_bounds_are_named_and_no_data_are_looked_at(config, capsys):
    settings = ["features={age: {}, color: {values: []}, size: {min: 1}}", "label={column: y}"]
    arguments = [word for setting in settings for word in ("--set", setting)]
    assert train.main([config, *arguments]) == 2
    err = capsys.readouterr().err
    for name in ("features['age']", "features['color']", "features['size']", "classes"):
        assert name in err
    assert "NO_SUCH_FOLDER" not in err


def test_a_dry_run_as_a_program_starts_no_spark(config):
    code = (
        "import sys; sys.argv[0] = 'jobs/train.py'; from jobs import train; code = train.main();"
        "from pyspark import SparkContext; assert SparkContext._gateway is None; sys.exit(code)"
    )
    command = [sys.executable, "-c", code, config, "--dry-run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1])["dry_run"] is True


@pytest.mark.parametrize("job", ["train", "predict", "evaluate", "check"])
def test_a_job_started_as_a_file_from_anywhere_finds_the_package(job, tmp_path):
    command = [sys.executable, str(ROOT / "jobs" / f"{job}.py"), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"jobs/{job}.py" in done.stdout
