"""The command line as a user calls it, in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bagcn.cli import main
from bagcn.data import DATASETS
from bagcn.study import runner
from toy import write_toy


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that a refusal is, without a traceback, and with nothing on stdout."""
        assert (self.code, self.out) == (2, ""), self
        (line,) = self.err.splitlines()
        assert line.startswith("error: ")
        return line.removeprefix("error: ")


Bagcn = Callable[..., Answer]


@pytest.fixture
def bagcn(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Bagcn:
    """``bagcn("data", "list")`` is what that command prints, and its exit code."""

    def call(*arguments: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["bagcn", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Answer(code, *capfd.readouterr())

    return call


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds the data set ``toy``, known to the commands for this test."""
    folder = tmp_path / "data"
    monkeypatch.setitem(DATASETS, "toy", write_toy(folder))
    monkeypatch.setenv("BAGCN_DATA", str(folder))
    runner._data.cache_clear()  # what another test's folder held
    return folder
