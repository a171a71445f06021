from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bagcn.data import DATASETS, MissingDataError, download, load
from bagcn.data.sources import (
    cache_folder,
    data_folder,
    find,
    missing_files,
    network_forbidden,
    obtain,
    whereabouts,
)


def test_the_argument_comes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    assert data_folder(None) is None
    monkeypatch.setenv("BAGCN_DATA", "~/variable")
    assert data_folder(None) == Path.home() / "variable"
    assert data_folder("argument") == Path("argument")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, ".cache/bagcn"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/bagcn"),
        ("darwin", {}, "Library/Caches/bagcn"),
        ("win32", {}, "AppData/Local/bagcn/Cache"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/bagcn/Cache"),
        ("linux", {"BAGCN_CACHE": "~/mine", "XDG_CACHE_HOME": "/xdg"}, "mine"),
    ],
)
def test_the_platform_s_cache(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
) -> None:
    for name in ("BAGCN_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == Path.home() / expected


@pytest.mark.parametrize("value", ["1", "true", "Yes", "ON"])
def test_offline_by_the_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("BAGCN_OFFLINE", value)
    assert network_forbidden(False)
    monkeypatch.setenv("BAGCN_OFFLINE", "0")
    assert not network_forbidden(False)
    assert network_forbidden(True)


def downloaded(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes], reasons: list[str] | None = None
) -> list[Path]:
    """Let a download put these files into its target; the targets it was given come back."""
    targets: list[Path] = []

    def fetch(info: Any, target: Path, progress: Any = None) -> list[str]:
        targets.append(target)
        for name, content in files.items():
            (target / name).write_bytes(content)
        return reasons or []

    monkeypatch.setattr(download, "fetch", fetch)
    return targets


def test_the_order_of_the_sources(own: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Your folder, the cache, the network; and what is downloaded goes into the cache only."""
    file = own / "Toy" / "raw" / "toy.npz"
    content = file.read_bytes()
    targets = downloaded(monkeypatch, {"toy.npz": content})
    info = DATASETS["toy"]
    assert (whereabouts(info), obtain(info)) == ("your folder", file.parent)
    file.unlink()
    assert (whereabouts(info), find(info)) == ("to download", None)
    assert targets == []
    assert obtain(info) == cache / "Toy" / "raw"
    assert targets == [cache / "Toy" / "raw"]
    assert (whereabouts(info), obtain(info)) == ("cache", cache / "Toy" / "raw")
    assert len(targets) == 1
    assert list(file.parent.iterdir()) == []  # your folder is as it was
    assert load("toy").num_nodes == 90


def test_a_folder_that_lacks_one_file_counts_for_nothing(own: Path, cache: Path) -> None:
    info = DATASETS["small"]
    (own / info.folder / "ind.small.graph").unlink()
    assert missing_files(info, own / info.folder) == ["ind.small.graph"]
    assert find(info) is None


def test_cora_comes_from_the_package_when_no_folder_has_it(own: Path, cache: Path) -> None:
    assert whereabouts(DATASETS["cora"]) == "package"
    assert load("cora", offline=True).num_nodes == 2_708


@pytest.mark.parametrize("by", ["argument", "variable"])
def test_offline_names_file_folder_and_address(
    own: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    targets = downloaded(monkeypatch, {})
    if by == "variable":
        monkeypatch.setenv("BAGCN_OFFLINE", "1")
    with pytest.raises(MissingDataError) as caught:
        load("cora-full", offline=by == "argument")
    assert str(caught.value) == (
        "cannot get Cora-Full: downloads are switched off (--offline, BAGCN_OFFLINE). Put cora.npz "
        f"into {own}/CitationFull/cora/raw; from "
        "https://github.com/abojchevski/graph2gauss/raw/master/data/cora.npz"
    )
    assert targets == []
    assert not cache.exists()


def test_several_missing_files_are_all_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    folder = cache / "Planetoid" / "CiteSeer" / "raw"
    folder.mkdir(parents=True)
    (folder / "ind.citeseer.x").write_bytes(b"")
    with pytest.raises(MissingDataError) as caught:
        load("citeseer", offline=True)
    parts = ("tx", "allx", "y", "ty", "ally", "graph", "test.index")
    names = ", ".join(f"ind.citeseer.{part}" for part in parts)
    assert str(caught.value).endswith(
        f"Put {names} into {folder}; from "
        "https://github.com/kimiyoung/planetoid/raw/master/data/FILE"
    )


def test_what_failed_is_told_with_the_way_out(
    own: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    downloaded(monkeypatch, {}, ["the official address failed (no route)", "another failed"])
    with pytest.raises(MissingDataError) as caught:
        load("photo")
    assert str(caught.value).startswith(
        "cannot get Photo: the official address failed (no route); another failed. Put "
        f"amazon_electronics_photo.npz into {own}/Amazon/Photo/raw; from https://github.com/shchur/"
    )


def test_a_cache_that_cannot_be_written(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    cache.write_text("a file is in the way")
    with pytest.raises(MissingDataError, match=r"the cache cannot be written to .*; BAGCN_CACHE n"):
        load("photo")


def test_a_data_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"nowhere does not exist; create it, or name anoth"):
        load("cora", data_dir=tmp_path / "nowhere")


@pytest.mark.raw
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "photo", "cs", "physics"])
def test_checksums_are_those_of_the_files(raw_data: Callable[[str], Path], name: str) -> None:
    """Of the others the published files may be packed in another way: they are git's ids."""
    folder = raw_data(name) / DATASETS[name].folder
    for file in DATASETS[name].files:
        assert file.checksum.startswith("sha256:")
        assert download._is_published((folder / file.name).read_bytes(), file), file.name


def test_every_file_has_an_address_and_a_checksum() -> None:
    for info in DATASETS.values():
        assert len(info.files) == (8 if info.format == "planetoid" else 1)
        for file in info.files:
            assert file.url.startswith("https://github.com/")
            assert file.url.endswith(f"/{file.name}")
            kind, _, digits = file.checksum.partition(":")
            assert len(bytes.fromhex(digits)) == {"sha256": 32, "git": 20}[kind]
