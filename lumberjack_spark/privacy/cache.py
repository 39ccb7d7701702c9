"""Calibrated releases on disk, by their inputs.

Purpose    a calibration takes seconds; the same inputs give the same release.
Safe side  an entry is used only if its checksum fits and its inputs are those asked for. A folder
           that cannot be used and a damaged entry are as good as an empty cache, never an error.
"""

import base64
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from lumberjack_spark.privacy.certified import CertifiedRelease
from lumberjack_spark.privacy.plan import (
    BitTable,
    ExponentialLeaves,
    GaussianLeaves,
    GaussianMarginals,
)
from lumberjack_spark.privacy.release import Release
from lumberjack_spark.privacy.request import PlanRequest

# Raise it whenever a calibration may give another result, or an accountant another bound.
FORMAT_VERSION = 1
CACHE_VARIABLE = "LUMBERJACK_CACHE_DIR"


def cache_folder() -> Path:
    """Folder named by LUMBERJACK_CACHE_DIR, else one in the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    return base / "lumberjack_spark"


def load(request: PlanRequest) -> CertifiedRelease | None:
    """The release that was stored for these inputs, or None."""
    try:
        entry = json.loads(_path(request).read_text(encoding="utf-8"))
        body = entry["body"]
        if entry["sha256"] != _digest(body) or body["inputs"] != _inputs(request):
            return None
        found = _decode(body, request)
    except Exception:
        # Whatever is wrong with an entry, it can be made again.
        return None
    return found if found.delta <= request.delta else None


def store(request: PlanRequest, found: CertifiedRelease) -> None:
    """Keep a release for these inputs, if the folder allows it; readers never see half of it."""
    body = _encode(found, request)
    text = json.dumps({"sha256": _digest(body), "body": body})
    try:
        path = _path(request)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    except (OSError, RuntimeError):
        return
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)


def _inputs(request: PlanRequest) -> dict[str, Any]:
    """Everything that a stored release depends on, as it reads after a trip through JSON."""
    inputs = {"format": FORMAT_VERSION, **request.to_dict()}
    decoded: dict[str, Any] = json.loads(json.dumps(inputs))
    return decoded


def _path(request: PlanRequest) -> Path:
    """File of these inputs."""
    return cache_folder() / f"plan-{_digest(_inputs(request))}.json"


def _digest(body: Any) -> str:
    """SHA-256 of a JSON-able value in a fixed form."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _encode(found: CertifiedRelease, request: PlanRequest) -> dict[str, Any]:
    """A release as JSON-able values."""
    release = found.release
    weights = release.bits.weights.astype("<u8").tobytes()
    body = {
        "inputs": _inputs(request),
        "minimum_count": release.bits.minimum_count,
        "weights": base64.b64encode(weights).decode(),
        "leaves": None if release.leaves is None else release.leaves.to_dict(),
        "marginals": None if release.marginals is None else release.marginals.to_dict(),
        "delta": found.delta,
        "notes": dict(found.notes),
    }
    decoded: dict[str, Any] = json.loads(json.dumps(body))
    return decoded


def _decode(body: dict[str, Any], request: PlanRequest) -> CertifiedRelease:
    """The release that _encode wrote."""
    raw = np.frombuffer(base64.b64decode(body["weights"]), dtype="<u8").astype(np.uint64)
    noise = body["leaves"]
    leaves: GaussianLeaves | ExponentialLeaves
    leaves = GaussianLeaves(noise["sigma"]) if "sigma" in noise else ExponentialLeaves(noise["eta"])
    marginals = body["marginals"]
    if marginals is not None:
        marginals = GaussianMarginals(marginals["sigma"], marginals["histograms"])
    release = Release(
        bits=BitTable(body["minimum_count"], raw),
        questions=request.questions,
        trees=request.num_trees,
        leaves=leaves,
        marginals=marginals,
        neighbors=request.neighbors,
        classes=request.num_classes,
    )
    return CertifiedRelease(release, body["delta"], body["notes"])
