"""A grid study as a page: our numbers, the paper's, the difference, and its claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bagcn.reproduce.claims import OPEN, Outcome, Place
from bagcn.reproduce.definition import Line
from bagcn.reproduce.drawn import Drawn, Value
from bagcn.reproduce.figures import draw_curves
from bagcn.reproduce.page import CLAIMS, Page, Table

__all__ = ["grid_page", "head_of", "signed", "state_of"]

NOTHING = "–"


def grid_page(drawn: Drawn) -> Page:
    """Return the page of a grid study."""
    study = drawn.study
    return Page(
        name=study.name,
        title=study.title,
        where=study.where,
        about=study.about,
        state=state_of(drawn),
        tables=[*_tables(drawn), *_claims(drawn)],
        notes=[f"{line.name}: {line.note}" for line in (*study.rows, *study.columns) if line.note],
        figures=_figures(drawn) if study.figure else {},
        plain=drawn.plain(),
        there=drawn.wanted - drawn.missing,
        wanted=drawn.wanted,
    )


def _figures(drawn: Drawn) -> dict[str, Callable[[Path], None]]:
    """Return one figure; one for each group of rows where the columns have groups, too."""
    name, rows = drawn.study.name, drawn.study.rows
    parts = {name: list(rows)}
    if drawn.study.table:
        groups = dict.fromkeys(row.group for row in rows)
        parts = {f"{name}-{g.lower()}": [row for row in rows if row.group == g] for g in groups}
    known = {value.cell.row.key for value in drawn.values if value.tests}
    return {
        part: partial(draw_curves, drawn, own)
        for part, own in parts.items()
        if any(row.key in known for row in own)
    }


def signed(value: float | None, digits: int = 1) -> str:
    """Return a difference with its sign."""
    if value is None:
        return NOTHING
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if float(f"{value:.{digits}f}") else f"±{0:.{digits}f}"


def state_of(drawn: Drawn) -> str:
    """Say how many of the runs are there."""
    there, fewer = drawn.wanted - drawn.missing, drawn.study.attack_seeds
    seeds = f"{drawn.seeds} seed{'s' if drawn.seeds > 1 else ''} a cell"
    if fewer:
        seeds += f", {min(fewer, drawn.seeds)} where models are attacked"
    if not drawn.missing:
        return f"All {there:,} runs are there: {seeds}."
    return (
        f"{there:,} of {drawn.wanted:,} runs are there ({seeds}): what is missing is shown as –, "
        "cells with fewer runs say how many."
    )


def _tables(drawn: Drawn) -> list[Table]:
    """Return a table for each group of rows and each group of columns, and the chosen one."""
    study = drawn.study
    tables = [_chosen(drawn)] if study.table else []
    for group in dict.fromkeys(row.group for row in study.rows):
        rows = [row for row in study.rows if row.group == group]
        for part in dict.fromkeys(column.group for column in study.columns):
            columns = [column for column in study.columns if column.group == part]
            lines = [line for row in rows for line in _lines(drawn, row, columns)]
            title = ": ".join(text for text in (group, part) if text)
            if lines:
                header = ["", "", *(column.name for column in columns)]
                tables.append(Table(title, header, lines, words=2))
    return tables


def _chosen(drawn: Drawn) -> Table:
    """Return the table of all rows and the most telling columns."""
    study = drawn.study
    columns = [column for key in study.table for column in study.columns if column.key == key]
    header = [head_of(column) for column in columns]
    lines = [
        [row.group, row.name, *line[2:]]
        for row in study.rows
        for line in _lines(drawn, row, columns)
    ]
    return Table("At a glance", ["", "", *header], lines, words=2)


def head_of(column: Line) -> str:
    """Return how a column is called among others of other groups."""
    return column.key if column.set or column.attack else "clean"


def _lines(drawn: Drawn, row: Line, columns: Sequence[Line]) -> list[list[str]]:
    """Return the paper's numbers, ours and the difference; nothing where nothing is to be run."""
    out = []
    several = len(drawn.variants) > 1
    for variant in drawn.variants:
        values = [drawn.value(row, column, variant) for column in columns]
        if not any(value.cell.recipes for value in values):
            continue
        ours = f"ours, {variant}" if several else "ours"
        out.append(["", ours, *map(_ours, values)])
        if any(value.difference is not None for value in values):
            out.append(["", "difference", *(signed(value.difference) for value in values)])
    if row.paper:
        values = [drawn.value(row, column, drawn.variants[0]) for column in columns]
        out.insert(0, ["", "paper", *(_with_sd(v.paper, v.paper_sd) for v in values)])
    if out:
        out[0][0] = row.name
    return out


def _ours(value: Value) -> str:
    text = _with_sd(value.summary.mean, value.summary.sd)
    marks = []
    if 0 < len(value.runs) < value.wanted:
        marks.append(f"{len(value.runs)} run{'s' if len(value.runs) > 1 else ''}")
    if value.summary.diverged:
        marks.append(f"{value.summary.diverged} diverged")
    return f"{text} ({', '.join(marks)})" if marks else text


def _with_sd(mean: float | None, sd: float | None) -> str:
    if mean is None:
        return NOTHING
    return f"{mean:.1f}" if sd is None else f"{mean:.1f} ± {sd:.1f}"


def _claims(drawn: Drawn) -> list[Table]:
    outcomes = drawn.outcomes
    if not outcomes:
        return []
    header = ["claim", "recipes", "by the paper's numbers", "by ours", "in detail"]
    return [Table(CLAIMS, header, [_claim(outcome) for outcome in outcomes], words=5)]


def _claim(outcome: Outcome) -> list[str]:
    ours = outcome.claim.source == "here"
    printed = NOTHING if outcome.paper == OPEN else outcome.paper
    return [
        f"{outcome.claim.says}{' (not in the paper)' if ours else ''}",
        outcome.variant,
        printed,
        outcome.verdict,
        _detail(outcome.places),
    ]


def _detail(places: Sequence[Place]) -> str:
    found = [place for place in places if place.difference is not None]
    lines = [
        f"{p.place}: {p.better} against {p.than} {signed(p.difference)} (p = {p.p:.2g})"
        for p in found
    ]
    lacking = len(places) - len(found)
    return "\n".join([*lines, *([f"{lacking} not decided for want of runs"] if lacking else [])])
