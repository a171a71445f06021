"""``bagcn reproduce``: run what a study lacks, print and write it beside the paper's numbers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bagcn.cli.machine import machine_of, machine_options

if TYPE_CHECKING:
    from bagcn.reproduce import Plan, Study

__all__ = ["reproduce"]

Show = Callable[[Any], None]


@click.command()
@click.argument("study")
@click.option("--draw-only", is_flag=True, help="Run nothing; say what is missing.")
@click.option("--seeds", help="How many, or which: 5, 3..7, 1,4. Default: the study's own.")
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Change every recipe; repeatable."
)
@machine_options
@click.option("--store", default="results", show_default=True, help="Folder of all runs.")
@click.option("--out", metavar="DIR", help="For the pages. Default: STORE/STUDY; runs with --set.")
@click.option("--merge", metavar="DIR", help="First add the runs that another machine made.")
@click.option("--json", "as_json", is_flag=True, help="Print plain data.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(study: str, **options: Any) -> None:
    """Reproduce a STUDY of the paper; all of them with `all`; `list` names them.

    Only runs that are not in the store yet are made, and each is stored when it is done: the same
    command goes on after an interrupt. Then the study is drawn: our numbers beside the paper's,
    the difference, and whether each claim holds.

    \b
    Examples:
      bagcn reproduce list
      bagcn reproduce table-small
      bagcn reproduce all --draw-only
      bagcn reproduce lambda --seeds 2 --set epochs=20 --device cpu

    Where only the core dependencies are (a GPU machine, say):
    python -m bagcn.reproduce STUDY --out DIR; its runs are added with --merge DIR.
    """
    from bagcn.data._names import unknown
    from bagcn.reproduce import NAMES, load_study
    from bagcn.reproduce.merging import merge_runs

    store = Path(options["store"])
    if options["merge"]:
        new = merge_runs(Path(options["merge"]), store)
        click.echo(f"{new:,} new runs are in {store}", err=True)
    if study not in (*NAMES, "all", "list"):
        raise unknown("study", study, (*NAMES, "all", "list"))
    names = NAMES if study in ("all", "list") else [study]
    studies = [load_study(name) for name in names]
    if study == "list":
        for each in studies:
            _list(each, _plan(each, options))
        return
    lacking = sum([_one(each, _plan(each, options), options) for each in studies])
    if lacking and not options["draw_only"]:
        raise click.ClickException(f"{_runs(lacking)} could not be made; see above")


def _plan(study: Study, options: dict[str, Any]) -> Plan:
    from bagcn.reproduce import Plan
    from bagcn.study.seeds import parse_seeds
    from bagcn.study.values import parse_settings

    changes = parse_settings(options["settings"])
    machine = machine_of(options)
    seeds = parse_seeds(options["seeds"]) if options["seeds"] else list(range(study.seeds))
    # runs with changed settings are for trying out: they stay out of the store
    return Plan(Path(options["store"]), seeds, machine, changes, Path("runs") if changes else None)


def _list(study: Study, plan: Plan) -> None:
    from bagcn.reproduce import missing

    lacking = missing(study, plan)
    state = f"{_runs(lacking)} missing" if lacking else "complete"
    click.echo(f"{study.name:<12} {study.title} ({study.where}): {state}")


def _one(study: Study, plan: Plan, options: dict[str, Any]) -> int:
    """Run and draw one study; return how many runs are still missing."""
    from bagcn.reproduce import draw, missing, run_missing, write_page

    if not options["draw_only"] and (total := missing(study, plan)):
        with _progress(study.name, total, options["quiet"]) as (on_start, on_record):
            for record in run_missing(study, replace(plan, on_start=on_start)):
                on_record(record)
    page = draw(study, plan)
    files = write_page(page, _folder(study, options))
    if options["as_json"]:
        click.echo(json.dumps(page.plain, indent=1, ensure_ascii=False))
    elif not options["quiet"]:
        from bagcn.cli.pages import print_page

        print_page(page)
        click.echo("written: " + ", ".join(map(str, files)))
    return missing(study, plan)


def _runs(count: int) -> str:
    return f"{count:,} run" + ("s" if count > 1 else "")


def _folder(study: Study, options: dict[str, Any]) -> Path:
    if options["out"]:
        return Path(options["out"])
    return Path("runs" if options["settings"] else options["store"]) / study.name


@contextmanager
def _progress(
    name: str, total: int, quiet: bool
) -> Iterator[tuple[Callable[[str, int], None], Show]]:
    """Show a bar of runs on a terminal, lines elsewhere; give what to call."""
    if quiet or not sys.stderr.isatty():
        done = 0

        def started(words: str, runs: int) -> None:
            if not quiet:
                click.echo(f"{name}: {done:,} of {total:,} runs; {words}: {_runs(runs)}", err=True)

        def finished(record: Any) -> None:
            nonlocal done
            done += 1

        yield started, finished
        return
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TextColumn("runs"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total)
        yield (
            lambda words, runs: bar.update(task, description=f"{name}: {words}"),
            lambda record: bar.advance(task),
        )
