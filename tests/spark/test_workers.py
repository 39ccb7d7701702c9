"""Python workers do not look through what stays loaded after each task."""

import gc
import sys

import pytest

from lumberjack_spark.spark import workers


@pytest.fixture
def fresh(monkeypatch):
    """A process that has not settled yet, and is left as it was."""
    monkeypatch.setattr(workers, "_settled_modules", 0)
    gc.collect()
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_what_is_loaded_is_left_out_of_collections(fresh):
    workers.settle()
    assert gc.get_freeze_count() > 10_000


def test_garbage_is_collected_first_and_later_objects_are_not_kept(fresh):
    class Link:
        alive = 0

        def __init__(self):
            self.me = self
            Link.alive += 1

        def __del__(self):
            Link.alive -= 1

    Link()
    workers.settle()
    assert Link.alive == 0
    frozen = gc.get_freeze_count()
    Link()
    workers.settle()
    assert gc.get_freeze_count() <= frozen
    gc.collect()
    assert Link.alive == 0


def test_new_modules_are_left_out_too(fresh, monkeypatch):
    workers.settle()
    frozen, kept = gc.get_freeze_count(), [[] for _ in range(1000)]
    monkeypatch.setitem(sys.modules, "lumberjack_test_of_workers", sys)
    workers.settle()
    assert gc.get_freeze_count() >= frozen + len(kept) // 2


def test_parts_are_passed_on_as_they_come(fresh):
    parts = workers.then_settle(iter("ab"))
    assert next(parts) == "a"
    assert gc.get_freeze_count() == 0
    assert list(parts) == ["b"]
    assert gc.get_freeze_count() > 0
