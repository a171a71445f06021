"""``bagcn report``: the run store as a page and as tables."""

from __future__ import annotations

from pathlib import Path

import click

__all__ = ["report"]


@click.command()
@click.option("--store", default="results", show_default=True, help="Folder of all runs.")
@click.option("--out", metavar="DIR", default="report", show_default=True, help="Where to write.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def report(store: str, out: str, quiet: bool) -> None:
    """Render the run store: one HTML page that needs no network, Markdown, LaTeX and figures.

    Nothing is run. What is missing is shown as missing; `bagcn reproduce` and `bagcn bench` make
    the runs.

    \b
    Examples:
      bagcn report
      bagcn report --store results --out report
    """
    from bagcn.report.write import write_report

    folder = Path(store)
    if not any(folder.rglob("*.jsonl")):
        raise ValueError(
            f"{folder} holds no runs: make some with bagcn reproduce or bagcn bench, or name "
            "their folder with --store"
        )
    files = write_report(folder, Path(out))
    if not quiet:
        size = files[0].stat().st_size
        click.echo(f"{files[0]}   {size / 2**20:.1f} MiB, open it in a browser")
        click.echo(f"{files[1]}   all tables in Markdown")
        click.echo(
            f"{Path(out) / 'tables'}   LaTeX, {sum(f.suffix == '.tex' for f in files)} files"
        )
