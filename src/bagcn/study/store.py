"""The run store: append-only JSON lines, one run a line.

Several processes may write to it, and a kill at any moment costs at most the line being written.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Record", "Store", "made"]

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
        return (record for record in self._last() if "failure" not in record)

    def of(self, model: str) -> Iterator[Record]:
        """Yield the runs of one model."""
        last = self._last(model)
        return (r for r in last if r["model"] == model and "failure" not in r)

    def failures(self) -> Iterator[Record]:
        """Yield what could not be run: lines with a ``failure`` in place of an accuracy."""
        return (record for record in self._last() if "failure" in record)

    def ids(self) -> set[str]:
        """Return the ids of all runs that are there."""
        return {record["id"] for record in self}

    def add(self, records: Iterable[Record]) -> int:
        """Append runs and return their number; a kill costs at most the line being written."""
        lines: dict[Path, list[str]] = {}
        for record in records:
            line = json.dumps(record, separators=(",", ":"), allow_nan=False)
            lines.setdefault(self._file_of(record), []).append(line)
        for file, new in lines.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            _append(file, new)
        return sum(map(len, lines.values()))

    def merge(self, other: Store) -> int:
        """Add the runs of another store that are not here yet, or made later than those here.

        So the same runs count whichever store is merged into which. Returns their number.
        """
        known = {record["id"]: record for record in self._last()}
        new = [r for r in other._last() if r["id"] not in known or made(r) > made(known[r["id"]])]
        self.add(new)
        return sum("failure" not in record for record in new)

    def _last(self, model: str = "*") -> Iterable[Record]:
        lines: dict[str, Record] = {}
        for file in self._files(model):
            for record in _read(file):
                lines[record["id"]] = record
        return lines.values()

    def _files(self, model: str = "*") -> list[Path]:
        if self.path.suffix == ".jsonl":
            return [self.path] if self.path.exists() else []
        return sorted(self.path.glob(f"{model}.jsonl"))

    def _file_of(self, record: Record) -> Path:
        return self.path if self.path.suffix == ".jsonl" else self.path / f"{record['model']}.jsonl"


def made(record: Record) -> str:
    """Return when the run was made, to sort by."""
    return str(record.get("date", ""))


def _read(file: Path) -> Iterator[Record]:
    with file.open("rb") as handle:
        _lock(handle.fileno(), shared=True)  # nobody is in the middle of a line
        lines = handle.read().splitlines()
    for number, line in enumerate(lines, 1):
        try:
            record: Record = json.loads(line)
            record["id"], record["model"]
        except (ValueError, KeyError, TypeError):
            if line.strip():
                warnings.warn(f"{file}, line {number} is torn and was skipped", stacklevel=2)
            continue
        yield record


def _append(file: Path, lines: Sequence[str]) -> None:
    """Write whole lines under a lock; a torn line before them is closed off first."""
    with file.open("a+b") as handle:
        _lock(handle.fileno())
        handle.seek(0, os.SEEK_END)
        if handle.tell() > 0:
            handle.seek(-1, os.SEEK_END)
            if handle.read(1) != b"\n":
                handle.write(b"\n")
        handle.write("".join(f"{line}\n" for line in lines).encode())
        handle.flush()
        os.fsync(handle.fileno())


def _lock(descriptor: int, shared: bool = False) -> None:
    """Wait for the file's lock, which goes with the descriptor; without one where there is none."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Windows appends are not split below a page
        return
    fcntl.flock(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
