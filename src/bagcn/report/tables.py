"""The table of models and data sets in the formats that people read and programs take."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from bagcn.data import DATASETS
from bagcn.study.models import card_of
from bagcn.study.statistics import ALPHA
from bagcn.study.store import Store
from bagcn.study.table import PAPER, Entry, Results
from bagcn.training.memory import as_size

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import RenderableType

__all__ = [
    "FORMATS",
    "Text",
    "as_csv",
    "as_json",
    "as_latex",
    "as_markdown",
    "frame",
    "header",
    "notes",
    "rich_table",
    "rows",
    "signed",
]

Mark = Literal["", "best", "near"]
NOTHING = "–"
SIGNS = {"": "", "best": " *", "near": " ≈"}


@dataclass(frozen=True)
class Text:
    """What stands in a cell, and how it stands against the best."""

    text: str
    mark: Mark = ""


Row = Sequence[Text]


def frame(store: Store) -> pd.DataFrame:
    """Return the runs of a store as a table: one a row, nested names joined by dots.

    >>> frame(Store("runs/bench")).groupby(["model", "dataset"]).test.mean()  # doctest: +SKIP
    """
    import pandas as pd

    records = [{name: v for name, v in record.items() if name != "curve"} for record in store]
    runs = pd.json_normalize(records)
    if len(runs):
        runs["date"] = pd.to_datetime(runs["date"])
    return runs


def header(found: Results) -> list[str]:
    """Return the titles of the columns."""
    return [""] * _words(found) + [DATASETS[name].title for name in found.datasets]


def _words(found: Results) -> int:
    """Return how many columns come before the numbers: the model, and what a row is."""
    return 1 if found.brief else 2


def rows(found: Results) -> list[Row]:
    """Return up to three rows a model: ours, the published number, the cost of a run."""
    out: list[Row] = []
    for model in found.models:
        entries = [found.entries[model, dataset] for dataset in found.datasets]
        title = card_of(model).title
        if found.brief:
            out.append([Text(title), *map(_ours, entries)])
            continue
        for name, texts in _lines(entries).items():
            out.append([Text(title), Text(name), *texts])
            title = ""
    return out


def _lines(entries: Sequence[Entry]) -> dict[str, Row]:
    lines: dict[str, Row] = {"ours": [_ours(entry) for entry in entries]}
    if any(entry.known for entry in entries):
        lines["published"] = [_published(entry) for entry in entries]
    if any(entry.summary.n for entry in entries):
        lines["a run"] = [_cost(entry) for entry in entries]
    return lines


def _ours(entry: Entry) -> Text:
    found = entry.summary
    lacking = [f"{found.n} of {entry.wanted} runs"] if 0 < found.n < entry.wanted else []
    lost = [f"{found.diverged} diverged"] if found.diverged else []
    if found.mean is None:
        return Text(", ".join([_why(entry), *lost]))
    text = _with_sd(found.mean, found.sd)
    standing = entry.standing
    mark: Mark = "best" if standing.best else "near" if standing.indistinguishable else ""
    marks = [*lacking, *lost]
    return Text(f"{text} ({', '.join(marks)})" if marks else text, mark)


def _why(entry: Entry) -> str:
    """Say why there is no number."""
    if entry.failure is not None:
        need = entry.failure.get("need")
        return f"needs {as_size(need)}" if need else "does not fit"
    return "no recipe" if entry.cell.recipe is None else NOTHING


def _published(entry: Entry) -> Text:
    if entry.known is None:
        return Text(NOTHING)
    text = _with_sd(entry.known.value, entry.known.sd) + ("†" if entry.known.where == PAPER else "")
    return Text(text if entry.difference is None else f"{text} ({signed(entry.difference)})")


def _cost(entry: Entry) -> Text:
    found = entry.summary
    if found.seconds is None or found.memory is None:
        return Text(NOTHING)
    return Text(f"{found.seconds:.1f} s, {as_size(found.memory)}")


def _with_sd(mean: float, sd: float | None) -> str:
    return f"{mean:.2f}" if sd is None else f"{mean:.2f} ± {sd:.2f}"


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    return NOTHING if value is None else f"{value:+.2f}".replace("-", "−")


def notes(found: Results, best: str = "*", near: str = "≈") -> list[str]:
    """Return what a reader has to know, and what is not shown.

    Args:
        found: the table.
        best: how the best of a data set is marked.
        near: how those are marked that the runs do not tell from it.
    """
    out = ["Test accuracy (%) at the epoch of the best validation accuracy, mean ± sd over seeds."]
    if any(entry.standing.adjusted is not None for entry in found.entries.values()):
        out.append(
            f"Best of a data set: {best}; not distinguishable from it: {near} (paired tests over "
            f"equal seeds and splits, Wilcoxon or t, with Holm's correction, {ALPHA:g})."
        )
    if not found.brief and any(e.known and e.known.where == PAPER for e in found.entries.values()):
        out.append(f"† {PAPER}.")
    if not found.brief and any(e.summary.n for e in found.entries.values()):
        devices = sorted({name for e in found.entries.values() for name in e.summary.hardware})
        out.append(
            "A run: its share of the time and of the memory where several trained together; on a "
            f"CPU the memory is all that the process held. {', '.join(devices)}."
        )
    return [*out, *_mixed(found), *_left_out(found)]


def _mixed(found: Results) -> list[str]:
    """Say which recipes were tuned, where not all were."""
    tuned: dict[str, list[str]] = {}
    shown = [entry.cell.recipe for entry in found.entries.values() if entry.cell.recipe]
    for recipe in shown:
        if recipe.variant == "tuned":
            tuned.setdefault(card_of(recipe.model).title, []).append(DATASETS[recipe.dataset].title)
    if not tuned or all(recipe.variant == "tuned" for recipe in shown):
        return []
    named = "; ".join(f"{model} on {', '.join(places)}" for model, places in tuned.items())
    return [f"Tuned here on validation accuracy: {named}. All others: official settings."]


def _left_out(found: Results) -> list[str]:
    out = [
        f"{entry.cell}: {entry.failure['failure']} ({entry.failure['hardware']['name']})."
        for entry in found.entries.values()
        if entry.failure is not None and not entry.summary.n
    ]
    others = sum(entry.others for entry in found.entries.values())
    if others:
        out.append(f"{others} stored runs have other settings or recipes and are not shown.")
    return out


def as_markdown(found: Results) -> str:
    """Return the table in Markdown; what is best is bold."""
    numbers = ["---:"] * len(found.datasets)
    lines = [header(found), ["---"] * _words(found) + numbers]
    lines += [[_markdown(text) for text in row] for row in rows(found)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    remarks = "\n".join(f"- {note}" for note in notes(found, "bold"))
    return f"{table}\n\n{remarks}\n"


def _markdown(text: Text) -> str:
    words = text.text.replace("|", "\\|")
    if text.mark == "best":
        return f"**{words}**"
    return words + SIGNS[text.mark]


def as_latex(found: Results) -> str:
    r"""Return a ``tabular`` for booktabs: the best in bold, what is not distinguishable underlined.

    The remarks follow as comments.
    """
    columns = "l" * _words(found) + "r" * len(found.datasets)
    blocks = [
        " \\\\\n".join(" & ".join(map(_latex, row)) for row in block)
        for block in _by_model(rows(found))
    ]
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            " & ".join(_escaped(title) for title in header(found)) + " \\\\",
            "\\midrule",
            " \\\\\n\\addlinespace\n".join(blocks) + " \\\\",
            "\\bottomrule",
            "\\end{tabular}",
            *(f"% {note}" for note in notes(found, "bold", "underlined")),
            "",
        ]
    )


def _by_model(table: Iterable[Row]) -> list[list[Row]]:
    """Return the rows of each model: the first of them has its name."""
    numbered, number = [], 0
    for row in table:
        number += bool(row[0].text)
        numbered.append((number, row))
    return [[row for _, row in block] for _, block in groupby(numbered, key=lambda pair: pair[0])]


_LATEX = {
    "±": "$\\pm$",
    "−": "$-$",
    "–": "--",
    "†": "$^\\dagger$",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _escaped(text: str) -> str:
    return re.sub("|".join(map(re.escape, _LATEX)), lambda match: _LATEX[match[0]], text)


def _latex(text: Text) -> str:
    words = _escaped(text.text)
    return {"": words, "best": f"\\textbf{{{words}}}", "near": f"\\underline{{{words}}}"}[text.mark]


def as_csv(found: Results) -> str:
    """Return one line a cell, with everything that is known of it."""
    cells = found.plain()["cells"]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(cells[0]) if cells else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(cells)
    return out.getvalue()


def as_json(found: Results) -> str:
    """Return one document with everything that is known."""
    return json.dumps(found.plain(), indent=1, ensure_ascii=False) + "\n"


FORMATS: dict[str, Callable[[Results], str]] = {
    "md": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
    "json": as_json,
}
"""What writes the table as text, by the name of the format."""


def rich_table(found: Results) -> RenderableType:
    """Return the table for a terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text as Rich

    table = Table(box=box.SIMPLE_HEAD, title="Test accuracy (%)", title_justify="left")
    for i, title in enumerate(header(found)):
        table.add_column(title, justify="left" if i < _words(found) else "right")
    for block in _by_model(rows(found)):
        for row in block:
            style = "" if found.brief or row[1].text == "ours" else "dim"
            cells: list[Any] = [
                Rich(t.text + SIGNS[t.mark], "bold" if t.mark == "best" else style) for t in row
            ]
            table.add_row(*cells)
        table.add_section()
    return table
