"""Failures of Spark are raised again without what they quote."""

import traceback

import pytest

from lumberjack_spark.errors import SchemaError, SparkFailureError
from lumberjack_spark.spark.failures import failure_kind, spark_failures, without_rows


class CastError(Exception):
    def getCondition(self):
        return "CAST_INVALID_INPUT"


def test_the_kind_of_a_failure_is_its_class_and_condition():
    assert failure_kind(CastError("Ann, 31")) == "CastError [CAST_INVALID_INPUT]"
    assert failure_kind(ValueError("Ann, 31")) == "ValueError"


def test_no_content_of_a_row_is_left_anywhere_in_the_error():
    def work():
        raise CastError("the value 'Ann, 31' cannot be cast")

    with pytest.raises(SparkFailureError) as caught:
        without_rows("counting", work)
    error = caught.value
    assert (error.__cause__, error.__context__) == (None, None)
    told = "".join(traceback.format_exception(error))
    assert "counting failed: CastError [CAST_INVALID_INPUT]" in told
    assert "Ann" not in told


@pytest.mark.parametrize("error", [SchemaError("a"), KeyboardInterrupt()])
def test_our_own_errors_and_interrupts_pass(error):
    def work():
        raise error

    with pytest.raises(type(error)):
        without_rows("counting", work)


def test_a_block_shows_no_content_either():
    with pytest.raises(SparkFailureError) as caught, spark_failures("counting"):
        raise CastError("Ann, 31")
    told = "".join(traceback.format_exception(caught.value))
    assert "counting failed: CastError [CAST_INVALID_INPUT]" in told
    assert "Ann" not in told
    with pytest.raises(SchemaError), spark_failures("counting"):
        raise SchemaError("a")
