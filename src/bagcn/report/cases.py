"""The case studies of the shortcuts, laid out for the page."""

from __future__ import annotations

from typing import Any

from bagcn.data import DATASETS
from bagcn.reproduce import Plan, Study
from bagcn.reproduce.casefigure import layout_of
from bagcn.reproduce.shortcutpage import found_cases

__all__ = ["cases_of"]


def cases_of(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return each case with where its nodes stand, as ids, classes, hops and coordinates."""
    return [_laid_out(case) for case in found_cases(study, plan)]


def _laid_out(case: dict[str, Any]) -> dict[str, Any]:
    layout = layout_of(case)
    place = {node: k for k, node in enumerate(case["nodes"])}
    points = [[round(float(value), 3) for value in layout[node]] for node in case["nodes"]]
    return {
        "title": f"{DATASETS[case['dataset']].title} {case['node']}",
        "centre": place[case["node"]],
        "nodes": case["nodes"],
        "classes": case["classes"],
        "hops": case["hops"],
        "points": points,
        "edges": [[place[a], place[b]] for a, b in case["edges"]],
        "shortcuts": [place[other] for other in case["shortcuts"]],
        "weights": case["weights"],
    }
