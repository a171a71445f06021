"""Files and folders that are whole or not there."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["probe", "replaced_file", "replaced_folder", "writable"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def _room_for(path: Path) -> Iterator[None]:
    """Say in plain words that there is no room on the disk."""
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise ValueError(
            f"there is no room on the disk for {path}: nothing of it was written; make room or "
            "choose another place"
        ) from error


@contextmanager
def replaced_folder(path: Path) -> Iterator[Path]:
    """Give a new folder to fill; at the end it takes the place of ``path``.

    If filling it fails, nothing of it stays and what was at ``path`` is untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        _room_for(path),
        tempfile.TemporaryDirectory(
            prefix=f".{path.name}.", dir=path.parent, ignore_cleanup_errors=True
        ) as work,
    ):
        new, old = Path(work, "new"), Path(work, "old")
        new.mkdir()
        yield new
        if path.exists():
            path.rename(old)
        try:
            new.rename(path)
        except OSError:
            if old.exists():
                old.rename(path)
            raise


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """Give the name of a file to write; at the end it takes the place of ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        with _room_for(path):
            yield partial
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def probe(folder: Path) -> None:
    """Raise the system's error if nothing can be made in a folder; permissions do not say all."""
    with tempfile.TemporaryFile(dir=folder):
        pass


def writable(folder: Path) -> None:
    """Make the folder; refuse one that cannot be written to, before any time is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe(folder)
    except OSError as error:
        raise ValueError(
            f"cannot write to the folder {folder} ({error.strerror}): choose another with --out"
        ) from error
