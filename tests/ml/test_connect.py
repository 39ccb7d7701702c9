"""Spark Connect, when asked for: it needs grpcio and its own server, which takes a minute."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASKED = os.environ.get("LUMBERJACK_TEST_CONNECT") == "1"


@pytest.mark.spark
@pytest.mark.skipif(not ASKED, reason="set LUMBERJACK_TEST_CONNECT=1 to test on Spark Connect")
@pytest.mark.skipif(
    importlib.util.find_spec("grpc_status") is None, reason="needs pyspark[connect]"
)
def test_everything_public_works_on_connect():
    program = str(Path(__file__).with_name("connect_session.py"))
    done = subprocess.run(
        [sys.executable, program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
