"""The format of a saved model, wherever it is kept. No pickle; no code is run on reading.

A model is a folder that is at the same time a stage of a saved Spark ML pipeline:

    metadata/<any part file>   one line of JSON for each save: the keys of a Spark ML stage (class,
                               uid, paramMap, ...) and the key `lumberjack`, see below
    data/<generation>/*.parquet   rows (name, part, dtype, shape, bytes): arrays in little-endian C
                               order, cut into parts

The save with the highest generation counts: its data were complete before its line was written,
so that an interrupted save leaves the model that was there.

    lumberjack.format       "lumberjack_spark.forest"
    lumberjack.version      "1.0": a higher minor version may add fields and arrays, which are
                            ignored; a higher major version is refused
    lumberjack.generation   number of the save in this folder, from 1
    lumberjack.digest       SHA-256 over names, types, shapes and bytes of all arrays
    lumberjack.schema       DataSchema.to_dict()
    lumberjack.certificate  certificate without its schema

Arrays: roots, nodes, leaf_offsets, kinds, leaf_counts, leaf_values as in ForestModel, and
encoder.<name> as in encoding.packing.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lumberjack_spark.encoding import FeatureEncoder
from lumberjack_spark.errors import ModelFormatError, SchemaError
from lumberjack_spark.model.forest_model import ForestModel
from lumberjack_spark.schema import DataSchema
from lumberjack_spark.trees import Structure

MODEL_CLASS = "lumberjack_spark.ml.LumberjackClassificationModel"
ESTIMATOR_CLASSES = (
    "lumberjack_spark.ml.LumberjackClassifier",
    "lumberjack_spark.ml.classifier.LumberjackClassifier",
)
FORMAT = "lumberjack_spark.forest"
MAJOR, MINOR = 1, 0

ARRAY_SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("part", pa.int32()),
        ("dtype", pa.string()),
        ("shape", pa.list_(pa.int64())),
        ("bytes", pa.binary()),
    ]
)
_PART_BYTES = 1 << 22
_DTYPE = re.compile(r"[|<][biuf][1248]")
_STRUCTURE = ("roots", "nodes", "leaf_offsets", "kinds")
_ENCODER = "encoder."


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A model with what a Spark ML stage keeps beside it.

    Attributes:
        model: the forest.
        uid: name of the stage; "" for one made from the content.
        params: parameters that were set, JSON-able.
        default_params: defaults of the others.
    """

    model: ForestModel
    uid: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    default_params: Mapping[str, Any] = field(default_factory=dict)


def metadata_line(saved: SavedModel, *, generation: int) -> str:
    """The line of JSON of one save."""
    model = saved.model
    digest = arrays_digest(model_arrays(model))
    day = model.record.get("date", "1970-01-01")
    milliseconds = int(np.datetime64(day, "D").astype(np.int64)) * 86_400_000
    content = {
        "class": MODEL_CLASS,
        "timestamp": milliseconds,
        "sparkVersion": "4.0.0",  # the layout's, not the session's
        "uid": saved.uid or f"{MODEL_CLASS.rsplit('.', 1)[1]}_{digest[:12]}",
        "paramMap": dict(saved.params),
        "defaultParamMap": dict(saved.default_params),
        "lumberjack": {
            "format": FORMAT,
            "version": f"{MAJOR}.{MINOR}",
            "generation": generation,
            "digest": digest,
            "schema": model.schema.to_dict(),
            "certificate": dict(model.record),
        },
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def current_metadata(lines: Iterable[str], *, where: str) -> dict[str, Any]:
    """Content of the save that counts.

    Args:
        lines: lines of all metadata files.
        where: path for messages.

    Raises:
        ModelFormatError: names what is there instead and the class to use, or the version.
    """
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            content = json.loads(line)
        except ValueError:
            continue
        if isinstance(content, dict):
            found.append(content)
    ours = [content for content in found if isinstance(content.get("lumberjack"), dict)]
    if not ours:
        raise ModelFormatError(f"{where}: {_found_instead(found)}")
    content = max(ours, key=lambda each: _generation(each, where))
    _check_version(content["lumberjack"], where)
    return content


def generation_of(metadata: Mapping[str, Any]) -> int:
    """Number of the save that metadata describes."""
    return int(metadata["lumberjack"]["generation"])


def model_arrays(model: ForestModel) -> dict[str, np.ndarray]:
    """All arrays of a model by name."""
    arrays = {name: getattr(model.structure, name) for name in _STRUCTURE}
    arrays |= {"leaf_counts": model.leaf_counts, "leaf_values": model.leaf_values}
    return arrays | {_ENCODER + name: array for name, array in model.encoder.to_arrays().items()}


def arrays_digest(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and bytes of arrays, in hexadecimal."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        plain = _little_endian(array)
        digest.update(f"{name}:{plain.dtype.str}:{plain.shape}:".encode())
        digest.update(plain.data)
    return digest.hexdigest()


def arrays_table(arrays: Mapping[str, np.ndarray]) -> pa.Table:
    """Arrays as rows of ARRAY_SCHEMA."""
    rows: list[dict[str, Any]] = []
    for name, array in arrays.items():
        plain = _little_endian(array)
        content = plain.tobytes()
        starts = range(0, max(len(content), 1), _PART_BYTES)
        rows += [
            {
                "name": name,
                "part": part,
                "dtype": plain.dtype.str,
                "shape": list(plain.shape),
                "bytes": content[start : start + _PART_BYTES],
            }
            for part, start in enumerate(starts)
        ]
    return pa.Table.from_pylist(rows, schema=ARRAY_SCHEMA)


def model_of(metadata: Mapping[str, Any], table: pa.Table, *, where: str) -> SavedModel:
    """The model that metadata and arrays describe.

    Raises:
        ModelFormatError: something is missing, cut off or does not fit together.
    """
    ours = metadata["lumberjack"]
    try:
        arrays = read_arrays(table)
        known = {name: arrays[name] for name in (*_STRUCTURE, "leaf_counts", "leaf_values")}
        coder = {
            name.removeprefix(_ENCODER): array
            for name, array in arrays.items()
            if name.startswith(_ENCODER)
        }
        if ours["digest"] != arrays_digest(arrays):
            raise ModelFormatError("its arrays are not those that were saved: a damaged copy")
        model = ForestModel(
            schema=DataSchema.from_dict(ours["schema"]),
            encoder=FeatureEncoder.from_arrays(coder),
            structure=Structure(**{name: known[name] for name in _STRUCTURE}),
            leaf_counts=known["leaf_counts"],
            leaf_values=known["leaf_values"],
            record=dict(ours["certificate"]),
        )
    except KeyError as error:
        raise ModelFormatError(f"{where}: a part of the model is missing: {error}") from None
    except (ModelFormatError, SchemaError, ValueError, TypeError) as error:
        raise ModelFormatError(f"{where}: {error}") from None
    return SavedModel(
        model,
        str(metadata.get("uid", "")),
        dict(metadata.get("paramMap", {})),
        dict(metadata.get("defaultParamMap", {})),
    )


def _little_endian(array: np.ndarray) -> np.ndarray:
    """The array in C order and little-endian bytes."""
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def read_arrays(table: pa.Table) -> dict[str, np.ndarray]:
    """Arrays of rows of ARRAY_SCHEMA."""
    missing = [name for name in ARRAY_SCHEMA.names if name not in table.schema.names]
    if missing:
        raise ModelFormatError(f"its data must have columns {', '.join(ARRAY_SCHEMA.names)}")
    rows = table.select(ARRAY_SCHEMA.names).to_pylist()
    rows.sort(key=lambda row: (row["name"], row["part"]))
    arrays = {}
    for name, group in itertools.groupby(rows, key=lambda row: row["name"]):
        parts = list(group)
        arrays[name] = _read_array(name, parts)
    return arrays


def _read_array(name: str, parts: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """One array of its parts, writable."""
    dtype, shape = parts[0]["dtype"], parts[0]["shape"]
    if not _DTYPE.fullmatch(dtype) or any(length < 0 for length in shape):
        raise ModelFormatError(f"array {name} must be of little-endian numbers, got {dtype!r}")
    content = bytearray(b"".join(part["bytes"] for part in parts))
    kind = np.dtype(dtype)
    if [part["part"] for part in parts] != list(range(len(parts))) or (
        len(content) != int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    ):
        raise ModelFormatError(f"array {name} must be complete: the data were cut off")
    return np.frombuffer(content, kind).reshape(shape).astype(kind.newbyteorder("="), copy=False)


def _generation(content: Mapping[str, Any], where: str) -> int:
    """Number of a save."""
    number = content["lumberjack"].get("generation")
    if not isinstance(number, int) or number < 1:
        raise ModelFormatError(f"{where}: the metadata must number the save, got {number!r}")
    return number


def _check_version(ours: Mapping[str, Any], where: str) -> None:
    """Refuse another format or a version that this release cannot read."""
    kind, version = ours.get("format"), str(ours.get("version"))
    major, _, minor = version.partition(".")
    if kind != FORMAT or not (major.isdigit() and minor.isdigit()):
        got = f"{kind!r} version {version!r}"
        raise ModelFormatError(f"{where}: the format must be {FORMAT!r}, got {got}")
    if int(major) > MAJOR:
        raise ModelFormatError(
            f"{where}: format version must be at most {MAJOR}.x, got {version}: "
            "read it with a newer release of lumberjack-spark"
        )


def _found_instead(found: Sequence[Mapping[str, Any]]) -> str:
    """What a path holds that is no model of ours, and how to load it."""
    names = [str(content["class"]) for content in found if "class" in content]
    if not names:
        return "holds no model of this package: its metadata cannot be read"
    name = names[0].replace("org.apache.spark", "pyspark")
    if name in ESTIMATOR_CLASSES:
        return "holds a LumberjackClassifier that is not fitted: use LumberjackClassifier.load"
    if name == MODEL_CLASS:
        return "holds a LumberjackClassificationModel without its content: a damaged copy"
    return f"holds a {name}: use {name.rsplit('.', 1)[-1]}.load"
