"""What a long command shows on stderr."""

from __future__ import annotations

import io
import logging
import sys

import pytest

from bagcn.cli.progress import Steps, heard, steps


def test_units_add_up_over_the_steps() -> None:
    shown: list[tuple[str, float]] = []
    said: list[str] = []
    progress = Steps(said.append, lambda name, done: shown.append((name, done)))
    progress.begin("first", 3)
    progress.at(2.5)
    progress.at(9)
    progress.end("good")
    progress.begin("second", 2)
    progress.at(1)
    assert shown == [("first", 0), ("first", 2.5), ("first", 3), ("first", 3), ("second", 3),
                     ("second", 4)]  # fmt: skip
    (line,) = said
    assert line.split()[0] == "first"
    assert line.endswith(" s   good")


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with steps(2, "runs") as progress:
        progress.begin("a cell", 2)
        logging.getLogger("bagcn.training.population").info("they train in %d parts", 2)
        progress.at(1)
        progress.end("done")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "they train in 2 parts"
    assert err.splitlines()[1].startswith("a cell ")
    with steps(2, "runs", quiet=True) as progress:
        progress.begin("a cell", 2)
        progress.end("done")
    assert capsys.readouterr() == ("", "")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with steps(4, "runs") as progress:
        progress.begin("gcn on cora", 4)
        progress.at(1)
        progress.end("81.5 over 4 runs")
    text = screen.getvalue()
    assert "gcn on cora" in text
    assert "of 4 runs" in text
    assert "81.5 over 4 runs" in text


def test_what_is_logged_is_heard_only_within() -> None:
    said: list[str] = []
    logger = logging.getLogger("bagcn.study")
    with heard(said.append):
        logger.info("one")
    logger.info("two")
    assert said == ["one"]
    assert not logging.getLogger("bagcn").handlers
