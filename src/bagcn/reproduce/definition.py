"""What a study of the paper is: a small file ``studies/NAME.toml``, read and checked here.

A grid study says which runs there are (rows × columns × variants × seeds), what the paper prints
in each cell, and what it claims of them, as rules that the runs can be held to.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.resources import files
from typing import Any

from bagcn.data._names import unknown

__all__ = ["NAMES", "Claim", "Figure", "Line", "Study", "load_study"]

NAMES = (
    "table-small",
    "table-large",
    "dblp",
    "ego-local",
    "train-size",
    "ablation",
    "lambda",
    "temperature",
    "shortcuts",
    "robustness",
    "ideas",
)
"""All studies: the paper's in its order, then our own."""


@dataclass(frozen=True)
class Line:
    """A row or a column of a grid.

    Args:
        name: how it is printed.
        group: what several rows have in common: a table or a panel of its own.
        model: a model's name; of rows only.
        dataset: a data set's name; of the row or of the column.
        set: changes to the recipe, as on the command line.
        attack: on the trained model, as :class:`bagcn.robustness.evasion.Attack` reads it; of
            columns only.
        at: where it stands on the axis of a figure; of columns only.
        paper: what the paper prints, a mean or [mean, sd] for each column, [] where nothing; of
            rows only.
        note: what a reader should know about it.
    """

    name: str
    group: str = ""
    model: str = ""
    dataset: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    attack: str = ""
    at: float | None = None
    paper: Sequence[Any] = ()
    note: str = ""

    @property
    def key(self) -> str:
        """Return what claims call it."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper (or of ours) as a rule over the means of cells.

    In every place the best of some lines is compared with the best of others.

    Args:
        says: the claim in words.
        better: keys of lines.
        than: keys of other lines.
        compare: ``"rows"`` in each column, or ``"columns"`` in each row.
        places: in which of them; all if empty.
        margin: how many points better at least, everywhere or by place.
        within: instead of a margin: how many points the difference may be, either way.
        least: in how many places it must hold; all if 0.
        source: ``"paper"``, or ``"here"`` for what the paper does not say.
    """

    says: str
    better: Sequence[str]
    than: Sequence[str]
    compare: str = "rows"
    places: Sequence[str] = ()
    margin: float | Mapping[str, float] = 0.0
    within: float | None = None
    least: int = 0
    source: str = "paper"


@dataclass(frozen=True)
class Figure:
    """How the cells of a grid are drawn: a curve for each row, a panel for each group.

    Args:
        x: what the columns' ``at`` is.
        scale: of that axis, as Matplotlib calls it.
        linear: the part around 0 that is linear on a ``"symlog"`` scale.
    """

    x: str
    scale: str = "linear"
    linear: float = 1.0


@dataclass(frozen=True)
class Study:
    """One table or figure of the paper.

    Args:
        name: of the study.
        title: in words.
        where: in the paper.
        short: the title in a word or two, for lists.
        about: the protocol, and what is doubtful.
        kind: ``"grid"``, or the name of the function that runs and draws it.
        seeds: how many are wanted.
        variants: of the recipes, those that there are.
        draws: of a randomly damaged graph, which the seeds share out.
        attack_seeds: of the models that are attacked after training; all if 0.
        together: settings whose values are trained as one population.
        rows: of the grid.
        columns: of the grid.
        claims: to be tested.
        table: keys of columns that make a table for all rows, if the columns have groups.
        figure: if it is one.
        settings: of other kinds.
    """

    name: str
    title: str
    where: str
    short: str = ""
    about: str = ""
    kind: str = "grid"
    seeds: int = 20
    variants: Sequence[str] = ("official",)
    draws: int = 1
    attack_seeds: int = 0
    together: Sequence[str] = ()
    rows: Sequence[Line] = ()
    columns: Sequence[Line] = ()
    claims: Sequence[Claim] = ()
    table: Sequence[str] = ()
    figure: Figure | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def load_study(name: str) -> Study:
    """Read a study of this package."""
    if name not in NAMES:
        raise unknown("study", name, NAMES)
    text = (files("bagcn.reproduce") / "studies" / f"{name}.toml").read_text("utf-8")
    return parse_study(name, tomllib.loads(text))


def parse_study(name: str, content: Mapping[str, Any]) -> Study:
    """Check a study's content: a key or a line that is not known is an error."""
    lines = {key: [_made(Line, row) for row in content.get(key, ())] for key in ("rows", "columns")}
    claims = [_made(Claim, claim) for claim in content.get("claims", ())]
    figure = _made(Figure, content["figure"]) if "figure" in content else None
    study: Study = _made(
        Study, {"name": name, **content, **lines, "claims": claims, "figure": figure}
    )
    for row in study.rows:
        if len(row.paper) not in (0, len(study.columns)):
            raise ValueError(
                f"{name}: {row.key} has {len(row.paper)} numbers of the paper for "
                f"{len(study.columns)} columns; write [] where it prints nothing"
            )
    for claim in claims:
        _check(study, claim)
    for key in study.table:
        if key not in (columns := [column.key for column in study.columns]):
            raise unknown(f"column in the table of {name}", key, columns)
    return study


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    known = [entry.name for entry in fields(kind)]
    for key in values:
        if key not in known:
            raise unknown(f"key of a {kind.__name__.lower()}", key, known)
    return kind(**values)


def _check(study: Study, claim: Claim) -> None:
    rows, columns = ([line.key for line in lines] for lines in (study.rows, study.columns))
    lines, places = (rows, columns) if claim.compare == "rows" else (columns, rows)
    named = [*claim.better, *claim.than]
    for key in named:
        if key not in lines:
            raise unknown(f"line in a claim of {study.name}", key, lines)
    margins = claim.margin if isinstance(claim.margin, Mapping) else {}
    for key in (*claim.places, *margins):
        if key not in places:
            raise unknown(f"place in a claim of {study.name}", key, places)
