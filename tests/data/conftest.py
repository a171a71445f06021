"""Data sets of the tests' own, in folders of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bagcn.data import DATASETS
from planetoidfiles import write_planetoid
from toy import write_toy


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's data folder, named by BAGCN_DATA, that holds the data sets toy and small."""
    folder = tmp_path / "own"
    monkeypatch.setitem(DATASETS, "toy", write_toy(folder))
    monkeypatch.setitem(DATASETS, "small", write_planetoid(folder))
    monkeypatch.setenv("BAGCN_DATA", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, named by BAGCN_CACHE; downloads are allowed."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("BAGCN_CACHE", str(folder))
    monkeypatch.delenv("BAGCN_OFFLINE")
    return folder
