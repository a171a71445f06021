"""A grid study as a page: our numbers, the paper's, the difference, and its claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bagcn.reproduce.claims import OPEN, Outcome, Place
from bagcn.reproduce.definition import Line
from bagcn.reproduce.drawn import Drawn, Value
from bagcn.reproduce.figures import draw_curves
from bagcn.reproduce.page import Page, Table

__all__ = ["grid_page", "signed"]

NOTHING = "–"


def grid_page(drawn: Drawn) -> Page:
    """Return the page of a grid study."""
    study = drawn.study
    figures = {study.name: partial(draw_curves, drawn)} if study.figure and _any(drawn) else {}
    return Page(
        name=study.name,
        title=study.title,
        where=study.where,
        about=study.about,
        state=_state(drawn),
        tables=[*_tables(drawn), *_claims(drawn)],
        notes=[f"{line.name}: {line.note}" for line in (*study.rows, *study.columns) if line.note],
        figures=figures,
        plain=drawn.plain(),
        complete=drawn.missing == 0,
    )


def signed(value: float | None, digits: int = 1) -> str:
    """Return a difference with its sign."""
    if value is None:
        return NOTHING
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if float(f"{value:.{digits}f}") else f"±{0:.{digits}f}"


def _any(drawn: Drawn) -> bool:
    return any(value.tests for value in drawn.values)


def _state(drawn: Drawn) -> str:
    there = drawn.wanted - drawn.missing
    if not drawn.missing:
        return f"All {there:,} runs are there: {drawn.seeds} seeds a cell."
    return (
        f"{there:,} of {drawn.wanted:,} runs are there ({drawn.seeds} seeds a cell): "
        "what is missing is shown as –, cells with fewer runs say how many."
    )


def _tables(drawn: Drawn) -> list[Table]:
    """Return a table for each group of rows."""
    study = drawn.study
    groups = dict.fromkeys(row.group for row in study.rows)
    header = ["", "", *(column.name for column in study.columns)]
    return [
        Table(
            group,
            header,
            [line for row in study.rows if row.group == group for line in _lines(drawn, row)],
            words=2,
        )
        for group in groups
    ]


def _lines(drawn: Drawn, row: Line) -> list[list[str]]:
    """Return what is ours, the paper's, and the difference."""
    out = []
    several = len(drawn.variants) > 1
    for variant in drawn.variants:
        values = [v for v in drawn.values if v.cell.row is row and v.cell.variant == variant]
        if not any(value.cell.recipes for value in values):
            continue
        ours = f"ours, {variant}" if several else "ours"
        out.append(["", ours, *(_ours(value, drawn.seeds) for value in values)])
        if row.paper:
            out.append(["", "difference", *(signed(value.difference) for value in values)])
    if row.paper:
        values = [v for v in drawn.values if v.cell.row is row][: len(drawn.study.columns)]
        out.insert(0, ["", "paper", *(_with_sd(v.paper, v.paper_sd) for v in values)])
    out[0][0] = row.name
    return out


def _ours(value: Value, wanted: int) -> str:
    text = _with_sd(value.summary.mean, value.summary.sd)
    marks = []
    if 0 < len(value.runs) < wanted:
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
    return [Table("What is claimed", header, [_claim(outcome) for outcome in outcomes], words=5)]


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
