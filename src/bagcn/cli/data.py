"""``bagcn data``: what the benchmark data sets hold, where their files are, how to get them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bagcn.data import DatasetInfo

__all__ = ["data"]

_data_dir = click.option(
    "--data-dir",
    metavar="FOLDER",
    help="Your own folder of raw files, only read (else $BAGCN_DATA).",
)
_offline = click.option("--offline", is_flag=True, help="Download nothing (or BAGCN_OFFLINE=1).")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def data() -> None:
    """List, inspect and get the benchmark data sets.

    Files are looked for in --data-dir (or $BAGCN_DATA), then in the cache ($BAGCN_CACHE, else the
    platform's), and are downloaded into the cache when neither has them. Cora comes with the
    package.

    \b
    Examples:
      bagcn data list
      bagcn data info photo
      bagcn data get all
    """


@data.command("list")
@_data_dir
@_json
def list_(data_dir: str | None, as_json: bool) -> None:
    """List the data sets, and say whether their files are here.

    \b
    Examples:
      bagcn data list
      bagcn data list --json
    """
    from bagcn.data import DATASETS
    from bagcn.data.sources import whereabouts

    rows = [{**_counts(info), "files": whereabouts(info, data_dir)} for info in DATASETS.values()]
    if as_json:
        _print_json(rows)
        return
    from rich.console import Console

    from bagcn.cli.own import print_rows

    print_rows(Console(highlight=False, soft_wrap=True), "Benchmark data sets", rows)


@data.command(short_help="Show what is known of a data set.")
@click.argument("name")
@_data_dir
@_json
def info(name: str, data_dir: str | None, as_json: bool) -> None:
    """Show the statistics of the data set NAME, its source, its paper and its files.

    Also says where the table of data sets in the BAGCN paper differs from the graph. Nothing is
    downloaded.

    \b
    Examples:
      bagcn data info physics
      bagcn data info cora-ml --json
    """
    known = _known(name)
    found = _described(known, data_dir)
    if as_json:
        _print_json(found)
        return
    click.echo(f"{known.title}\n")
    for key, value in _lines(known, found).items():
        click.echo(f"  {key:<9} {value}")


@data.command(short_help="Get the files of a data set, or of all.")
@click.argument("name")
@_data_dir
@_offline
def get(name: str, data_dir: str | None, offline: bool) -> None:
    """Get the files of the data set NAME, or of all of them, and check what they hold.

    What is here already is not downloaded again. Downloads go into the cache, never into your
    own folder.

    \b
    Examples:
      bagcn data get citeseer
      bagcn data get all
      BAGCN_CACHE=/scratch/bagcn bagcn data get physics
    """
    from bagcn.data import DATASETS

    wanted = list(DATASETS.values()) if name == "all" else [_known(name, "all")]
    failed = []
    for info in wanted:
        try:
            click.echo(_got(info, data_dir, offline))
        except (ValueError, OSError) as error:
            if len(wanted) == 1:
                raise
            click.echo(f"error: {error}", err=True)
            failed.append(info.name)
    if failed:
        raise ValueError(
            f"{len(failed)} of {len(wanted)} data sets are not here: {', '.join(failed)}"
        )


def _got(info: DatasetInfo, data_dir: str | None, offline: bool) -> str:
    """Get one data set; the line that says what it is and where."""
    from bagcn.data import load
    from bagcn.data.sources import obtain, whereabouts

    where, before = "in the package", whereabouts(info, data_dir)
    if before != "package":
        with _bar(info.title) as progress:
            folder = obtain(info, data_dir, offline=offline, progress=progress)
        where = f"{'downloaded to' if before == 'to download' else 'in'} {folder}"
    graph = load(info.name, data_dir=data_dir, offline=True)
    return f"{info.title}: {graph.num_nodes:,} nodes, {graph.num_edges // 2:,} edges, {where}"


@contextmanager
def _bar(title: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr for as long as a download runs; nothing where stderr is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(title, total=None, visible=False)

        def told(what: str, done: int, total: int) -> None:
            bar.update(
                task,
                description=f"{title}: {what}",
                completed=done,
                total=total or None,
                visible=True,
            )

        yield told


def _known(name: str, *others: str) -> DatasetInfo:
    from bagcn.data import DATASETS
    from bagcn.data._names import unknown

    if name not in DATASETS:
        raise unknown("data set", name, (*DATASETS, *others))
    return DATASETS[name]


def _counts(info: DatasetInfo) -> dict[str, Any]:
    keys = ("name", "nodes", "edges", "features", "classes")
    return {**{key: getattr(info, key) for key in keys}, "split": info.default_split}


def _described(info: DatasetInfo, data_dir: str | None) -> dict[str, Any]:
    from bagcn.data.paper import PAPER_TABLE
    from bagcn.data.sources import cache_folder, data_folder, find, whereabouts

    here, row = whereabouts(info, data_dir), PAPER_TABLE[info.name]
    folder = find(info, data_dir) or (data_folder(data_dir) or cache_folder()) / info.folder
    return {
        "title": info.title,
        **_counts(info),
        "split_sizes": None if here == "to download" else _split_sizes(info, data_dir),
        "scaling": info.scaling,
        "largest_component": info.largest_component,
        "files": here,
        "folder": str(folder),
        "file_names": [file.name for file in info.files],
        "source": info.homepage,
        "paper": info.paper,
        "table_1": {**asdict(row), "split": list(row.split)},
    }


def _split_sizes(info: DatasetInfo, data_dir: str | None) -> list[int]:
    from bagcn.data import load, make_split

    split = make_split(info.default_split, load(info.name, data_dir=data_dir, offline=True), seed=0)
    return [len(part) for part in (split.train, split.val, split.test)]


def _lines(info: DatasetInfo, found: dict[str, Any]) -> dict[str, str]:
    """What is printed for people, by its name."""
    sizes = found["split_sizes"]
    split = (
        "{:,} train, {:,} validate, {:,} test".format(*sizes) if sizes else "known with the files"
    )
    largest = " (the largest connected component)" if info.largest_component else ""
    return {
        "name": info.name,
        "nodes": f"{info.nodes:,}{largest}",
        "edges": f"{info.edges:,}, undirected, without duplicates and self-loops",
        "features": f"{info.features:,}, scaling {info.scaling}",
        "classes": f"{info.classes}",
        "split": f"{info.default_split}: {split}",
        "here": found["files"],
        "folder": found["folder"],
        "files": ", ".join(found["file_names"]),
        "source": info.homepage,
        "paper": info.paper,
        "Table 1": _table_1(info),
    }


def _table_1(info: DatasetInfo) -> str:
    """How the paper's row compares with the graph."""
    from bagcn.data.paper import PAPER_TABLE, differences

    found = differences(info)
    counts = [f"{key} {paper:,} instead of {true:,}" for key, (paper, true) in found.items()]
    wrong = [f"The BAGCN paper prints {', '.join(counts)}."] if counts else []
    remark = PAPER_TABLE[info.name].remark
    return " ".join([*wrong, remark]) if remark else "The BAGCN paper's row is right."


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))
