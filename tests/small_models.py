"""Small tables, and models fitted on them in this process with a known key."""

import numpy as np
import pyarrow as pa

from lumberjack_spark.model import ForestModel
from lumberjack_spark.noise import NoiseKey
from lumberjack_spark.privacy import make_plan
from lumberjack_spark.schema import Categorical, DataSchema, Numeric
from lumberjack_spark.training import LocalBackend, fit_forest

KEY = NoiseKey.injected(bytes(range(32)))

SCHEMA = DataSchema(
    {
        "age": Numeric(0, 100),
        "city": Categorical(["Bonn", "Köln", "Ulm"], missing_markers=("?",)),
        "hours": Numeric(0, 80, missing=40),
    },
    label="income",
    classes=["low", "high"],
)


def small_table(n=2000, *, seed=7, classes=("low", "high")) -> pa.Table:
    """Rows whose class follows age and city, with odd values among them."""
    rng = np.random.default_rng(seed)
    age, city = rng.integers(0, 100, n), rng.integers(0, 3, n)
    odd = rng.random(n) < 0.02
    index = ((age > 50).astype(int) + (city == 1)) % len(classes)
    cities = np.array(["Bonn", "Köln", "Ulm"], dtype=object)[city]
    cities[odd] = "Mars"
    hours = np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 80, n))
    return pa.table(
        {
            "age": pa.array(age),
            "city": pa.array(cities),
            "hours": pa.array(hours, from_pandas=True),
            "income": pa.array([classes[i] for i in index]),
        }
    )


def small_plan(**changes):
    """A cheap plan; the paper's accounting needs no search."""
    return make_plan(
        **{
            "epsilon": 50.0,
            "delta": 1e-6,
            "num_trees": 5,
            "max_depth": 7,
            "accountant": "theorem6",
            "threshold": "gaussian",
            "min_exact_count": 1,
            "leaf_share": 0.4,
            "marginal_share": 0.0,
            **changes,
        }
    )


def fit_small(table=None, *, schema=SCHEMA, plan=None, key=KEY, warnings=()) -> ForestModel:
    """A model fitted in this process."""
    table = small_table() if table is None else table
    plan = plan or small_plan()
    backend = LocalBackend([table.to_batches()])
    forest = fit_forest(backend, schema, plan, seed=5, key=key)
    return ForestModel.of_release(
        forest, schema=schema, plan=plan, seed=5, private_key=key.private, warnings=warnings
    )
