"""What every test can rely on: no network, no cache of the user's, and two kinds of graphs."""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

with warnings.catch_warnings():
    # On import PyG compiles classes in a way that PyTorch calls deprecated; not ours to change.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Data

from bagcn.data import DATASETS, sources
from bagcn.data.synthetic import synthetic_graph


@pytest.fixture(scope="session")
def _empty_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _alone(_empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads the user's cache or downloads; one that must unsets these itself."""
    monkeypatch.setenv("BAGCN_CACHE", str(_empty_cache))
    monkeypatch.setenv("BAGCN_OFFLINE", "1")


@pytest.fixture
def raw_data() -> Callable[[str], Path]:
    """``raw_data("photo")`` is the folder with its raw files; skips where they are not."""

    def folder(name: str) -> Path:
        own = sources.data_folder(None)
        info = DATASETS[name]
        if own is None or sources.missing_files(info, own / info.folder):
            pytest.skip(f"BAGCN_DATA does not hold the raw files of {info.title}")
        return own

    return folder


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file can grow beyond 16 KiB, as on a disk without room: writing fails half-way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="session")
def _tiny() -> Data:
    return synthetic_graph(60, num_classes=3, regions_per_class=2, num_features=8, noise=1.0)


@pytest.fixture
def tiny_graph(_tiny: Data) -> Data:
    """Sixty nodes, three classes in six components, dense features, masks; yours to change."""
    return _tiny.clone()
