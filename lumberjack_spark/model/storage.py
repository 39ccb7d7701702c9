"""Saved models on local paths, read and written without Spark; saved_format has the layout.

Safety     a new model is written beside its place and renamed into it. An overwrite completes the
           new data first and then replaces one metadata file: whoever looks, at any moment, finds
           the old model or the new one.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lumberjack_spark.errors import ModelFormatError
from lumberjack_spark.model.forest_model import ForestModel
from lumberjack_spark.model.saved_format import (
    SavedModel,
    arrays_table,
    current_metadata,
    generation_of,
    metadata_line,
    model_arrays,
    model_of,
)

_PART = "part-00000"


def save_model(
    model: ForestModel, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model to a local folder.

    Args:
        model: the model.
        path: folder that does not exist yet, or with overwrite one that holds a model.
        overwrite: whether a model that is there may be replaced.

    Raises:
        FileExistsError: something is there and overwrite is not set.
        ModelFormatError: what is there is no model of this package, so it is left alone.
    """
    write_saved(SavedModel(model), path, overwrite=overwrite)


def load_model(path: str | os.PathLike[str]) -> ForestModel:
    """Read a model from a local folder.

    Raises:
        ModelFormatError: names what was found instead.
    """
    return read_saved(path).model


def write_saved(
    saved: SavedModel, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write a model with its stage's parameters; see save_model."""
    folder = Path(path)
    if os.path.lexists(folder):
        if not overwrite:
            raise FileExistsError(f"{folder} must not exist yet; overwriting has to be asked for")
        _replace(saved, folder)
    else:
        _create(saved, folder)


def read_saved(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model with its stage's parameters; see load_model."""
    folder = Path(path)
    metadata = current_metadata(_metadata_lines(folder), where=str(folder))
    data = folder / "data" / str(generation_of(metadata))
    files = sorted(data.glob("*.parquet")) if data.is_dir() else []
    if not files:
        raise ModelFormatError(f"{folder}: its data are missing: an incomplete copy")
    try:
        table = pa.concat_tables([pq.ParquetFile(file).read() for file in files])
    except (pa.ArrowException, OSError) as error:
        kind = type(error).__name__
        raise ModelFormatError(f"{folder}: its data cannot be read ({kind}): damaged") from None
    return model_of(metadata, table, where=str(folder))


def _create(saved: SavedModel, folder: Path) -> None:
    """Write a model where nothing is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = _fresh_folder(folder)
    try:
        _write_data(saved, beside, generation=1)
        _write_metadata(saved, beside, generation=1)
        os.rename(beside, folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _replace(saved: SavedModel, folder: Path) -> None:
    """Write a model over another one; the metadata file's rename is the moment of change."""
    try:
        generation = _current_generation(folder) + 1
    except ModelFormatError as error:
        raise ModelFormatError(f"not overwritten, remove it first: {error}") from None
    data = folder / "data" / str(generation)
    shutil.rmtree(data, ignore_errors=True)  # of a save that was interrupted
    try:
        _write_data(saved, folder, generation=generation)
        _write_metadata(saved, folder, generation=generation)
    except BaseException:
        if _current_generation(folder) != generation:
            shutil.rmtree(data, ignore_errors=True)
        raise
    _remove_old(folder, generation)


def _current_generation(folder: Path) -> int:
    """Number of the save that counts."""
    return generation_of(current_metadata(_metadata_lines(folder), where=str(folder)))


def _fresh_folder(folder: Path) -> Path:
    """A new empty folder beside another one; hidden, so that no listing takes it for a model."""
    for attempt in range(1000):
        beside = folder.parent / f".{folder.name}.writing-{os.getpid()}-{attempt}"
        try:
            beside.mkdir()
        except FileExistsError:
            continue
        return beside
    raise FileExistsError(f"{folder.parent} must have room for a new folder, got 1000 left over")


def _write_data(saved: SavedModel, folder: Path, *, generation: int) -> None:
    """Write the arrays of one save."""
    data = folder / "data" / str(generation)
    data.mkdir(parents=True)
    pq.write_table(
        arrays_table(model_arrays(saved.model)), data / f"{_PART}.parquet", compression="zstd"
    )


def _write_metadata(saved: SavedModel, folder: Path, *, generation: int) -> None:
    """Write the line of one save in one step."""
    metadata = folder / "metadata"
    metadata.mkdir(exist_ok=True)
    beside = metadata / f".{_PART}.writing-{os.getpid()}"
    beside.write_text(metadata_line(saved, generation=generation) + "\n", encoding="utf-8")
    # A checksum that Spark wrote for an older file would not fit the new one.
    (metadata / f".{_PART}.crc").unlink(missing_ok=True)
    os.replace(beside, metadata / _PART)


def _remove_old(folder: Path, generation: int) -> None:
    """Remove what earlier saves left; readers do not look at it."""
    for data in (folder / "data").iterdir():
        if data.name != str(generation):
            shutil.rmtree(data, ignore_errors=True)
    for part in _metadata_files(folder):
        if part.name != _PART:
            part.unlink(missing_ok=True)


def _metadata_files(folder: Path) -> list[Path]:
    """Metadata files as Spark would see them: hidden ones are none."""
    metadata = folder / "metadata"
    parts = sorted(metadata.iterdir()) if metadata.is_dir() else []
    return [part for part in parts if part.is_file() and not part.name.startswith((".", "_"))]


def _metadata_lines(folder: Path) -> Iterator[str]:
    """Lines of all metadata files.

    Raises:
        ModelFormatError: there are none; says what is there instead.
    """
    files = _metadata_files(folder)
    if not files:
        if not folder.exists():
            raise ModelFormatError(f"{folder}: nothing is there")
        if folder.is_file():
            raise ModelFormatError(f"{folder}: holds a file, a model is a folder")
        names = sorted(entry.name for entry in folder.iterdir())
        what = f"holds {', '.join(names[:5])}" if names else "is empty"
        raise ModelFormatError(f"{folder}: {what}; a saved model has a folder named metadata")
    for file in files:
        try:
            yield from file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            yield ""
