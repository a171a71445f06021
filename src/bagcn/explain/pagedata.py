"""What the page of explanations shows, as JSON: small, and nothing that it does not draw.

Nodes are numbered here by their place among the nodes of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bagcn.explain.named import Named
from bagcn.explain.opened import Weights, entries
from bagcn.explain.shortcuts import Explanation
from bagcn.ops import SparseMatrix, as_matrix

__all__ = ["page_data"]

ALL_UP_TO = 4_000
"""Nodes of a graph every one of which is explained on its page."""
EXPLAINED = 500
"""How many nodes around the one asked about are explained on the page of a larger graph."""
LISTED = 20_000
"""How many nodes a page holds at most."""
NEIGHBOURS = 48
"""How many neighbours of a node a page holds at most."""
FEATURES = 6
"""How many features of a node are shown: those that set it apart most."""

Json = dict[str, Any]


def page_data(named: Named, start: int, top: int = 10, weights: Weights = "prediction") -> Json:
    """Return the nodes, those around ``start`` first, and why each (of those) is predicted so.

    Args:
        named: the model, the graph and their names.
        start: the node that is shown first.
        top: how many shortcuts of each node.
        weights: which weights pick them; see :func:`bagcn.explain.shortcuts`.
    """
    every = torch.arange(named.num_nodes)
    neighbours = _Neighbours(named.graph)
    explained = every if len(every) <= ALL_UP_TO else _around(named, neighbours, start, top)
    found = named.explain(explained, top, weights)
    listed = every if len(every) <= LISTED else _listed(neighbours, explained, found)
    place = torch.full((named.num_nodes,), -1)
    place[listed] = torch.arange(len(listed))
    why: list[Json | None] = [None] * len(listed)
    for row, node in enumerate(explained.tolist()):
        why[int(place[node])] = _why(found, row, place)
    near = [neighbours.of(node) for node in listed.tolist()]
    used, shown = _features(named, listed)
    return {
        "start": int(place[start]),
        "size": named.num_nodes,
        "explained": len(explained),
        "classes": [str(name) for name in named.classes],
        "features": used,
        "nodes": {
            "id": [named.names[node] for node in listed.tolist()],
            "known": named.y[listed].tolist(),
            "trained": _member(named.train, listed),
            "predicted": named.probabilities[listed].argmax(1).tolist(),
            "confidence": _rounded(named.probabilities[listed].amax(1)),
            "degree": [len(nodes) for nodes in near],
            "features": shown,
        },
        "neighbours": [[n for n in place[nodes].tolist() if n >= 0][:NEIGHBOURS] for nodes in near],
        "why": why,
    }


@dataclass(frozen=True, eq=False)
class _Neighbours:
    graph: SparseMatrix

    def of(self, node: int) -> Tensor:
        """Return the nodes that this one receives from, without itself."""
        own = torch.tensor([node], device=self.graph.device)
        _, col, value = entries(self.graph, own)
        return col[(col != node) & (value != 0)].cpu()


def _around(named: Named, neighbours: _Neighbours, start: int, top: int) -> Tensor:
    """Return the node, its shortcuts, its neighbours, and so on from each neighbour in turn."""
    first = named.explain(torch.tensor([start]), top).shortcuts.others[0].tolist()
    chosen = dict.fromkeys([start, *(node for node in first if node >= 0)])
    queue = [start]
    while queue and len(chosen) < EXPLAINED:
        reached = neighbours.of(queue.pop(0)).tolist()
        queue += [node for node in reached if node not in chosen]
        chosen |= dict.fromkeys(reached)
    return torch.tensor(list(chosen)[:EXPLAINED])


def _listed(neighbours: _Neighbours, explained: Tensor, found: Explanation) -> Tensor:
    """Return the explained nodes, their shortcuts, and the nodes up to two hops from them."""
    others = found.shortcuts.others
    listed = dict.fromkeys([*explained.tolist(), *others[others >= 0].tolist()])
    border = list(listed)
    for _ in range(2):
        reached = [n for node in border for n in neighbours.of(node).tolist() if n not in listed]
        border = list(dict.fromkeys(reached))[: max(0, LISTED - len(listed))]
        listed |= dict.fromkeys(border)
    return torch.tensor(list(listed))


def _why(found: Explanation, row: int, place: Tensor) -> Json:
    """Return the reasons of one node: probabilities, shortcuts and parts."""
    pairs, probabilities = found.shortcuts, found.probabilities[row]
    predicted = int(probabilities.argmax())
    shown = []
    for k, other in enumerate(pairs.others[row].tolist()):
        if other >= 0:
            without = found.without[row, k]
            numbers = _rounded(torch.stack([pairs.weight[row, k], without[predicted]]), 6)
            hops = int(pairs.hops[row, k])
            shown.append([int(place[other]), *numbers, int(without.argmax()), hops])
    parts = (found.without_features, found.without_neighbours, found.without_shortcuts)
    return {
        "probabilities": _rounded(probabilities),
        "shortcuts": shown,
        "parts": [[*_rounded(p[row, [predicted]]), int(p[row].argmax())] for p in parts],
        "spread": round(float(found.spread[row]), 1),
    }


def _rounded(values: Tensor, digits: int = 4) -> list[float]:
    """Return numbers with so many significant digits."""
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def _member(nodes: Tensor, listed: Tensor) -> list[int]:
    return torch.isin(listed, nodes.cpu()).int().tolist()


def _features(named: Named, listed: Tensor) -> tuple[list[str], list[list[list[float]]]]:
    """Return the names that occur, and the most telling features of each node as [name, value]."""
    x = as_matrix(named.x)
    telling = _stored(x, listed) if isinstance(x, SparseMatrix) else _dense(x, listed)
    used = sorted({column for row in telling for column, _ in row})
    number = {column: place for place, column in enumerate(used)}
    scale, shift = (None, None) if named.units is None else named.units.tolist()
    rows = []
    for row in telling:
        own = row if scale is None else [(c, v * scale[c] + shift[c]) for c, v in row]
        rows.append([[number[c], float(f"{v:.5g}")] for c, v in own])
    return [named.features[column] for column in used], rows


def _stored(x: SparseMatrix, listed: Tensor) -> list[list[tuple[int, float]]]:
    """Pick the stored values that are large, and rare among the nodes."""
    shared = torch.bincount(x.pattern.col.long(), minlength=x.shape[1]).cpu()
    rarity = (x.shape[0] / shared.clamp_min(1)).log() + 1e-9
    out = []
    for node in listed.tolist():
        _, col, value = entries(x, torch.tensor([node], device=x.device))
        col, value = col.cpu(), value.cpu()
        out.append(_largest(col.numpy(), value.numpy(), (value.abs() * rarity[col]).numpy()))
    return out


def _dense(x: Tensor, listed: Tensor) -> list[list[tuple[int, float]]]:
    """Pick the values that are furthest from their column's mean, in standard deviations."""
    mean, deviation = x.mean(0), x.std(0).clamp_min(1e-12)
    rows = x[listed.to(x.device)].cpu()
    far = ((rows - mean.cpu()) / deviation.cpu()).abs().numpy()
    columns = np.arange(x.shape[1])
    return [_largest(columns, row, z) for row, z in zip(rows.numpy(), far, strict=True)]


def _largest(columns: Sequence[int] | Any, values: Any, importance: Any) -> list[tuple[int, float]]:
    order = np.argsort(-importance, kind="stable")[:FEATURES].tolist()
    return [(int(columns[place]), float(values[place])) for place in order]
