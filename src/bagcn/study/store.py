"""The run store: append-only JSON lines, one run a line.

Several processes may write to it, and a kill at any moment costs at most the line being written.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["Record", "Store"]

Record = dict[str, Any]


class Store:
    """Runs in a folder: a file ``MODEL.jsonl`` for each model, or in one ``.jsonl`` file.

    Args:
        path: the folder or file; it is made when the first run is added.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __iter__(self) -> Iterator[Record]:
        """Yield every run once, in the order of writing; of repeated ids the last counts."""
        yield from self._last(self._files())

    @staticmethod
    def _last(files: Iterable[Path]) -> Iterable[Record]:
        runs: dict[str, Record] = {}
        for file in files:
            for record in _read(file):
                runs[record["id"]] = record
        return runs.values()

    def of(self, model: str) -> Iterator[Record]:
        """Yield the runs of one model."""
        yield from (record for record in self._last(self._files(model)) if record["model"] == model)

    def ids(self) -> set[str]:
        """Return the ids of all runs that are there."""
        return {record["id"] for record in self}

    def add(self, records: Iterable[Record]) -> int:
        """Append runs and return their number; each reaches the disk whole or not at all."""
        count = 0
        for record in records:
            file = self._file_of(record)
            file.parent.mkdir(parents=True, exist_ok=True)
            _append(file, json.dumps(record, separators=(",", ":"), allow_nan=False))
            count += 1
        return count

    def merge(self, other: Store) -> int:
        """Add the runs of another store that are not here yet, and return their number."""
        known = self.ids()
        return self.add(record for record in other if record["id"] not in known)

    def _files(self, model: str = "*") -> list[Path]:
        if self.path.suffix == ".jsonl":
            return [self.path] if self.path.exists() else []
        return sorted(self.path.glob(f"{model}.jsonl"))

    def _file_of(self, record: Record) -> Path:
        return self.path if self.path.suffix == ".jsonl" else self.path / f"{record['model']}.jsonl"


def _read(file: Path) -> Iterator[Record]:
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            record = json.loads(line)
            record["id"]
        except (ValueError, KeyError, TypeError):
            if line.strip():
                warnings.warn(f"{file}, line {number} is torn and was skipped", stacklevel=2)
            continue
        yield record


def _append(file: Path, line: str) -> None:
    """Write one line under a lock; a torn line before it is closed off first."""
    with file.open("a+b") as handle:
        _lock(handle.fileno())
        handle.seek(0, os.SEEK_END)
        if handle.tell() > 0:
            handle.seek(-1, os.SEEK_END)
            if handle.read(1) != b"\n":
                line = "\n" + line
        handle.write(line.encode() + b"\n")
        handle.flush()
        os.fsync(handle.fileno())


def _lock(descriptor: int) -> None:
    """Wait for the file's lock, which goes with the descriptor; without one where there is none."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows appends are not split below a page
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)
