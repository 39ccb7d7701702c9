"""Fits on a small cluster whose executors and workers are killed or fall asleep meanwhile.

One run of faults_on_cluster does all scenarios, since a cluster takes long to start; each test
looks at one of them. All fits have one noise key, so that a second draw of any noise would show.
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


@pytest.fixture(scope="module")
def found():
    """What each scenario reports."""
    program = ROOT / "tests" / "spark" / "faults_on_cluster.py"
    with tempfile.TemporaryDirectory(prefix="lumberjack-faults-") as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
        # A session of its own: neither this process's Spark nor its temporary files take part.
        own = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        own |= {"PYTHONPATH": os.pathsep.join(paths), "TMPDIR": str(folder / "tmp")}
        done = subprocess.run(
            [sys.executable, str(program), name],
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


def test_an_undisturbed_fit_equals_one_in_a_single_process(found):
    assert found["undisturbed"]["equal"]
    assert found["undisturbed"]["nodes"] > 50


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_fault_changes_no_bit_of_the_forest(found, scenario):
    report = found[scenario]
    assert report["sprung"], "the fault did not come"
    assert report["equal"]


@pytest.mark.parametrize("scenario", [s for s, (deed, _) in SCENARIOS.items() if "exec" in deed])
def test_an_executor_really_died(found, scenario):
    assert found[scenario]["died"] == 1


@pytest.mark.parametrize("scenario", [s for s, (deed, _) in SCENARIOS.items() if "asleep" in deed])
def test_a_second_attempt_overtakes_a_task_that_sleeps(found, scenario):
    assert found[scenario]["seconds"] < NAP_S / 2


def test_fits_in_a_row_leave_nothing_behind(found):
    report = found["in a row"]
    assert report["cached"] == 0
    assert report["copies"] == []
    assert report["left"] == []
    assert report["clean"], "shuffle files stay although nobody refers to them"


def test_fits_in_a_row_do_not_grow_the_driver(found):
    grown = found["in a row"]["grown"]
    # One forest and its records are far below 1 MiB here; arenas and caches may settle.
    assert grown["python_bytes"] < FITS_IN_A_ROW * 2 * MIB
    assert grown["jvm_bytes"] < FITS_IN_A_ROW * 4 * MIB
