"""Forests whose arrays would lead scoring astray are refused."""

import numpy as np
import pytest

from lumberjack_spark.model.soundness import forest_mistakes
from lumberjack_spark.trees import Structure

NODES = [[0, 3, ~0, 1], [1, 2, ~1, ~2]]


def mistakes(nodes=NODES, *, roots=(0,), offsets=(0, 3), kinds=(0, 1), counts=None, values=None):
    structure = Structure(
        np.array(roots, np.int32),
        np.array(nodes, np.int32).reshape(-1, 4),
        np.array(offsets, np.int64),
        np.array(kinds, np.uint8),
    )
    n = int(offsets[-1])
    counts = np.zeros((n, 2), np.int64) if counts is None else counts
    values = np.ones((n, 2), np.float32) if values is None else values
    return forest_mistakes(structure, counts, values, n_columns=2, n_classes=2)


def test_a_sound_forest_has_no_mistakes():
    assert mistakes() == []
    assert mistakes([], roots=(~0,), offsets=(0, 1)) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nodes": [[2, 3, ~0, 1], NODES[1]]}, "column"),
        ({"nodes": [[0, 3, ~0, 2], NODES[1]]}, "nodes or leaves of the forest"),
        ({"nodes": [[0, 3, ~3, 1], NODES[1]]}, "nodes or leaves of the forest"),
        ({"nodes": [[0, 3, ~0, 0], NODES[1]]}, "referred to once"),
        ({"nodes": [[0, 3, ~0, 1], [1, 2, ~1, ~1]]}, "referred to once"),
        ({"roots": (1,)}, "referred to once"),
        ({"offsets": (0, 0, 3), "roots": (0, 1)}, "give each tree a leaf"),
        ({"kinds": (0,)}, "kinds"),
        ({"values": np.ones((3, 2))}, "leaf_values"),
        ({"values": np.full((3, 2), np.nan, np.float32)}, "finite"),
        ({"counts": np.zeros((3, 3), np.int64)}, "leaf_counts"),
    ],
)
def test_an_unsound_forest_is_named(change, told):
    assert any(told in mistake for mistake in mistakes(**change))


@pytest.mark.parametrize(("n", "fits"), [(126, True), (127, False)])
def test_a_path_that_is_too_long_is_refused(n, fits):
    nodes = [[0, 1, ~i, i + 1] for i in range(n)]
    nodes[-1][3] = ~n
    assert (mistakes(nodes, offsets=(0, n + 1)) == []) == fits
