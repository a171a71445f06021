"""The paper's figure of case studies: ego graphs, without and with the learned shortcuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bagcn.reproduce.figures import PALETTE, saved

__all__ = ["draw_cases", "layout_of"]

Case = Mapping[str, Any]
Layout = Mapping[int, Any]
_SHORTCUT, _EDGE = "#c8641e", "#b9b7b0"


def draw_cases(cases: Sequence[Case], path: Path) -> None:
    """Draw the 3-hop ego graph of every case, above as it is, below with its shortcuts."""
    with saved(path, 2, len(cases), (4.0, 4.0)) as axes:
        for column, case in zip(axes.T, cases, strict=True):
            layout = layout_of(case)
            for place, with_shortcuts in zip(column, (False, True), strict=True):
                _draw(place, case, layout, with_shortcuts)
            column[0].set_title(f"{_title(case)} {case['node']}: 3-hop ego graph", fontsize=11)
            column[1].set_title(_sentence(case), fontsize=11)


def _title(case: Case) -> str:
    from bagcn.data import DATASETS

    return DATASETS[case["dataset"]].title


def _sentence(case: Case) -> str:
    place = {node: k for k, node in enumerate(case["nodes"])}
    own = case["classes"][place[case["node"]]]
    same = sum(case["classes"][place[other]] == own for other in case["shortcuts"])
    far = sum(not 0 <= case["hops"][place[other]] <= 3 for other in case["shortcuts"])
    total = len(case["shortcuts"])
    return f"with its {total} shortcuts:\n{far} beyond 3 hops, {same} of its class"


def layout_of(case: Case) -> Layout:
    """Place the ego graph by its edges, and the distant nodes around it."""
    import networkx as nx
    import numpy as np

    inside = [n for n, hops in zip(case["nodes"], case["hops"], strict=True) if 0 <= hops <= 3]
    graph = nx.Graph()
    graph.add_nodes_from(inside)
    graph.add_edges_from(case["edges"])
    layout = (
        nx.kamada_kawai_layout(graph) if len(inside) <= 400 else nx.spring_layout(graph, seed=0)
    )
    points = np.stack([layout[node] for node in inside])
    centre = layout[case["node"]]
    radius = 1.25 * np.linalg.norm(points - centre, axis=1).max()
    outside = [node for node in case["shortcuts"] if node not in layout]
    for k, node in enumerate(outside):
        angle = 2 * np.pi * (k + 0.5) / len(outside)
        layout[node] = centre + radius * np.array([np.cos(angle), np.sin(angle)])
    return layout  # type: ignore[no-any-return]


def _draw(place: Any, case: Case, layout: Layout, with_shortcuts: bool) -> None:
    for first, second in case["edges"]:
        _line(place, layout[first], layout[second], color=_EDGE, linewidth=0.7, zorder=1)
    if with_shortcuts:
        for other in case["shortcuts"]:
            ends = layout[case["node"]], layout[other]
            _line(place, *ends, color=_SHORTCUT, linewidth=1.3, alpha=0.8, zorder=2)
    for node, own, hops in zip(case["nodes"], case["classes"], case["hops"], strict=True):
        if not with_shortcuts and not 0 <= hops <= 3:
            continue
        centre = node == case["node"]
        place.scatter(
            *layout[node],
            s=170 if centre else 34,
            color=PALETTE[own % len(PALETTE)],
            edgecolors="#222222" if centre else "white",
            linewidths=1.6 if centre else 0.6,
            zorder=4 if centre else 3,
        )
    _square(place, list(layout.values()))
    place.set_axis_off()


def _square(place: Any, points: Sequence[Any]) -> None:
    """Show all points in a square."""
    low, high = ([end(p[k] for p in points) for k in (0, 1)] for end in (min, max))
    half = max(high[0] - low[0], high[1] - low[1]) / 2 + 0.12
    for k, show in enumerate((place.set_xlim, place.set_ylim)):
        middle = (low[k] + high[k]) / 2
        show(middle - half, middle + half)
    place.set_aspect("equal")


def _line(place: Any, first: Any, second: Any, **style: Any) -> None:
    place.plot([first[0], second[0]], [first[1], second[1]], **style)
