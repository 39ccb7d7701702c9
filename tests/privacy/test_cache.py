"""Stored plans: found again by their inputs, never trusted when damaged, never in the way."""

import json

import numpy as np
import pytest

from lumberjack_spark.privacy import cache, make_plan, planning

USUAL = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "num_trees": 3,
    "max_depth": 8,
    "min_exact_count": 0,
    "leaf_share": 0.4,
    "marginal_share": 0.0,
}


def entries(folder):
    return sorted(folder.glob("plan-*.json"))


@pytest.fixture
def calibrations(monkeypatch):
    """Number of calibrations that were really run."""
    runs = []
    real = planning.calibrate

    def counted(request):
        runs.append(request)
        return real(request)

    monkeypatch.setattr(planning, "calibrate", counted)
    return runs


@pytest.mark.parametrize(
    "changes", [{}, {"leaf_mode": "majority", "histograms": 3, "marginal_share": 0.1}]
)
def test_the_same_inputs_give_the_stored_plan(cache_folder, calibrations, changes):
    first, second = (make_plan(**{**USUAL, **changes}) for _ in range(2))
    assert len(calibrations) == 1
    assert second.to_dict() == first.to_dict()
    assert np.array_equal(second.bits.weights, first.bits.weights)
    assert [path.suffix for path in cache_folder.iterdir()] == [".json"]


def test_other_inputs_give_another_entry(cache_folder, calibrations):
    make_plan(**USUAL)
    make_plan(**{**USUAL, "epsilon": 1.0000001})
    make_plan(**{**USUAL, "min_exact_count": 8})
    assert len(entries(cache_folder)) == len(calibrations) == 3


def test_another_format_version_is_another_entry(cache_folder, calibrations, monkeypatch):
    make_plan(**USUAL)
    monkeypatch.setattr(cache, "FORMAT_VERSION", cache.FORMAT_VERSION + 1)
    make_plan(**USUAL)
    assert len(entries(cache_folder)) == len(calibrations) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"sigma": ', '"sigma": 1'),
        lambda text: json.dumps({"sha256": "", "body": []}),
        lambda text: "[]",
    ],
)
def test_a_damaged_entry_is_made_again(cache_folder, calibrations, damage):
    first = make_plan(**USUAL)
    (path,) = entries(cache_folder)
    text = path.read_text()
    path.write_text(damage(text))
    assert make_plan(**USUAL).to_dict() == first.to_dict()
    assert len(calibrations) == 2
    assert path.read_text() == text


def test_an_entry_under_another_name_is_not_used(cache_folder, calibrations):
    make_plan(**{**USUAL, "epsilon": 2.0})
    (wrong,) = entries(cache_folder)
    make_plan(**USUAL)
    (right,) = set(entries(cache_folder)) - {wrong}
    right.write_text(wrong.read_text())
    make_plan(**USUAL)
    assert len(calibrations) == 3


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, calibrations, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    monkeypatch.setenv("LUMBERJACK_CACHE_DIR", str(blocker / "below"))
    make_plan(**USUAL)
    make_plan(**USUAL)
    assert len(calibrations) == 2


def test_the_user_s_cache_folder_is_the_default(monkeypatch, tmp_path):
    monkeypatch.delenv("LUMBERJACK_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.cache_folder() == tmp_path / "lumberjack_spark"
