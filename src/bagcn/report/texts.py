"""Studies as Markdown and as LaTeX tables for booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bagcn.reproduce import Page, Table, markdown

__all__ = ["latex", "whole_markdown"]


def whole_markdown(title: str, pages: list[Page]) -> str:
    """Return all studies below each other, each one level deeper than alone."""
    parts = [f"# {title}"]
    parts += [re.sub(r"^#", "##", markdown(page), flags=re.MULTILINE) for page in pages]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def latex(page: Page) -> str:
    """Return all tables of a page, each a ``tabular`` with its title as a comment before it."""
    head = ["% \\usepackage{booktabs}", f"% {page.title}. {page.state}"]
    return "\n".join([*head, *map(_tabular, page.tables)]) + "\n"


def _tabular(table: Table) -> str:
    numbers = len(table.header) - table.words
    return "\n".join(
        [
            "",
            *([f"% {table.title}"] if table.title else []),
            f"\\begin{{tabular}}{{{'l' * table.words}{'r' * numbers}}}",
            "\\toprule",
            _line(table.header),
            "\\midrule",
            *(_line(row) for row in table.rows),
            "\\bottomrule",
            "\\end{tabular}",
        ]
    )


def _line(texts: Sequence[str]) -> str:
    return " & ".join(_escaped(text) for text in texts) + " \\\\"


_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "\n": "; ",
    "±": "$\\pm$",
    "−": "$-$",
    "–": "--",
    "…": "\\dots{}",
    "≈": "$\\approx$",
    "λ": "$\\lambda$",
    "Â": "$\\hat{A}$",
}


def _escaped(text: str) -> str:
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)
