"""What a drawn study has to say, in a form that can be printed, written and put on a web page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bagcn._folder import replaced_file

__all__ = ["CLAIMS", "Page", "Table", "markdown", "write_page"]

CLAIMS = "What is claimed"
"""The title of a table of claims."""


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Args:
        title: above it.
        header: of the columns.
        rows: one text a column.
        words: how many of the first columns hold words; the others hold numbers.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


@dataclass(frozen=True)
class Page:
    """A drawn study.

    Args:
        name: of the study.
        title: in words.
        where: in the paper.
        about: the protocol, and what is doubtful.
        state: how many of the runs are there.
        tables: in their order.
        notes: sentences below the tables.
        figures: by name, a function that draws into a file.
        plain: all numbers as plain data.
        there: how many runs there are.
        wanted: how many there are when nothing is missing.
    """

    name: str
    title: str
    where: str
    about: str
    state: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    figures: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict)
    there: int = 0
    wanted: int = 0

    @property
    def command(self) -> str:
        """Return what makes its runs."""
        return "bagcn bench" if self.name == "bench" else f"bagcn reproduce {self.name}"

    @property
    def complete(self) -> bool:
        """Return whether nothing is missing."""
        return self.there == self.wanted


def write_page(page: Page, folder: Path) -> list[Path]:
    """Write NAME.md, NAME.json and the figures, each whole or not at all; return the files."""
    files = []
    for name, draw in page.figures.items():
        files.append(folder / f"{name}.png")
        with replaced_file(files[-1]) as partial:
            draw(partial)
    texts = {
        "md": markdown(page),
        "json": json.dumps(page.plain, indent=1, ensure_ascii=False) + "\n",
    }
    for ending, text in texts.items():
        files.append(folder / f"{page.name}.{ending}")
        with replaced_file(files[-1]) as partial:
            partial.write_text(text, "utf-8")
    return files


def markdown(page: Page) -> str:
    """Return the page as Markdown."""
    parts = [
        f"# {page.title}",
        f"The paper: {page.where}. Made with `{page.command}`.",
        page.about,
        f"**{page.state}**",
    ]
    parts += [f"![{page.title}]({name}.png)" for name in page.figures]
    for table in page.tables:
        parts += [f"## {table.title}", _table(table)] if table.title else [_table(table)]
    if page.notes:
        parts.append("\n".join(f"- {note}" for note in page.notes))
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(table: Table) -> str:
    numbers = len(table.header) - table.words
    lines = [table.header, [*["---"] * table.words, *["---:"] * numbers], *table.rows]
    return "\n".join("| " + " | ".join(_cell(text) for text in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")
