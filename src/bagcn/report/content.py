"""What a report shows, as plain data: studies, their cells, and the runs behind every number."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bagcn import __version__
from bagcn.data import DATASETS
from bagcn.report.cases import cases_of
from bagcn.report.numbers import Numbers
from bagcn.reproduce import NAMES, Page, Plan, Study, Table, draw, load_study
from bagcn.reproduce.claims import OPEN, Outcome
from bagcn.reproduce.definition import Line
from bagcn.reproduce.drawn import Drawn, Value, draw_grid
from bagcn.reproduce.grid import Pool
from bagcn.reproduce.gridpage import grid_page, head_of, state_of
from bagcn.reproduce.page import CLAIMS
from bagcn.study.models import MODELS
from bagcn.study.recipe import VARIANTS, paper_value

__all__ = ["Content", "report_content", "whole_bench"]

Content = dict[str, Any]
CHOSEN = "at a glance"


def report_content(store: Path) -> tuple[Content, list[Page]]:
    """Read the store once; return what the HTML page shows, and every study's page.

    Args:
        store: the folder of all run stores.
    """
    pool, numbers = Pool(store), Numbers()
    pages, studies = [], []
    for study in [whole_bench(), *map(load_study, NAMES)]:
        if study.kind == "grid":
            drawn = draw_grid(study, pool, range(study.seeds))
            pages.append(grid_page(drawn))
            rows = _with_runs(drawn) if study.name == "bench" else study.rows
            studies.append(_grid(drawn, numbers, rows))
        else:
            plan = Plan(store, range(study.seeds))
            pages.append(draw(study, plan))
            studies.append(_texts(pages[-1], cases_of(study, plan)))
        studies[-1]["short"] = study.short or study.title
    content = {
        "title": "BAGCN: every number, and the runs behind it",
        "version": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "runs": len(pool),
        "studies": studies,
        **numbers.plain(),
    }
    return content, pages


def whole_bench() -> Study:
    """Return the study of all models on all data sets."""
    return Study(
        name="bench",
        short="All models",
        title="All models on all data sets",
        where="sections 4.1 and 4.2, and the peers people would pick today",
        about="The settings of the authors' code or paper (official), and those that were tuned "
        "here with the same budget for every model (tuned). Test accuracy (%) at the epoch of the "
        "best validation accuracy.",
        variants=VARIANTS,
        rows=[
            Line(
                name=card.title,
                model=name,
                paper=[list(paper_value(name, dataset) or []) for dataset in DATASETS],
            )
            for name, card in MODELS.items()
        ],
        columns=[Line(name=info.title, dataset=name) for name, info in DATASETS.items()],
    )


def _with_runs(drawn: Drawn) -> list[Line]:
    """Return the rows of the models that have a run."""
    models = {value.cell.row.model for value in drawn.values if value.runs}
    return [row for row in drawn.study.rows if row.model in models]


def _grid(drawn: Drawn, numbers: Numbers, rows: Sequence[Line]) -> Content:
    study = drawn.study
    parts = _parts(study)
    tables = [
        _table(drawn, numbers, [row for row in rows if row.group == group], part, columns)
        for group in dict.fromkeys(row.group for row in rows)
        for part, columns in parts.items()
    ]
    lacking = [row.name for row in study.rows if row not in rows]
    notes = [f"{x.name}: {x.note}" for x in (*study.rows, *study.columns) if x.note]
    if lacking:
        notes.append(f"Without a stored run, and not shown: {', '.join(lacking)}.")
    return {
        "name": study.name,
        "title": study.title,
        "where": study.where,
        "about": study.about,
        "state": state_of(drawn),
        "runs": drawn.wanted - drawn.missing,
        "wanted": drawn.wanted,
        "notes": notes,
        "tables": [table for table in tables if table["rows"]],
        "figure": _figure(study),
        "claims": [_claim(outcome) for outcome in drawn.outcomes],
        "texts": [],
        "cases": [],
    }


def _parts(study: Study) -> dict[str, list[Line]]:
    """Return the groups of columns, the chosen ones first."""
    parts: dict[str, list[Line]] = {}
    if study.table:
        parts[CHOSEN] = [c for key in study.table for c in study.columns if c.key == key]
    for column in study.columns:
        parts.setdefault(column.group, []).append(column)
    return parts


def _table(
    drawn: Drawn, numbers: Numbers, rows: Sequence[Line], part: str, columns: Sequence[Line]
) -> Content:
    lines = []
    for row in rows:
        for variant in drawn.variants:
            values = [drawn.value(row, column, variant) for column in columns]
            if any(value.cell.recipes for value in values):
                cells = [_cell(value, numbers, drawn.study.name) for value in values]
                lines.append({"name": row.name, "variant": variant, "cells": cells})
    group = rows[0].group if rows else ""
    heads = [
        {"name": head_of(c), "at": None} if part == CHOSEN else {"name": c.name, "at": c.at}
        for c in columns
    ]
    several = len(drawn.variants) > 1
    return {
        "group": group,
        "part": part,
        "columns": heads,
        "rows": lines,
        "variants": several,
        "within": "row" if len({row.dataset for row in rows}) > 1 else "column",
    }


def _cell(value: Value, numbers: Numbers, study: str) -> Content:
    found = value.plain()
    return {
        "mean": found["mean"],
        "sd": found["sd"],
        "n": len(value.runs),
        "wanted": value.wanted,
        "diverged": found["diverged"],
        "paper": found["paper"],
        "paperSd": found["paper_sd"],
        "number": numbers.add(value, study) if value.runs else None,
    }


def _figure(study: Study) -> Content | None:
    if study.figure is None:
        return None
    return {"x": study.figure.x, "scale": study.figure.scale, "linear": study.figure.linear}


def _claim(outcome: Outcome) -> Content:
    plain = outcome.plain()
    plain["paper"] = plain.pop("by_the_paper's_numbers")
    return plain


def _texts(page: Page, cases: list[Content]) -> Content:
    """Return a study whose tables are texts."""
    return {
        "name": page.name,
        "title": page.title,
        "where": page.where,
        "about": page.about,
        "state": page.state,
        "runs": page.there,
        "wanted": page.wanted,
        "notes": list(page.notes),
        "tables": [],
        "figure": None,
        "claims": [claim for table in page.tables[:1] for claim in _claims_of(table)],
        "texts": [
            {"title": t.title, "header": list(t.header), "rows": list(t.rows), "words": t.words}
            for t in page.tables
        ],
        "cases": cases,
    }


def _claims_of(table: Table) -> list[Content]:
    """Return the claims of a table of claims: what is said, of what, and whether it holds."""
    if table.title != CLAIMS:
        return []
    return [
        {
            "says": f"{says} ({of})",
            "source": "paper",
            "variant": "official",
            "verdict": verdict,
            "paper": OPEN,
            "places": [],
        }
        for says, of, verdict, _ in table.rows
    ]
