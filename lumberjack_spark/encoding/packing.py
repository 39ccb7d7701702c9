"""An encoder as flat arrays, and back: what a saved model holds.

kinds          uint8[d]: 0 linear, 1 steps, 2 categories in an order, 3 categories asked one by one
missing        uint16[d], code of a missing number; 0 for categories
bounds         float64[d, 2] and places uint16[d, 2]: the two ends of linear codes, else 0
edges          float64[n] of all step features, feature f at edge_offsets[f]..edge_offsets[f + 1]
codes          uint16[n] of all step and category features, cut by code_offsets in the same way
scores         of all score columns s and features f, cut by score_offsets, int64[s * d + 1]:
               score_inputs uint16[n], codes of f, and score_values int32[n], their values
score_edges    int64[m] and score_codes uint16[m + s], cut by score_edge_offsets, int64[s + 1]
score_weights  float64[s, d]
pairs          int64[p, 2], the two features of each pair column; pair columns follow the scores.
               The arrays of pairs may be left out where there are none
pair_groups    int64[n] of both features of all pairs, cut by pair_group_offsets, int64[2 * p + 1]
pair_codes     uint16[n], a row of groups of the first feature after the other, cut by
               pair_code_offsets, int64[p + 1]
class_shares   float64[n_classes], empty if not released
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from lumberjack_spark.encoding.codes import (
    CategoryCodes,
    FeatureCodes,
    LinearCodes,
    StepCodes,
)
from lumberjack_spark.encoding.joint import JointCodes, PairCodes, ScoreCodes
from lumberjack_spark.errors import ModelFormatError

LINEAR, STEPS, CATEGORIES, ONE_OF = range(4)

_TYPES = {
    "kinds": np.uint8,
    "missing": np.uint16,
    "bounds": np.float64,
    "places": np.uint16,
    "edges": np.float64,
    "edge_offsets": np.int64,
    "codes": np.uint16,
    "code_offsets": np.int64,
    "score_inputs": np.uint16,
    "score_values": np.int32,
    "score_offsets": np.int64,
    "score_edges": np.int64,
    "score_codes": np.uint16,
    "score_edge_offsets": np.int64,
    "score_weights": np.float64,
    "class_shares": np.float64,
}
_PAIR_TYPES = {
    "pairs": np.int64,
    "pair_groups": np.int64,
    "pair_group_offsets": np.int64,
    "pair_codes": np.uint16,
    "pair_code_offsets": np.int64,
}


def pack(
    features: Sequence[FeatureCodes],
    joint: Sequence[JointCodes],
    class_shares: np.ndarray | None,
) -> dict[str, np.ndarray]:
    """Flat arrays of an encoder."""
    d = len(features)
    kinds, missing = np.zeros(d, np.uint8), np.zeros(d, np.uint16)
    bounds, places = np.zeros((d, 2)), np.zeros((d, 2), np.uint16)
    edges: list[np.ndarray] = []
    codes: list[np.ndarray] = []
    for f, feature in enumerate(features):
        edges.append(feature.edges if isinstance(feature, StepCodes) else np.zeros(0))
        codes.append(np.zeros(0) if isinstance(feature, LinearCodes) else feature.codes)
        if isinstance(feature, CategoryCodes):
            kinds[f] = ONE_OF if feature.one_of else CATEGORIES
            continue
        missing[f] = feature.missing
        kinds[f] = STEPS
        if isinstance(feature, LinearCodes):
            kinds[f] = LINEAR
            bounds[f] = feature.low, feature.high
            places[f] = feature.first, feature.last
    return {
        "kinds": kinds,
        "missing": missing,
        "bounds": bounds,
        "places": places,
        "edges": _joined(edges, np.float64),
        "edge_offsets": _offsets(edges),
        "codes": _joined(codes, np.uint16),
        "code_offsets": _offsets(codes),
        **_pack_scores([column for column in joint if isinstance(column, ScoreCodes)], d),
        **_pack_pairs([column for column in joint if isinstance(column, PairCodes)]),
        "class_shares": np.zeros(0) if class_shares is None else class_shares.copy(),
    }


def _pack_scores(scores: Sequence[ScoreCodes], d: int) -> dict[str, np.ndarray]:
    """Flat arrays of the score columns."""
    inputs = [codes for score in scores for codes in score.inputs]
    values = [part for score in scores for part in score.values]
    edges = [score.edges for score in scores]
    weights = [score.weights for score in scores]
    return {
        "score_inputs": _joined(inputs, np.uint16),
        "score_values": _joined(values, np.int32),
        "score_offsets": _offsets(inputs),
        "score_edges": _joined(edges, np.int64),
        "score_codes": _joined([score.codes for score in scores], np.uint16),
        "score_edge_offsets": _offsets(edges),
        "score_weights": np.array(weights, np.float64).reshape(len(scores), d),
    }


def _pack_pairs(pairs: Sequence[PairCodes]) -> dict[str, np.ndarray]:
    """Flat arrays of the pair columns."""
    groups = [group for pair in pairs for group in pair.groups]
    codes = [pair.codes.ravel() for pair in pairs]
    return {
        "pairs": np.array([(p.first, p.second) for p in pairs], np.int64).reshape(len(pairs), 2),
        "pair_groups": _joined(groups, np.int64),
        "pair_group_offsets": _offsets(groups),
        "pair_codes": _joined(codes, np.uint16),
        "pair_code_offsets": _offsets(codes),
    }


def unpack(
    arrays: Mapping[str, np.ndarray],
) -> tuple[tuple[FeatureCodes, ...], tuple[JointCodes, ...], np.ndarray | None]:
    """Undo pack.

    Raises:
        ModelFormatError: the arrays do not describe an encoder.
    """
    types = {**_TYPES, **(_PAIR_TYPES if "pairs" in arrays else {})}
    for name, kind in types.items():
        if name not in arrays or arrays[name].dtype != kind:
            raise ModelFormatError(f"encoder array {name} must be there as {np.dtype(kind).name}")
    d = len(arrays["kinds"])
    edges = _cut(arrays, "edges", "edge_offsets", d)
    codes = _cut(arrays, "codes", "code_offsets", d)
    if arrays["bounds"].shape != (d, 2) or arrays["places"].shape != (d, 2):
        raise ModelFormatError("encoder arrays bounds and places must have a row for each feature")
    if len(arrays["missing"]) != d:
        raise ModelFormatError("encoder array missing must have an entry for each feature")
    features = tuple(_feature(arrays, f, edges[f], codes[f]) for f in range(d))
    shares = arrays["class_shares"]
    pairs = _unpack_pairs(arrays, d) if "pairs" in arrays else ()
    for pair in pairs:
        for f, group in zip((pair.first, pair.second), pair.groups, strict=True):
            if len(group) <= _largest_code(features[f]):
                raise ModelFormatError(f"encoder array pair_groups must have all codes of {f}")
    joint: tuple[JointCodes, ...] = (*_unpack_scores(arrays, d), *pairs)
    return features, joint, shares.copy() if len(shares) else None


def _unpack_scores(arrays: Mapping[str, np.ndarray], d: int) -> tuple[ScoreCodes, ...]:
    """Score columns of flat arrays."""
    weights = arrays["score_weights"]
    n = len(weights)
    if weights.shape != (n, d) or len(arrays["score_codes"]) != len(arrays["score_edges"]) + n:
        raise ModelFormatError("encoder arrays of scores must have entries for each score column")
    if len(arrays["score_values"]) != len(arrays["score_inputs"]):
        raise ModelFormatError("encoder arrays score_inputs and score_values must be equally long")
    inputs = _cut(arrays, "score_inputs", "score_offsets", n * d)
    values = _cut(arrays, "score_values", "score_offsets", n * d)
    edges = _cut(arrays, "score_edges", "score_edge_offsets", n)
    starts = arrays["score_edge_offsets"][:-1] + np.arange(n)
    codes = [
        arrays["score_codes"][at : at + len(part) + 1]
        for at, part in zip(starts, edges, strict=True)
    ]
    if any(len(part) == 0 for part in inputs):
        raise ModelFormatError("encoder array score_inputs must have codes of each feature")
    return tuple(
        ScoreCodes(
            tuple(part.copy() for part in inputs[s * d : (s + 1) * d]),
            tuple(part.copy() for part in values[s * d : (s + 1) * d]),
            edges[s].copy(),
            codes[s].copy(),
            weights[s].copy(),
        )
        for s in range(n)
    )


def _unpack_pairs(arrays: Mapping[str, np.ndarray], d: int) -> tuple[PairCodes, ...]:
    """Pair columns of flat arrays."""
    pairs = arrays["pairs"]
    n = len(pairs)
    if pairs.shape != (n, 2) or not ((pairs >= 0) & (pairs < d)).all():
        raise ModelFormatError("encoder array pairs must have two features for each pair column")
    groups = _cut(arrays, "pair_groups", "pair_group_offsets", 2 * n)
    codes = _cut(arrays, "pair_codes", "pair_code_offsets", n)
    found = []
    for p, (first, second) in enumerate(pairs.tolist()):
        both = groups[2 * p].copy(), groups[2 * p + 1].copy()
        sizes = [int(group.max(initial=-1)) + 1 for group in both]
        if min(map(len, both)) == 0 or min(both[0].min(), both[1].min()) < 0:
            raise ModelFormatError("encoder array pair_groups must have a group >= 0 of each code")
        if len(codes[p]) != sizes[0] * sizes[1]:
            raise ModelFormatError("encoder array pair_codes must have a code for each two groups")
        found.append(PairCodes(first, second, both, codes[p].copy().reshape(sizes), d))
    return tuple(found)


def _joined(parts: Sequence[np.ndarray], kind: npt.DTypeLike) -> np.ndarray:
    """One array of all parts."""
    return np.concatenate([np.zeros(0, kind), *parts]).astype(kind)


def _feature(
    arrays: Mapping[str, np.ndarray], f: int, edges: np.ndarray, codes: np.ndarray
) -> FeatureCodes:
    """Codes of one feature."""
    kind, missing = int(arrays["kinds"][f]), int(arrays["missing"][f])
    if kind == LINEAR:
        low, high = map(float, arrays["bounds"][f])
        first, last = map(int, arrays["places"][f])
        return LinearCodes(low, high, first, last, missing)
    if kind == STEPS and len(codes) == len(edges) + 1:
        return StepCodes(edges.copy(), codes.copy(), missing)
    if kind in (CATEGORIES, ONE_OF) and len(codes) > 2:
        return CategoryCodes(codes.copy(), kind == ONE_OF)
    raise ModelFormatError(f"encoder arrays must describe feature {f} by one of the known kinds")


def _largest_code(feature: FeatureCodes) -> int:
    """Largest code that a feature can have."""
    if isinstance(feature, LinearCodes):
        return max(feature.last, feature.missing)
    largest = int(feature.codes.max())
    return max(largest, feature.missing) if isinstance(feature, StepCodes) else largest


def _offsets(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Where each part begins and ends once they are joined: int64[len + 1]."""
    return np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int64)


def _cut(arrays: Mapping[str, np.ndarray], name: str, by: str, d: int) -> list[np.ndarray]:
    """One part of a joined array for each feature."""
    joined, offsets = arrays[name], arrays[by]
    fits = len(offsets) == d + 1 and offsets[0] == 0 and offsets[-1] == len(joined)
    if not fits or (np.diff(offsets) < 0).any():
        raise ModelFormatError(f"encoder array {by} must cut {name} into a part for each feature")
    return [joined[start:end] for start, end in itertools.pairwise(offsets)]
