"""Fits on a small cluster whose executors and workers are killed or fall asleep meanwhile.

A run of faults_on_cluster does many scenarios, since a cluster takes long to start; each test looks
at one of them. All fits have one noise key, so that a second draw of any noise would show.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.spark.faults_on_cluster import FITS_IN_A_ROW, NAP_S, SCENARIOS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
SECONDS_FOR_ALL = 1800
MIB = 2**20


def reports_of(deeds):
    """What each scenario of some deeds reports."""
    program = ROOT / "tests" / "spark" / "faults_on_cluster.py"
    with tempfile.TemporaryDirectory(prefix="lumberjack-faults-") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        # A session of its own: neither this process's Spark nor its temporary files take part.
        own = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        own |= {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder / "tmp")}
        done = subprocess.run(
            [sys.executable, str(program), deeds, name],
            env=own,
            cwd=name,
            capture_output=True,
            text=True,
            timeout=SECONDS_FOR_ALL,
            check=False,
        )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    reports = {line["scenario"]: line for line in lines}
    assert done.returncode == 0, f"stopped after {list(reports)}:\n{done.stderr[-3000:]}"
    return reports


@pytest.fixture(scope="module")
def killed():
    """Reports of what was killed."""
    return reports_of("killed")


@pytest.fixture(scope="module")
def asleep():
    """Reports of what fell asleep."""
    if sys.platform != "linux":
        pytest.skip("needs two addresses of this machine")
    return reports_of("asleep")


def scenarios(deed):
    """Names of the scenarios of a deed."""
    return [name for name, (done, _) in SCENARIOS.items() if done.endswith(deed)]


def test_an_undisturbed_fit_equals_one_in_a_single_process(killed):
    assert killed["not killed"]["equal"]
    assert killed["not killed"]["nodes"] > 50


@pytest.mark.parametrize("scenario", scenarios("killed"))
def test_a_death_changes_no_bit_of_the_forest(killed, scenario):
    assert killed[scenario]["sprung"], "the fault did not come"
    assert killed[scenario]["equal"]


@pytest.mark.parametrize("scenario", scenarios("executor killed"))
def test_an_executor_really_died(killed, scenario):
    assert killed[scenario]["died"] == 1


@pytest.mark.parametrize("scenario", scenarios("asleep"))
def test_a_second_attempt_overtakes_a_task_that_sleeps_and_changes_no_bit(asleep, scenario):
    assert asleep[scenario]["sprung"], "the fault did not come"
    assert asleep[scenario]["seconds"] < NAP_S, "no second attempt: the sleeper was waited for"
    assert asleep[scenario]["equal"]


def test_fits_in_a_row_leave_nothing_behind(killed):
    report = killed["in a row"]
    assert report["cached"] == 0
    assert report["copies"] == []
    assert report["left"] == []
    assert report["clean"], "shuffle files stay although nobody refers to them"


def test_fits_in_a_row_do_not_grow_the_driver(killed):
    grown = killed["in a row"]["grown"]
    # One forest and its records are far below 1 MiB here; arenas and caches may settle.
    assert grown["python_bytes"] < FITS_IN_A_ROW * 2 * MIB
    assert grown["jvm_bytes"] < FITS_IN_A_ROW * 4 * MIB
