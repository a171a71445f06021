"""The study of shortcuts as a page: what holds of section 4.3, from all nodes and several seeds."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from bagcn.data import DATASETS
from bagcn.reproduce.casefigure import draw_cases
from bagcn.reproduce.definition import Study
from bagcn.reproduce.measure import FAR
from bagcn.reproduce.page import Page, Table
from bagcn.reproduce.running import Plan
from bagcn.reproduce.shortcutrules import Found, each, said, verdicts
from bagcn.reproduce.shortcuts import measured, shortcut_recipes

__all__ = ["found_cases", "shortcut_page"]

_PLACES = {
    "0": "the node itself",
    "1": "1 hop",
    "2": "2 hops",
    "3": "3 hops",
    "beyond": "further, same component",
    "elsewhere": "other components",
}


def shortcut_page(study: Study, plan: Plan) -> Page:
    """Return the page from the measures that are there."""
    found = _found(study, plan)
    there = sum(map(len, found.values()))
    whole = {name: runs for name, runs in found.items() if runs}
    cases = found_cases(study, plan)
    tables = verdicts(whole)
    for name, runs in whole.items():
        tables += _tables(DATASETS[name].title, runs)
    wanted = len(plan.seeds) * len(found)
    return Page(
        name=study.name,
        title=study.title,
        where=study.where,
        about=study.about,
        state=f"{there} of {wanted} models are measured ({len(plan.seeds)} seeds a data set).",
        tables=tables,
        notes=_notes(study.settings["top"]),
        figures={study.name: partial(draw_cases, cases)} if cases else {},
        plain={
            "study": study.name,
            "title": study.title,
            "where": study.where,
            "runs": there,
            "missing": wanted - there,
            "tables": [asdict(table) for table in tables],
        },
        there=there,
        wanted=wanted,
    )


def found_cases(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return what the figure shows: the nodes of the paper, with the first model's shortcuts."""
    return [
        case | {"dataset": name}
        for name, runs in _found(study, plan).items()
        for case in (runs[0]["cases"] if runs else ())
    ]


def _found(study: Study, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return the measures of every data set, one a seed."""
    recipes, folders = shortcut_recipes(study, plan.changes), plan.folders(study)
    return {
        name: [m for seed in plan.seeds if (m := measured(folders, recipe, seed)) is not None]
        for name, recipe in recipes.items()
    }


def _notes(top: int) -> list[str]:
    return [
        "Numbers are means over all nodes, ± the sd over the seeds.",
        "Uniform attention knows nothing: its share in a place is the share of the nodes there.",
        f"Shortcuts are a node's {top} largest entries of S1 among the nodes that are far enough; "
        "chance is a node drawn blindly from all.",
        f"Cut are the {top} strongest of what the prediction reads (the rows of Â S1) beyond "
        f"{FAR} hops; as many blindly drawn ones; or all beyond {FAR} hops.",
        "The attention is spread over the exponential of its entropy nodes: N if it is even, 1 if "
        "it is on one node.",
    ]


def _tables(title: str, found: Found) -> list[Table]:
    return [_mass(title, found), _agreement(title, found), _cut(title, found), _reach(title, found)]


def _mass(title: str, found: Found) -> Table:
    places = [name for name in _PLACES if name in found[0]["mass"]]
    rows = [
        [_PLACES[name], said(each(found, "mass", name)), said(each(found, "uniform", name))]
        for name in places
    ]
    for least in (1, 2, FAR):
        beyond = [[n for n in places if not (n.isdigit() and int(n) <= least)]] * len(found)
        sums = [
            [sum(run[kind][n] for n in names) for run, names in zip(found, beyond, strict=True)]
            for kind in ("mass", "uniform")
        ]
        rows.append([f"all beyond {least} hop{'s' if least > 1 else ''}", *map(said, sums)])
    nodes = found[0]["nodes"]
    spread = said(each(found, "spread", "mean"), "plain")
    rows.append([f"spread over so many of the {nodes:,} nodes", spread, f"{nodes:,}"])
    return Table(f"{title}: where the attention goes", ["", "attention", "uniform"], rows)


def _agreement(title: str, found: Found) -> Table:
    rows = []
    for place, group in enumerate(found[0]["agreement"]["2"]):
        first, last = group["degrees"]
        overall = place == len(found[0]["agreement"]["2"]) - 1
        degrees = "all" if overall else (f"{first}" if first == last else f"{first}–{last}")
        near, far = (each(found, "agreement", least, place) for least in ("2", str(FAR + 1)))
        rows.append(
            [
                degrees,
                f"{group['nodes']:,}",
                said(each(near, "shortcuts")),
                said(each(far, "shortcuts")),
                said(each(near, "neighbours")),
                said(each(near, "chance")),
            ]
        )
    header = ["neighbours", "nodes", "shortcuts beyond 1 hop", f"beyond {FAR} hops"]
    return Table(
        f"{title}: who has the node's own class", [*header, "its neighbours", "chance"], rows
    )


def _cut(title: str, found: Found) -> Table:
    cut = each(found, "cut")
    rows = [
        [words, *(said(each(cut, f"{kind}{suffix}"), "points") for kind in kinds)]
        for words, suffix, kinds in (
            ("the strongest", "_without", ("accuracy",)),
            ("as many blindly drawn", "_random", ("accuracy",)),
            (f"all beyond {FAR} hops", "_near", ("accuracy",)),
        )
    ]
    for row, suffix in zip(rows, ("", "_random", "_near"), strict=True):
        row.append(said(each(cut, f"changed{suffix}")))
        row.append(said(each(cut, f"probability{suffix}"), "points"))
    rows.insert(0, ["nothing", said(each(cut, "accuracy"), "points"), "–", "–"])
    header = ["cut", "accuracy, all nodes (%)", "predictions changed", "predicted class (points)"]
    return Table(f"{title}: what it is worth", header, rows)


def _reach(title: str, found: Found) -> Table:
    reach = each(found, "reach")
    rows = [
        ["of a node's largest entries of S1, beyond 3 hops", said(each(reach, "far"))],
        ["nodes whose largest entries are all beyond 3 hops", said(each(reach, "all_far"))],
        ["nodes with none beyond 3 hops", said(each(reach, "without_far"), "plain")],
        ["mean number of neighbours", said(each(reach, "degree", "mean"), "plain")],
        ["… of nodes with none", said(each(reach, "degree", "without_far"), "plain")],
        ["… of the others", said(each(reach, "degree", "others"), "plain")],
        [
            "neighbours in comparison with the neighbours' own, of nodes with none",
            said(each(reach, "relative_degree", "without_far"), "plain"),
        ],
        ["… of the others", said(each(reach, "relative_degree", "others"), "plain")],
        [
            "rank correlation of the number of neighbours with the share beyond 3 hops",
            said(each(reach, "rank_correlation", "degree"), "plain"),
        ],
    ]
    return Table(f"{title}: how far the largest entries reach", ["", ""], rows)
