"""What all jobs do: last line of standard output, exit codes, one block for an error."""

import json
import logging

import pytest

from jobs import _runner
from jobs._runner import Job, run_job
from lumberjack_spark.errors import (
    BudgetError,
    ModelFormatError,
    SchemaError,
    SparkFailureError,
)

CONFIG = """
input: {path: /nowhere/rows.parquet}
label: {column: y, classes: [no, yes]}
features: {a: {min: 0, max: 1}}
privacy: {epsilon: 1, delta: 1e-6}
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return str(path)


def job(work):
    return Job("demo", "A job.", lambda given, config: work(config))


def raising(error):
    def work(config):
        raise error

    return job(work)


def test_the_last_line_is_one_json_object(config, capsys):
    def work(loaded):
        logging.getLogger("lumberjack_spark.jobs").info("counting nodes")
        return {"epsilon": loaded.privacy.epsilon}

    assert run_job(job(work), [config, "--set", "privacy.epsilon=0.5"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1]) == {"epsilon": 0.5}
    assert "counting nodes" in err
    assert "counting nodes" not in out


def test_quiet_leaves_out_the_log_and_the_logger_is_as_before(config, capsys):
    logger = logging.getLogger("lumberjack_spark")
    before = (logger.level, list(logger.handlers))

    def work(loaded):
        logger.info("counting nodes")
        logger.warning("a stage is not covered")
        return {}

    assert run_job(job(work), [config, "--quiet"]) == 0
    err = capsys.readouterr().err
    assert "counting nodes" not in err
    assert "a stage is not covered" in err
    assert (logger.level, list(logger.handlers)) == before


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SchemaError("features must be declared"), 2),
        (ModelFormatError("x: nothing is there"), 2),
        (FileExistsError("x must not exist yet"), 2),
        (PermissionError(13, "Permission denied", "x"), 2),
        (BudgetError("epsilon must be larger"), 3),
        (SparkFailureError("training failed: SparkException"), 5),
    ],
)
def test_an_expected_error_has_its_code_and_its_own_words(config, capsys, error, code):
    assert run_job(raising(error), [config]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"demo stopped: {error}\n"


def test_an_unexpected_error_shows_its_class_and_place_but_not_its_words(config, capsys):
    assert run_job(raising(KeyError("Alice, 42")), [config]) == 1
    err = capsys.readouterr().err
    assert err.startswith("demo stopped: unexpected KeyError at ")
    assert "test_runner.py:" in err
    assert "Alice" not in err
    assert "Traceback" not in err


def test_a_traceback_is_shown_to_those_who_ask(config, capsys):
    assert run_job(raising(KeyError("Alice, 42")), [config, "--traceback"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_spark_errors_that_nobody_caught_are_spark_failures(config, capsys):
    from pyspark.errors import AnalysisException

    assert run_job(raising(AnalysisException("row (Alice, 42)")), [config]) == 5
    assert "Alice" not in capsys.readouterr().err


def test_an_interrupt_has_the_shells_code(config, capsys):
    assert run_job(raising(KeyboardInterrupt()), [config]) == 130
    assert capsys.readouterr().err == "demo stopped: interrupted\n"


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        (["privacy.epsilom=1"], 2, "did you mean 'epsilon'?"),
        (["privacy={delta: 1e-6}"], 2, "privacy.epsilon must be declared: it has no default"),
        (["privacy.epsilon=0"], 3, "privacy.epsilon must be greater than 0, got 0"),
        (["privacy.epsilon=-1", "privacy.delta=2"], 3, "privacy.delta must be less than 1, got 2"),
        (["privacy.epsilon=0", "forest.num_trees=0"], 2, "forest.num_trees must be"),
    ],
)
def test_a_wrong_budget_is_told_from_a_wrong_config(config, capsys, settings, code, words):
    arguments = [word for setting in settings for word in ("--set", setting)]
    assert run_job(job(lambda loaded: {}), [config, *arguments]) == code
    assert words in capsys.readouterr().err


def test_all_mistakes_are_in_one_block(config, capsys):
    settings = ["--set", "forest.trees=3", "--set", "features.a.max=-1"]
    assert run_job(job(lambda loaded: {}), [config, *settings]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "demo stopped: 2 mistakes in the configuration"
    assert all(line.startswith("  - ") for line in lines[1:])
    assert len(lines) == 3


def test_a_wrong_command_line_has_code_2(capsys):
    with pytest.raises(SystemExit) as caught:
        run_job(job(lambda loaded: {}), [])
    assert caught.value.code == _runner.CONFIGURATION
