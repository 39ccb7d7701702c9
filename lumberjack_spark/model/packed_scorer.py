"""A scorer as one file, for models too large to travel inside a function. No pickle.

Layout     an Arrow IPC file of the rows of saved_format.ARRAY_SCHEMA; the schema of the table is
           JSON in the file's own metadata.
"""

import json
import os
from functools import lru_cache

import pyarrow as pa

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.model.saved_format import arrays_table, read_arrays
from lumberjack_spark.model.scorer import Scorer
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.trees import Structure

_STRUCTURE = ("roots", "nodes", "leaf_offsets", "kinds")
_SCHEMA_KEY = b"lumberjack.schema"


def write_scorer(scorer: Scorer, path: str | os.PathLike[str]) -> None:
    """Write a scorer to a local file."""
    arrays = {name: getattr(scorer.structure, name) for name in _STRUCTURE}
    arrays["leaf_values"] = scorer.leaf_values
    arrays |= {f"encoder.{name}": value for name, value in scorer.encoder.to_arrays().items()}
    text = json.dumps(scorer.schema.to_dict(), separators=(",", ":"))
    table = arrays_table(arrays).replace_schema_metadata({_SCHEMA_KEY: text.encode()})
    with pa.OSFile(os.fspath(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


@lru_cache(maxsize=2)
def read_scorer(path: str) -> Scorer:
    """Read a scorer once for all tasks of a process; files of one name never change."""
    with pa.memory_map(path) as file:
        table = pa.ipc.open_file(file).read_all()
        arrays = read_arrays(table)
    coder = {
        name.removeprefix("encoder."): array
        for name, array in arrays.items()
        if name.startswith("encoder.")
    }
    return Scorer(
        DataSchema.from_dict(json.loads(table.schema.metadata[_SCHEMA_KEY])),
        FeatureEncoder.from_arrays(coder),
        Structure(**{name: arrays[name] for name in _STRUCTURE}),
        arrays["leaf_values"],
    )
