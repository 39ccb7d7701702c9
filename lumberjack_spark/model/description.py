"""A forest as text for people: public splits and released leaf values, nothing else."""

from collections.abc import Iterator

import numpy as np

from lumberjack_spark.encoding import (
    CategoryCodes,
    FeatureEncoder,
    LinearCodes,
    PairCodes,
    StepCodes,
)
from lumberjack_spark.schema import Categorical, DataSchema, Feature
from lumberjack_spark.trees import ONE_OF, Structure

_MOST_SHOWN = 8  # categories of one condition


def describe_forest(
    schema: DataSchema, encoder: FeatureEncoder, structure: Structure, leaf_values: np.ndarray
) -> str:
    """All trees as indented conditions; the values of a leaf are in the order of the classes."""
    lines = [
        f"Forest of {structure.num_trees} trees, {len(structure.nodes)} split nodes, "
        f"{structure.num_leaves} leaves; classes {list(schema.classes)}"
    ]
    conditions = _Conditions(schema, encoder)
    for tree, root in enumerate(structure.roots):
        lines.append(f"Tree {tree}")
        lines += _tree_lines(int(root), structure, leaf_values, conditions)
    return "\n".join(lines)


def _tree_lines(
    root: int, structure: Structure, leaf_values: np.ndarray, conditions: "_Conditions"
) -> Iterator[str]:
    """Lines of one tree, parents first."""
    waiting = [(root, 1, "")]
    while waiting:
        reference, depth, prefix = waiting.pop()
        indent = "  " * depth
        if prefix:
            yield indent[2:] + prefix
        if reference < 0:
            values = ", ".join(f"{value:.4g}" for value in leaf_values[~reference])
            yield f"{indent}predict [{values}]"
            continue
        column, code, left, right = map(int, structure.nodes[reference])
        text = conditions.of(column, code, one_of=structure.kinds[column] == ONE_OF)
        waiting.append((right, depth + 1, f"else, not {text}"))
        waiting.append((left, depth + 1, f"if {text}"))


class _Conditions:
    """Splits in words."""

    def __init__(self, schema: DataSchema, encoder: FeatureEncoder) -> None:
        self._features = schema.features
        self._codes = encoder.features
        self._joint = encoder.joint

    def of(self, column: int, code: int, *, one_of: bool) -> str:
        """When a row goes left."""
        if column >= len(self._features):
            return self._of_joint(column - len(self._features), code)
        feature, codes = self._features[column], self._codes[column]
        if isinstance(codes, CategoryCodes):
            return _category_condition(feature, codes, code, one_of=one_of)
        if isinstance(codes, LinearCodes):
            step = (codes.high - codes.low) / (codes.last - codes.first)
            text = f"{feature.name!r} < {codes.low + (code + 1 - codes.first) * step:.6g}"
        else:
            text = _step_condition(feature, codes, code)
        return f"({text} or it is missing)" if codes.missing <= code else text

    def _of_joint(self, column: int, code: int) -> str:
        """A condition on a column of several features."""
        joint = self._joint[column]
        if isinstance(joint, PairCodes):
            names = [self._features[f].name for f in (joint.first, joint.second)]
            return f"({names[0]!r}, {names[1]!r}) has a place <= {code}"
        return f"score {column} <= {code}"


def _step_condition(feature: Feature, codes: StepCodes, code: int) -> str:
    """A condition on steps: one bound where codes ascend, else the intervals."""
    left = codes.codes <= code
    if (np.diff(codes.codes.astype(np.int64)) >= 0).all():
        within = int(left.sum())
        if within == len(left):
            return f"{feature.name!r} has any value"
        return f"{feature.name!r} < {codes.edges[within - 1]:.6g}" if within else "never"
    ends = ["-inf", *(f"{edge:.6g}" for edge in codes.edges), "inf"]
    spans = [f"[{ends[i]}, {ends[i + 1]})" for i in np.flatnonzero(left)]
    return f"{feature.name!r} in {_shortened(spans)}"


def _category_condition(feature: Feature, codes: CategoryCodes, code: int, *, one_of: bool) -> str:
    """A condition on categories."""
    declared = feature.declaration
    assert isinstance(declared, Categorical)
    if one_of:
        return f"{feature.name!r} is {declared.values[code]!r}"
    names = [*map(repr, declared.values), "other", "missing"]
    left = [names[i] for i in np.flatnonzero(codes.codes <= code)]
    return f"{feature.name!r} in {_shortened(left)}"


def _shortened(names: list[str]) -> str:
    """A set in words, cut when it is long."""
    more = f", and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return "{" + ", ".join(names[:_MOST_SHOWN]) + more + "}"
