"""Rows of the input, the rows that are held out, and the place of the output.

Types      are declared or come with the files; they are never inferred from content. A value that
           does not fit its declared type is missing: nothing is raised.
Split      by each row's own id, so that one more row changes the side of no other:
           the first 32 bits of SHA-256("<salt>:<id>") are below test_fraction * 2^32.
"""

import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from jobs._config import InputSection, OutputSection, SplitSection
from jobs._datasets import load_dataset
from lumberjack_spark.errors import ModelFormatError, SchemaError, SparkFailureError
from lumberjack_spark.model import ForestModel, load_model
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.spark._classic_files import local_path
from lumberjack_spark.spark.columns import quoted
from lumberjack_spark.spark.failures import failure_kind
from lumberjack_spark.spark.storage import load_anywhere, metadata_class

LOGGER = logging.getLogger("lumberjack_spark.jobs")
_HASH_RANGE = 2**32
# Spark says so when the declaration is wrong, before it reads any row.
_DECLARATION_ERRORS = ("AnalysisException", "ParseException", "IllegalArgumentException")


def read_rows(session: SparkSession, source: InputSection) -> DataFrame:
    """The table of the input section, its `where` applied.

    Raises:
        SchemaError: it is not there, or cannot be read as declared.
        SparkFailureError: Spark failed to look at it.
    """
    if source.dataset is not None:
        folder, options = source.resolved_folder(), source.options
        content = load_dataset(source.dataset, folder=folder, options=options)
        rows = session.createDataFrame(content)
    else:
        what = f"table {source.table!r}" if source.path is None else f"path {source.path!r}"
        path = None if source.path is None else source.resolved_path()
        rows = _analysed(f"input: {what} cannot be read", partial(_open, session, source, path))
    for name, kind in source.types.items():
        if name not in rows.columns:
            raise SchemaError(f"input.types: column {name!r} must be in the table")
        where = f"input.types: column {name!r} must have a Spark type to cast to, got {kind!r}"
        rows = _analysed(where, partial(_with_type, rows, name, kind))
    if source.where is not None:
        where = f"input.where must be an SQL condition on the table, got {source.where!r}"
        rows = _analysed(where, partial(rows.where, source.where))
    return rows


def training_rows(rows: DataFrame, split: SplitSection | None) -> DataFrame:
    """Rows to train on: all without a split, else those that are not held out."""
    return rows if split is None else rows.where(~_is_held_out(rows, split))


def held_out_rows(rows: DataFrame, split: SplitSection | None) -> DataFrame:
    """Rows that no training with this split sees.

    Raises:
        SchemaError: there is no split.
    """
    if split is None:
        raise SchemaError("split must be declared: without one every row is trained on")
    return rows.where(_is_held_out(rows, split))


def check_output_is_free(session: SparkSession, output: OutputSection, *, overwrite: bool) -> str:
    """Path for a model, refused before a budget is spent if nothing could be written there.

    Raises:
        SchemaError: it is taken, or cannot be written.
        ModelFormatError: it may be overwritten, but holds something else than a model.
    """
    path = output.resolved_path()
    local = local_path(session, path)
    if local is None:
        taken = metadata_class(path, session=session) is not None
    else:
        taken = os.path.lexists(local)
        _check_writable(Path(local))
        if taken and overwrite:
            _check_is_model(local)
    if taken and not overwrite:
        raise SchemaError(
            f"output.path {path!r} must not exist yet: choose another, or give --overwrite to "
            "replace the model there"
        )
    return path


def load_model_of(session: SparkSession, path: str, schema: DataSchema) -> ForestModel:
    """The model at a path, which must have been fitted with this schema's label and classes.

    Raises:
        ModelFormatError: no model is there; says what is there instead.
        SchemaError: it is a model for another question.
    """
    forest = load_anywhere(path, session=session).model
    found = forest.schema
    if (found.label, found.classes) != (schema.label, schema.classes):
        raise SchemaError(
            f"label: the model at {path!r} must have been trained for {schema.label!r} with "
            f"classes {list(schema.classes)}, got {found.label!r} with {list(found.classes)}"
        )
    if found != schema:
        LOGGER.warning("The config declares features otherwise than %s does; its own hold.", path)
    return forest


def _open(session: SparkSession, source: InputSection, path: str | None) -> DataFrame:
    """The table as it is stored."""
    if path is None:
        return session.table(source.table or "")
    reader = session.read.format(source.format).options(**source.options)
    if source.format == "json":
        declared = (f"{quoted(name)} {kind}" for name, kind in source.types.items())
        reader = reader.schema(", ".join(declared))
    return reader.load(path)


def _with_type(rows: DataFrame, name: str, kind: str) -> DataFrame:
    """The table with one column cast; null where the value does not fit."""
    cast = sql.col(quoted(name)).try_cast(kind)
    return rows.select(*(cast.alias(n) if n == name else sql.col(quoted(n)) for n in rows.columns))


def _analysed(where: str, make: Callable[[], DataFrame]) -> DataFrame:
    """A table whose declaration Spark has judged.

    Raises:
        SchemaError: begins with `where`. Spark's own words are left out: they may quote content.
    """
    try:
        rows = make()
        _ = rows.schema
    except Exception as error:
        kind = failure_kind(error)
        is_mistake = kind.startswith(_DECLARATION_ERRORS)
        failed = SparkFailureError(f"reading the input failed: {kind}")
        found = SchemaError(f"{where}: {kind}") if is_mistake else failed
    else:
        return rows
    raise found from None


def _is_held_out(rows: DataFrame, split: SplitSection) -> Column:
    """Whether a row is held out; all rows without an id are on one side."""
    if split.id not in rows.columns:
        raise SchemaError(f"split.id: column {split.id!r} must be in the table")
    identity = sql.coalesce(sql.col(quoted(split.id)).cast("string"), sql.lit(""))
    digest = sql.sha2(sql.concat(sql.lit(f"{split.salt}:"), identity).cast("binary"), 256)
    number = sql.conv(sql.substring(digest, 1, 8), 16, 10).cast("bigint")
    return number < sql.lit(round(split.test_fraction * _HASH_RANGE))


def _check_writable(folder: Path) -> None:
    """Refuse a local path under a folder that cannot be written."""
    parent = next(each for each in folder.absolute().parents if each.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise SchemaError(f"output.path {str(folder)!r} must be writable, got {str(parent)!r}")


def _check_is_model(path: str) -> None:
    """Refuse to overwrite what is no model."""
    try:
        load_model(path)
    except ModelFormatError as error:
        raise ModelFormatError(f"output.path is not overwritten: {error}") from None
