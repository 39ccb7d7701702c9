"""Accounting tests keep their own cache of plans, empty at the start."""

import pytest


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("plans")
    monkeypatch.setenv("LUMBERJACK_CACHE_DIR", str(folder))
    return folder
