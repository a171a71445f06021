"""What the page of explanations shows, as JSON: small, and nothing that it does not draw.

Nodes are numbered here by their place among the nodes of the page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from bagcn.explain.facts import facts
from bagcn.explain.named import Named
from bagcn.explain.opened import Weights
from bagcn.explain.shortcuts import Explanation
from bagcn.explain.shortcuts import shortcuts as strongest
from bagcn.ops import SparseMatrix

__all__ = ["page_data"]

ALL_UP_TO = 4_000
"""Nodes of a graph every one of which is explained on its page."""
EXPLAINED = 500
"""How many nodes around the one asked about are explained on the page of a larger graph."""
PAIRS = 40_000
"""How many shortcuts a page holds at most."""
LISTED = 20_000
"""How many nodes a page holds at most."""
NEIGHBOURS = 48
"""How many neighbours of a node a page holds at most."""
BYTES = 9_900_000
"""How large the JSON may be: with it, a page stays below 10 MB."""

Json = dict[str, Any]
Neighbours = Callable[[int], list[int]]


def page_data(
    named: Named, start: int, top: int = 10, weights: Weights = "prediction", limit: int = BYTES
) -> str:
    """Return the nodes, those around ``start`` first, and why each (of those) is predicted so.

    It is JSON that can stand inside a script element, whatever texts it holds.

    Args:
        named: the model, the graph and their names.
        start: the node that is shown first.
        top: how many shortcuts of each node.
        weights: which weights pick them; see :func:`bagcn.explain.shortcuts`.
        limit: how many bytes there may be. The nodes that are furthest away are left out for it,
            but never one that is explained or a shortcut of one.
    """
    neighbours = _neighbours(named.graph)
    chosen = _explained(named, neighbours, start, top, weights)
    found = named.explain(torch.tensor(chosen), top, weights)
    others = found.shortcuts.others
    needed = dict.fromkeys([*chosen, *others[others >= 0].tolist()])
    listed = _with_surroundings(needed, neighbours, named.num_nodes)
    while True:
        text = _embedded(_content(named, start, found, listed, neighbours))
        if len(text.encode()) <= limit or len(listed) == len(needed):
            return text
        listed = listed[: max(len(needed), len(listed) * 2 // 3)]


def _neighbours(graph: SparseMatrix) -> Neighbours:
    """Return a function that names the nodes that a node receives from, without itself."""
    crow = graph.pattern.crow.tolist()
    col, present = graph.pattern.col.cpu(), (graph.values != 0).cpu()

    def of(node: int) -> list[int]:
        own = slice(crow[node], crow[node + 1])
        return [other for other in col[own][present[own]].tolist() if other != node]

    return of


def _explained(
    named: Named, neighbours: Neighbours, start: int, top: int, weights: Weights
) -> list[int]:
    """Return the node, its shortcuts, its neighbours, and so on from each neighbour in turn."""
    most = ALL_UP_TO if named.num_nodes <= ALL_UP_TO else EXPLAINED
    most = max(1, min(most, named.num_nodes, PAIRS // top))
    own = torch.tensor([start], device=named.graph.device)
    first = strongest(named.model, named.x, named.graph, own, top, weights=weights).others[0]
    chosen = dict.fromkeys([start, *first[first >= 0].tolist()])
    queue = [start]
    for node in queue:
        if len(chosen) >= most:
            break
        reached = [other for other in neighbours(node) if other not in chosen]
        queue += reached
        chosen |= dict.fromkeys(reached)
    return _filled(chosen, most, named.num_nodes)


def _with_surroundings(needed: Iterable[int], neighbours: Neighbours, num_nodes: int) -> list[int]:
    """Return the nodes needed, those up to two hops from them, and others while there is room."""
    listed = dict.fromkeys(needed)
    most, border = max(LISTED, len(listed)), list(listed)
    for _ in range(2):
        reached = (other for node in border for other in neighbours(node))
        border = [other for other in dict.fromkeys(reached) if other not in listed]
        listed |= dict.fromkeys(border)
    return _filled(listed, most, num_nodes)


def _filled(chosen: dict[int, None], most: int, num_nodes: int) -> list[int]:
    """Return so many nodes: those chosen, then the others by their number."""
    if num_nodes <= most:
        chosen = chosen | dict.fromkeys(range(num_nodes))
    return list(chosen)[:most]


def _content(
    named: Named, start: int, found: Explanation, listed: list[int], neighbours: Neighbours
) -> Json:
    nodes = torch.tensor(listed)
    place = {node: number for number, node in enumerate(listed)}
    near = [neighbours(node) for node in listed]
    shown = ([place[n] for n in around if n in place][:NEIGHBOURS] for around in near)
    probabilities = named.probabilities[nodes].double()
    probabilities[: len(found.probabilities)] = found.probabilities.cpu()
    names, told = facts(named, nodes)
    return {
        "start": place[start],
        "size": named.num_nodes,
        "explained": len(found.shortcuts.nodes),
        "classes": [str(name) for name in named.classes],
        "facts": names,
        "nodes": {
            "id": [named.names[node] for node in listed],
            "known": named.y[nodes].tolist(),
            "trained": torch.isin(nodes, named.train.cpu()).int().tolist(),
            "predicted": probabilities.argmax(1).tolist(),
            "confidence": _rounded(probabilities.amax(1), 4),
            "degree": [len(around) for around in near],
            "facts": told,
        },
        "neighbours": list(shown),
        "why": [_why(found, row, place) for row in range(len(found.shortcuts.nodes))],
    }


def _why(found: Explanation, row: int, place: dict[int, int]) -> Json:
    """Return the reasons of one node: probabilities, shortcuts and parts."""
    pairs, probabilities = found.shortcuts, found.probabilities[row]
    predicted = int(probabilities.argmax())
    shown = []
    for k, other in enumerate(pairs.others[row].tolist()):
        if other >= 0:
            without = found.without[row, k]
            numbers = _rounded(torch.stack([pairs.weight[row, k], without[predicted]]))
            hops = int(pairs.hops[row, k])
            shown.append([place[other], *numbers, int(without.argmax()), hops])
    parts = (found.without_features, found.without_neighbours, found.without_shortcuts)
    best = probabilities.topk(min(5, len(probabilities)))
    return {
        "probabilities": list(zip(best.indices.tolist(), _rounded(best.values), strict=True)),
        "shortcuts": shown,
        "parts": [[*_rounded(p[row, [predicted]]), int(p[row].argmax())] for p in parts],
        "spread": round(float(found.spread[row]), 1),
    }


def _rounded(values: Tensor, digits: int = 6) -> list[float]:
    """Return numbers with so many significant digits."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def _embedded(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)
