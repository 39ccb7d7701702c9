"""Saved models wherever Spark keeps files, through tables; model.saved_format has the layout.

Safety     data are written first, under a number that no metadata names yet; the metadata file that
           is added last is the commit mark. Until it is there, readers find the older save.
Connect    paths are the server's. Nothing here needs more than the DataFrame API.
"""

from collections.abc import Iterator
from functools import reduce
from operator import or_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model.saved_format import (
    SavedModel,
    arrays_table,
    current_metadata,
    generation_of,
    metadata_line,
    model_arrays,
    model_of,
)
from lumberjack_spark.model.storage import read_saved, write_saved
from lumberjack_spark.spark._classic_files import local_path
from lumberjack_spark.spark.failures import failure_kind, without_rows

_MESSAGE_BYTES = 16 << 20  # a Connect server holds a message in memory several times


def save_anywhere(
    saved: SavedModel, path: str, *, session: SparkSession | None, overwrite: bool = False
) -> None:
    """Write a model to a local folder or to wherever the session keeps the path.

    Args:
        saved: the model.
        path: folder that does not exist yet, or with overwrite one that holds a model.
        session: needed unless the path is local.
        overwrite: whether a model that is there may be replaced.

    Raises:
        FileExistsError: something is there and overwrite is not set.
        ModelFormatError: what is there is no model of this package, so it is left alone.
        SparkFailureError: the path could not be written.
    """
    local = local_path(session, path)
    if local is not None:
        write_saved(saved, local, overwrite=overwrite)
        return
    assert session is not None
    lines = _metadata_lines(session, path)
    generation = 1
    if lines is not None:
        if not overwrite:
            raise FileExistsError(f"{path} must not exist yet; overwriting has to be asked for")
        where = f"not overwritten, remove it first: {path}"
        generation = generation_of(current_metadata(lines, where=where)) + 1
    without_rows("saving the model", lambda: _write(saved, path, session, generation))


def _write(saved: SavedModel, path: str, session: SparkSession, generation: int) -> None:
    """Write one save: data, then the line that makes them count."""
    data = _data_path(path, generation)
    mode = "overwrite"  # of what an interrupted save left there
    for rows in _messages(arrays_table(model_arrays(saved.model))):
        session.createDataFrame(rows).coalesce(1).write.mode(mode).parquet(data)
        mode = "append"
    line = metadata_line(saved, generation=generation)
    mark = session.createDataFrame([(line,)], "value string")
    mark.coalesce(1).write.mode("append").text(_metadata_path(path))
    if generation > 1:
        # Readers no longer look at it; through tables it can be emptied, not removed.
        session.range(0).write.mode("overwrite").parquet(_data_path(path, generation - 1))


def _read(data: DataFrame) -> pa.Table:
    """Rows of the arrays, in groups that a session gives at once."""
    sizes = data.select("name", "part", sql.length("bytes").alias("size")).toArrow().to_pylist()
    groups: list[list[Column]] = [[]]
    held = 0
    for row in sizes:
        if held + row["size"] > _MESSAGE_BYTES and groups[-1]:
            groups.append([])
            held = 0
        held += row["size"]
        groups[-1].append((sql.col("name") == row["name"]) & (sql.col("part") == row["part"]))
    if len(groups) == 1:
        return data.toArrow()
    return pa.concat_tables(data.where(reduce(or_, group)).toArrow() for group in groups)


def _messages(table: pa.Table) -> Iterator[pa.Table]:
    """The rows of a table in groups that a session takes at once."""
    start, held = 0, 0
    for i, content in enumerate(table.column("bytes")):
        held += len(content.as_buffer() or b"")
        if held >= _MESSAGE_BYTES or i + 1 == table.num_rows:
            yield table.slice(start, i + 1 - start)
            start, held = i + 1, 0


def load_anywhere(path: str, *, session: SparkSession | None) -> SavedModel:
    """Read a model from a local folder or from wherever the session keeps the path.

    Raises:
        ModelFormatError: names what was found instead.
        SparkFailureError: the path could not be read.
    """
    local = local_path(session, path)
    if local is not None:
        return read_saved(local)
    assert session is not None
    lines = _metadata_lines(session, path)
    if lines is None:
        raise ModelFormatError(f"{path}: no saved model is there")
    metadata = current_metadata(lines, where=path)
    try:
        table = _read(session.read.parquet(_data_path(path, generation_of(metadata))))
    except Exception as error:
        kind = failure_kind(error)
        raise ModelFormatError(f"{path}: its data cannot be read: {kind}") from None
    return model_of(metadata, table, where=path)


def metadata_class(path: str, *, session: SparkSession) -> str | None:
    """Class of the Spark ML stage that a path holds, None if it holds none."""
    import json

    for line in _metadata_lines(session, path) or ():
        try:
            return str(json.loads(line)["class"])
        except (ValueError, KeyError, TypeError):
            continue
    return None


def _data_path(path: str, generation: int) -> str:
    return f"{path.rstrip('/')}/data/{generation}"


def _metadata_path(path: str) -> str:
    return f"{path.rstrip('/')}/metadata"


def _metadata_lines(session: SparkSession, path: str) -> list[str] | None:
    """Lines of all metadata files, None if there are none."""
    try:
        table: DataFrame = session.read.text(_metadata_path(path))
        return [row[0] for row in table.collect()]
    except Exception as error:
        if "PATH_NOT_FOUND" in failure_kind(error):
            return None
        kind = failure_kind(error)
        raise ModelFormatError(f"{path}: its metadata cannot be read: {kind}") from None
