"""Progress of a long command on stderr: a bar on a terminal, a line for each finished step else."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

__all__ = ["Steps", "heard", "steps"]

Say = Callable[[str], None]


class Steps:
    """Steps that come one after another, each of so many units.

    Args:
        say: prints a line.
        show: shows what is under way, and how many units of all steps are done.
    """

    def __init__(self, say: Say, show: Callable[[str, float], None]) -> None:
        self._say, self._show = say, show
        self._name, self._before, self._units, self._began = "", 0.0, 0, 0.0

    def begin(self, name: str, units: int) -> None:
        """Go on with another step."""
        self._before += self._units
        self._name, self._units, self._began = name, units, time.perf_counter()
        self.at(0)

    def at(self, done: float) -> None:
        """Note how many units of the step are done."""
        self._show(self._name, self._before + min(done, self._units))

    def end(self, said: str) -> None:
        """Say what came of the step."""
        self.at(self._units)
        self._say(f"{self._name:<28} {time.perf_counter() - self._began:7.1f} s   {said}")


@contextmanager
def steps(total: int, unit: str, quiet: bool = False) -> Iterator[Steps]:
    """Follow steps of ``total`` units together; what the package logs is said as well.

    Args:
        total: units of all steps.
        unit: what they are called.
        quiet: show nothing.
    """
    if quiet:
        yield Steps(lambda line: None, lambda name, done: None)
    elif sys.stderr.isatty():
        with _bar(unit) as bar:
            task = bar.add_task("", total=total)
            say: Say = lambda line: bar.console.print(  # noqa: E731
                line, highlight=False, markup=False, soft_wrap=True
            )
            with heard(say):
                yield Steps(
                    say, lambda name, done: bar.update(task, description=name, completed=done)
                )
    else:
        with heard(_echo):
            yield Steps(_echo, lambda name, done: None)


def _echo(line: str) -> None:
    click.echo(line, err=True)


def _bar(unit: str) -> Any:
    from rich import progress
    from rich.console import Console

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.completed:.0f} of {task.total:.0f} " + unit),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
    )


@contextmanager
def heard(say: Say) -> Iterator[None]:
    """Say what the package logs, such as that a population is cut into parts."""
    logger, handler = logging.getLogger("bagcn"), _Saying(say)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class _Saying(logging.Handler):
    def __init__(self, say: Say) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        self._say(record.getMessage())
