"""A drawn study on a terminal."""

from __future__ import annotations

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bagcn.reproduce import Page
from bagcn.reproduce import Table as Drawn

__all__ = ["print_page"]

STYLES = {"holds": "green", "holds, within noise": "yellow", "does not hold": "red"}


def print_page(page: Page) -> None:
    """Print title, state, tables and notes."""
    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width
        console.width = 240
    console.print(Text(page.title, style="bold"), Text(f"({page.where})", style="dim"))
    console.print(Text(page.state), style="" if page.complete else "yellow")
    for table in page.tables:
        console.print(_table(table))
    for note in page.notes:
        click.echo(f"· {note}")


def _table(drawn: Drawn) -> Table:
    table = Table(title=drawn.title or None, title_justify="left", box=SIMPLE_HEAD)
    for place, name in enumerate(drawn.header):
        words = place < drawn.words
        table.add_column(name, justify="left" if words else "right", no_wrap=not words)
    for row in drawn.rows:
        table.add_row(*(Text(text, style=STYLES.get(text, "")) for text in row))
    return table
