"""Train on a benchmark data set: what ``bagcn train`` does for it."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from bagcn._folder import writable
from bagcn.cli.outcome import heading, line_of, outcome, summary_lines
from bagcn.cli.progress import heard
from bagcn.data import DATASETS
from bagcn.study.models import card_of
from bagcn.study.recipe import Recipe
from bagcn.study.record import Run
from bagcn.study.runner import Machine, planned, run
from bagcn.study.store import Record, Store
from bagcn.training import Checkpoint, Result
from bagcn.training.member import divergence

__all__ = ["Benchmark"]

Say = Callable[[str], None]
OnEpoch = Callable[[int], None]
ENDINGS = (KeyboardInterrupt, ChildProcessError, MemoryError)
"""What ends the training, but not the report of what was finished."""


@dataclass
class Benchmark:
    """A recipe for several seeds, and where everything that comes of it goes.

    Args:
        recipe: what to train.
        changes: settings that differ from the recipe's.
        seeds: one a run.
        machine: where and how to compute.
        out: the folder for records, curves and picture.
        checkpoint: where unfinished runs are kept.
        force: run what is stored already once more.
        as_json: print one JSON document on stdout and nothing else there.
        quiet: print nothing but errors.
    """

    recipe: Recipe
    changes: Mapping[str, Any]
    seeds: Sequence[int]
    machine: Machine
    out: Path
    checkpoint: Checkpoint | None = None
    force: bool = False
    as_json: bool = False
    quiet: bool = False
    records: list[Record] = field(default_factory=list)

    def train(self) -> None:
        """Train a run a seed, store the records, draw the curves, print what came of it."""
        began = time.perf_counter()
        self.changed = self.recipe.changed(self.changes).checked(self.changes)
        self.runs = planned(self.changed, self.seeds, self.machine)
        writable(self.out)
        self.store, self.curves = Store(self.out), Store(self.out / "curves")
        known = set() if self.force else {r["id"] for r in self.store.of(self.recipe.model)}
        self.new = {run.id for run in self.runs} - known
        ended = self._train()
        found = outcome(self.changed, self.changed.hash != self.recipe.hash, self.records, self.new)
        found["records"] = str(self.out / f"{self.recipe.model}.jsonl")
        found["picture"] = self._picture(found)
        found["seconds"] = round(time.perf_counter() - began, 2)
        self._print(found)
        if ended is not None:
            raise ended
        self._refuse_diverged()

    def _train(self) -> BaseException | None:
        """Collect the records of all seeds, or until something ends it, which is returned."""
        total = self.changed.train.epochs * len(self.new)
        with _bar(total, self._silent) as (on_epoch, say), heard(say):
            say(heading(self.changed, self.runs))
            try:
                for record in run(
                    self.changed,
                    self.seeds,
                    self.store,
                    self.machine,
                    force=self.force,
                    checkpoint=self.checkpoint,
                    on_epoch=on_epoch,
                    on_result=self._keep_curves,
                ):
                    self.records.append(record)
                    say(line_of(record, record["id"] not in self.new, self.runs))
            except ENDINGS as error:
                self._catch_up()
                return error.with_traceback(None)  # which would keep the workers alive
        if self.checkpoint is not None:
            with suppress(OSError):  # the states of other runs may still be there
                self.checkpoint.path.rmdir()
        return None

    def _catch_up(self) -> None:
        """Take the run that was stored in the moment of an interrupt, before it could be told."""
        if not self.force:  # else what is stored may be from before
            missing = {run.id for run in self.runs} - {record["id"] for record in self.records}
            self.records += [r for r in self.store.of(self.recipe.model) if r["id"] in missing]

    @property
    def _silent(self) -> bool:
        return self.quiet or self.as_json

    def _keep_curves(self, run: Run, result: Result) -> None:
        """Store what the record only summarises."""
        curves = {
            name: [round(value, 6) if math.isfinite(value) else None for value in curve]
            for name, curve in result.curves.items()
        }
        epochs = list(range(1, result.epochs + 1))
        self.curves.add([{"id": run.id, "model": self.recipe.model, "epoch": epochs, **curves}])

    def _picture(self, found: Mapping[str, Any]) -> str | None:
        """Draw the learning curves; those kept without their curves by the record's summary."""
        from bagcn.report.curves import draw_curves

        good = [record for record in self.records if record["diverged"] is None]
        if not good:
            return None
        whole = {curves["id"]: curves for curves in self.curves.of(self.recipe.model)}
        drawn = [
            {**(whole.get(r["id"]) or r["curve"]), "best_epoch": r["best_epoch"]}
            for r in sorted(good, key=lambda record: record["seed"])
        ]
        title = f"{card_of(self.recipe.model).title} on {DATASETS[self.recipe.dataset].title}"
        title += f", seed {good[0]['seed']}" if len(good) == 1 else f", {len(good)} seeds"
        path = self.out / f"{self.recipe.model}.{self.recipe.dataset}.png"
        known = found["paper"] or found["published"]
        try:
            draw_curves(drawn, path, title, known and known["value"])
        except ModuleNotFoundError as error:
            click.echo(f"no picture of the learning curves: {error}", err=True)
            return None
        return str(path)

    def _print(self, found: dict[str, Any]) -> None:
        if self.as_json:
            click.echo(json.dumps(found, indent=1, ensure_ascii=False))
        elif not self.quiet:
            for line in summary_lines(found):
                click.echo(line)
            click.echo(f"{found['seconds']:.1f} s in all")
            if self.records:
                click.echo(f"records:  {found['records']}")
            if found["picture"]:
                click.echo(f"picture:  {found['picture']}")
            if self.checkpoint and len(self.records) < len(self.runs):
                click.echo(
                    "the same command trains the other seeds; with --resume from where it was"
                )

    def _refuse_diverged(self) -> None:
        """End with an error if the loss of any run was lost."""
        lost = [
            divergence(r["seed"], r["diverged"]) for r in self.records if r["diverged"] is not None
        ]
        if lost:
            others = f" ({len(lost)} of {len(self.records)} runs)" if len(lost) > 1 else ""
            raise ValueError(f"{lost[0]}{others}")


@contextmanager
def _bar(total: int, silent: bool) -> Iterator[tuple[OnEpoch | None, Say]]:
    """Show a bar of epochs on a terminal; give what moves it, and what prints a line."""
    if silent:
        yield None, lambda line: None
        return
    if not total or not sys.stderr.isatty():
        yield None, click.echo
        return
    from rich import progress

    with progress.Progress(
        progress.TextColumn("training"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("epochs"),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=_stderr(),
        transient=True,
        redirect_stdout=False,
    ) as bar:
        task = bar.add_task("", total=total)
        # lines and the bar on one terminal: whoever draws the bar has to print the lines
        above = sys.stdout.isatty()
        yield (
            lambda epochs: bar.update(task, completed=epochs),
            (lambda line: bar.console.print(line, highlight=False, markup=False, soft_wrap=True))
            if above
            else click.echo,
        )


def _stderr() -> Any:
    from rich.console import Console

    return Console(stderr=True)
