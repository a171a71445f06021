"""The reasons of one prediction as plain data, in the names of the graph's owner."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bagcn.explain.distance import ELSEWHERE
from bagcn.explain.named import Named
from bagcn.explain.opened import Weights
from bagcn.explain.shortcuts import Explanation

__all__ = ["reasons"]

Json = dict[str, Any]


def reasons(named: Named, node: Any, top: int = 10, weights: Weights = "prediction") -> Json:
    """Return why a node is predicted as it is, as plain data that JSON can hold.

    ``"change"`` is always that of the predicted class' probability. ``"hops"`` is None for a
    node of another component.

    Args:
        named: the model, the graph and their names.
        node: its id.
        top: how many shortcuts.
        weights: which weights pick them; see :func:`bagcn.explain.shortcuts`.
    """
    place = named.position(node)
    found = named.explain(torch.tensor([place]), top, weights)
    probabilities = found.probabilities[0]
    return {
        "node": named.ids[place],
        **_classes(named, place, probabilities),
        "learnt_from": bool((named.train == place).any()),
        "nodes": named.num_nodes,
        "even_share": 1 / named.num_nodes,
        "spread": float(found.spread[0]),
        "weights": weights,
        "without": {
            "own features": _without(named, probabilities, found.without_features[0]),
            "neighbours": _without(named, probabilities, found.without_neighbours[0]),
            "shortcuts": _without(named, probabilities, found.without_shortcuts[0]),
        },
        "shortcuts": _shortcuts(named, found),
    }


def _classes(named: Named, place: int, probabilities: Tensor) -> Json:
    best = int(probabilities.argmax())
    return {
        "prediction": named.classes[best],
        "probability": float(probabilities[best]),
        "label": _label(named, place),
        "probabilities": dict(zip(map(str, named.classes), probabilities.tolist(), strict=True)),
    }


def _label(named: Named, place: int) -> Any:
    known = int(named.y[place])
    return None if known < 0 else named.classes[known]


def _without(named: Named, whole: Tensor, without: Tensor) -> Json:
    """Return what becomes of the prediction when something is taken away."""
    best = int(whole.argmax())
    return {
        "probability": float(without[best]),
        "change": float(without[best] - whole[best]),
        "prediction": named.classes[int(without.argmax())],
    }


def _shortcuts(named: Named, found: Explanation) -> list[Json]:
    pairs = found.shortcuts
    rows = []
    for k, other in enumerate(pairs.others[0].tolist()):
        if other < 0:
            continue
        hops = int(pairs.hops[0, k])
        row = {
            "node": named.ids[other],
            "weight": float(pairs.weight[0, k]),
            "hops": None if hops == ELSEWHERE else hops,
            "label": _label(named, other),
            "prediction": named.classes[int(named.probabilities[other].argmax())],
            "without": _without(named, found.probabilities[0], found.without[0, k]),
        }
        rows.append(row)
    return rows
