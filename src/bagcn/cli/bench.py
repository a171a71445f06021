"""``bagcn bench``: models, data sets and seeds into a run store, and the table of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bagcn.cli.machine import machine_of, machine_options
from bagcn.cli.progress import Steps, steps

if TYPE_CHECKING:
    from bagcn.study.bench import Cell
    from bagcn.study.runner import Machine
    from bagcn.study.store import Record, Store
    from bagcn.study.table import Results

__all__ = ["bench"]


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--on", "datasets", metavar="NAMES", help="Data sets: cora,citeseer. Default: cora.")
@click.option("--seeds", default="20", show_default=True, help="How many, or which: 5, 3..7, 1,4.")
@click.option(
    "--variant",
    type=click.Choice(["official", "tuned", "best"]),
    default="official",
    show_default=True,
    help="Of the recipes; best is tuned where there is a tuned one, else official.",
)
@click.option(
    "--recipes",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False),
    help="Recipe files of your own come first.",
)
@click.option(
    "--set", "settings", metavar="KEY=VALUE", multiple=True, help="Change a setting; repeatable."
)
@click.option(
    "--out", metavar="DIR", default="runs/bench", show_default=True, help="The run store."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "md", "latex", "csv", "json"]),
    default="text",
    show_default=True,
    help="Of the table on stdout; everything else goes to stderr.",
)
@click.option("--brief", is_flag=True, help="Only our numbers: no published ones, no times.")
@click.option("--table-only", is_flag=True, help="Run nothing; show what is stored.")
@click.option(
    "--import",
    "imported",
    metavar="PATH",
    multiple=True,
    help="Add the runs of another store, a folder or a .jsonl file; repeatable.",
)
@click.option("--force", is_flag=True, help="Run again what is stored already.")
@machine_options
@click.option("-q", "--quiet", is_flag=True, help="No progress; only the table and errors.")
def bench(**options: Any) -> None:
    """Run every MODEL on every data set with the same seeds and splits; make the table.

    Each run becomes a line in the store (--out). What is stored is not run again, so that the same
    command continues after an interrupt. Without a MODEL, the table of what is stored is shown.

    Runs made elsewhere join with --import; of two with the same settings, seed and version, the
    later one counts. On a machine without the command line's packages,
    `python -m bagcn.study bench gcn:cora --out DIR` makes them.

    \b
    Examples:
      bagcn bench bagcn-add gcn gat --on cora,citeseer,pubmed
      bagcn bench gcn --on all --seeds 100 --variant tuned --out runs/tuned
      bagcn bench --import gpu/ --format latex > table.tex
    """
    from bagcn._folder import writable
    from bagcn.study.bench import cells
    from bagcn.study.seeds import parse_seeds
    from bagcn.study.store import Store
    from bagcn.study.table import results
    from bagcn.study.values import parse_settings

    store, seeds = Store(options["out"]), parse_seeds(options["seeds"])
    for path in options["imported"]:
        _import(store, Path(path))
    models, datasets = _wanted(options, store)
    changes = parse_settings(options["settings"])
    folder = Path(options["recipes"]) if options["recipes"] else None
    wanted = cells(models, datasets, options["variant"], changes, folder)
    problems = 0
    if options["models"] and not options["table_only"]:
        if store.path.suffix != ".jsonl":
            writable(store.path)
        problems = _run(wanted, seeds, store, machine_of(options), options)
    _print(results(wanted, store, seeds, options["brief"]), options["format_"])
    if problems:
        sys.exit(2)


def _import(store: Store, path: Path) -> None:
    from bagcn.study.store import Store

    if not (path.is_dir() or (path.is_file() and path.suffix == ".jsonl")):
        raise ValueError(f"there is no {path} to import: expected a folder or a .jsonl file")
    added = store.merge(Store(path))
    click.echo(f"{added} new run{'' if added == 1 else 's'} from {path} in {store.path}", err=True)


def _wanted(options: dict[str, Any], store: Store) -> tuple[list[str], list[str]]:
    """Return models and data sets; those that are not named are the stored ones."""
    from bagcn.data import DATASETS
    from bagcn.study.table import there

    models, variant = options["models"], options["variant"]
    named = [name.strip() for name in (options["datasets"] or "").split(",") if name.strip()]
    if "all" in named:
        named = list(DATASETS)
    if datasets := [name for name in models if name in DATASETS]:
        raise ValueError(f"{datasets[0]} is a data set, no model: name it with --on")
    if models:
        return list(models), named or ["cora"]
    stored_models, stored_datasets = there(store, variant)
    if not stored_models:
        raise ValueError(
            f"no runs of {variant} recipes are stored in {store.path}: name models to run, "
            "like bagcn bench gcn bagcn-add --on cora"
        )
    return stored_models, named or stored_datasets


def _run(
    wanted: Sequence[Cell],
    seeds: Sequence[int],
    store: Store,
    machine: Machine,
    options: dict[str, Any],
) -> int:
    """Run all cells; a problem with one does not keep the others from running. Count problems."""
    problems = 0
    with steps(len(wanted) * len(seeds), "runs", options["quiet"]) as progress:
        for cell in wanted:
            progress.begin(str(cell), len(seeds))
            try:
                said = _run_cell(cell, seeds, store, machine, options["force"], progress)
            except (ValueError, RuntimeError, OSError) as error:
                problems += 1
                said = f"error: {str(error).splitlines()[0]}"
                if options["quiet"]:
                    click.echo(f"{cell}: {said}", err=True)
            progress.end(said)
    return problems


def _run_cell(
    cell: Cell,
    seeds: Sequence[int],
    store: Store,
    machine: Machine,
    force: bool,
    progress: Steps,
) -> str:
    """Run a cell; return what came of it."""
    from bagcn.study.bench import run_cell
    from bagcn.study.statistics import summary

    if cell.recipe is None:
        return cell.why
    records: list[Record] = []
    kept: list[int] = []  # how many were stored before: those come first

    def note(record: Record) -> None:
        records.append(record)
        progress.at(len(records))

    def move(epochs: int) -> None:
        assert cell.recipe is not None
        kept[:] = kept or [len(records)]
        progress.at(max(len(records), kept[0] + epochs / cell.recipe.train.epochs))

    failure = run_cell(
        cell.recipe, seeds, store, machine, force=force, on_epoch=move, on_record=note
    )
    stored = kept[0] if kept else len(records)
    return failure or summary(records).text + (f", {stored} stored before" if stored else "")


def _print(found: Results, format_: str) -> None:
    from bagcn.report.tables import FORMATS, notes, rich_table

    if format_ != "text":
        click.echo(FORMATS[format_](found), nl=False)
        return
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 1000, highlight=False, markup=False)
    console.print(rich_table(found))
    for note in notes(found):
        click.echo(note)
