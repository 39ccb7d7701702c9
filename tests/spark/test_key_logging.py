import base64
import binascii
import io
import logging
import re

import numpy as np
import pytest

from lumberjack_spark.encoding import CellEncoder, plain_encoder
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import BitTable
from lumberjack_spark.schema import DataSchema, Numeric, RowReader
from lumberjack_spark.spark import key_logging
from lumberjack_spark.spark.backend import SparkBackend
from lumberjack_spark.spark.key_logging import key_unlogged
from lumberjack_spark.training import Counting, Reading, Routing

SECRET = bytes(range(100, 132))
SCHEMA = DataSchema({"x": Numeric(0, 50)}, label="y", classes=[False, True])


def fail_within(block):
    with block:
        raise KeyError


@pytest.mark.parametrize("name", ["py4j", "py4j.clientserver", "pyspark.sql.connect.logging"])
def test_loggers_that_write_queries_are_held_and_released(name):
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with key_unlogged():
            assert not logger.isEnabledFor(logging.DEBUG)
        with pytest.raises(KeyError):
            fail_within(key_unlogged())
        assert logger.level == logging.DEBUG
    finally:
        logger.setLevel(before)


def test_loggers_that_say_less_stay_as_they_are():
    logger = logging.getLogger("py4j")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with key_unlogged():
            assert logger.level == logging.ERROR
    finally:
        logger.setLevel(before)


def holds_secret(text: str) -> bool:
    """Whether the secret stands in a base64 text of the log, at any offset."""
    for found in re.findall(r"[A-Za-z0-9+/]{100,}", text):
        for start in range(4):
            part = found[start : start + (len(found) - start) // 4 * 4]
            try:
                if SECRET in base64.b64decode(part):
                    return True
            except binascii.Error:
                continue
    return False


@pytest.mark.spark
@pytest.mark.parametrize("held", [True, False])
def test_the_key_is_in_no_log_line_only_because_loggers_are_held(spark, monkeypatch, held):
    if not held:
        monkeypatch.setattr(key_logging, "_WRITE_QUERIES", ("another",))
    rows = spark.range(50).selectExpr("id % 50 AS x", "id % 2 = 0 AS y")
    routing = Routing(CellEncoder(plain_encoder(SCHEMA)), 2, 0, 2, 5)
    bits = BitTable(minimum_count=0, weights=np.empty(0, np.uint64))
    counting = Counting(1, 2, bits, NoiseKey.injected(SECRET))
    log, root = io.StringIO(), logging.getLogger()
    handler, level, py4j = logging.StreamHandler(log), root.level, logging.getLogger("py4j").level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    logging.getLogger("py4j").setLevel(logging.NOTSET)
    try:
        with SparkBackend(rows).read(Reading(RowReader(SCHEMA), plain_encoder(SCHEMA))) as cells:
            assert list(cells.nodes(routing, counting))
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        logging.getLogger("py4j").setLevel(py4j)
    assert holds_secret(log.getvalue()) is not held
