"""The distant nodes that predictions rest on, and what happens without them.

N nodes, B nodes asked about, K shortcuts of each, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor, nn

from bagcn.explain.distance import ELSEWHERE, Distances
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.removal import (
    probabilities,
    probabilities_with_only,
    probabilities_without,
)
from bagcn.nn import sharpen
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["Explanation", "Shortcuts", "explain_nodes", "iter_shortcuts", "shortcuts"]

BLOCK = 64
"""Nodes whose rows of N weights and distances are in memory at a time."""


@dataclass(frozen=True, eq=False)
class Shortcuts:
    """Pairs of nodes that need not be adjacent: the strongest shortcuts of some nodes.

    Args:
        nodes: the nodes, (B,).
        others: what each rests on, the strongest first, (B, K); -1 where there are fewer than K.
        weight: the share of the attention, (B, K); 0 where there is none.
        hops: the distance, (B, K); -1 for another component (and where there is none).
    """

    nodes: Tensor
    others: Tensor
    weight: Tensor
    hops: Tensor


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why some nodes are predicted as they are.

    Args:
        shortcuts: their strongest shortcuts.
        probabilities: of the classes, (B, C).
        without: the probabilities when one shortcut is cut, (B, K, C).
        without_shortcuts: when all shortcuts are cut, not the strongest only: the attention sees
            the node and the nodes closer than ``min_hops``, (B, C).
        without_neighbours: on the graph in which the node has no edges, (B, C).
        without_features: on the graph in which the node's own features are zero, (B, C).
        spread: over how many nodes the node's attention is spread, (B,): N if it is even, 1 if
            it is on one node; the exponential of its entropy. Near N, no shortcut stands out.
    """

    shortcuts: Shortcuts
    probabilities: Tensor
    without: Tensor
    without_shortcuts: Tensor
    without_neighbours: Tensor
    without_features: Tensor
    spread: Tensor


def shortcuts(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    nodes: Tensor,
    top: int = 10,
    *,
    weights: Weights = "prediction",
    min_hops: int = 2,
) -> Shortcuts:
    r"""Return the strongest shortcuts of some nodes.

    Args:
        model: a trained :class:`~bagcn.nn.BAGCN` with attention.
        x: features (N, F), as it was trained on.
        graph: edges (2, E), or the prepared adjacency.
        nodes: the nodes to explain, (B,).
        top: how many of each.
        weights: which weights: ``"S1"`` or ``"S2"`` for the paper's matrices (its figure draws the
            largest of S1), or ``"prediction"`` for what the node's prediction reads: row i of
            :math:`\hat A S_1`, divided by its sum; for the mean of both views the mean of this
            and row i of :math:`S_2`.
        min_hops: how far a node must be to count; 2 leaves out the node itself and its
            neighbours, 0 nobody.
    """
    _check(weights, top, min_hops)
    opened = Opened.of(model, x, graph)
    return _strongest(opened, Distances(opened.adjacency), nodes, top, weights, min_hops)


def iter_shortcuts(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    top: int = 10,
    *,
    weights: Weights = "prediction",
    min_hops: int = 2,
    block: int = BLOCK,
) -> Iterator[Shortcuts]:
    """Yield the strongest shortcuts of all nodes, a block of nodes at a time.

    The arguments are those of :func:`shortcuts`.
    """
    _check(weights, top, min_hops)
    opened = Opened.of(model, x, graph)
    distances = Distances(opened.adjacency)
    for nodes in blocks(opened, block=block):
        yield _strongest(opened, distances, nodes, top, weights, min_hops)


def explain_nodes(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    nodes: Tensor,
    top: int = 10,
    *,
    weights: Weights = "prediction",
    min_hops: int = 2,
    temperature: float = 1.0,
) -> Explanation:
    """Return the shortcuts of some nodes, and their predictions when something is taken away.

    To cut a shortcut is to mask the other node in every row of the attention that the prediction
    reads, and to normalise these rows again, whatever ``weights`` picked it by. The arguments are
    those of :func:`shortcuts`; ``min_hops`` must be at least 1 here. ``temperature`` divides the
    logits of all predictions.
    """
    _check(weights, top, min_hops)
    if min_hops < 1:
        raise ValueError("a node is no shortcut to itself: min_hops must be at least 1")
    opened = Opened.of(model, x, graph)
    distances = Distances(opened.adjacency)
    parts = [
        _explain(opened, distances, part, top, weights, min_hops)
        for part in torch.split(nodes, BLOCK)
    ]
    return _joined(parts, temperature)


def blocks(opened: Opened, nodes: Tensor | None = None, block: int = BLOCK) -> Iterator[Tensor]:
    """Yield all nodes, or these, in blocks."""
    if nodes is None:
        nodes = torch.arange(opened.num_nodes, device=opened.local.device)
    yield from torch.split(nodes, block)


@torch.no_grad()
def _strongest(
    opened: Opened, distances: Distances, nodes: Tensor, top: int, weights: Weights, min_hops: int
) -> Shortcuts:
    weight, hops = weights_of(opened, nodes, weights), distances(nodes)  # (B, N)
    return select(nodes, distant(weight, hops, min_hops), hops, top)


def distant(weight: Tensor, hops: Tensor, min_hops: int) -> Tensor:
    """Mark the weights of the nodes that are nearer with -1."""
    return weight.masked_fill((hops >= 0) & (hops < min_hops), -1.0)


def select(nodes: Tensor, weight: Tensor, hops: Tensor, top: int) -> Shortcuts:
    """Pick the largest weights that are not negative; equal ones by the number of the node."""
    size = weight.shape[1]
    least = weight.topk(min(top, size)).values[:, -1:]
    # topk takes any of those equal to the last: here the first of them
    rank = (weight >= least).long() + (weight > least).long()  # (B, N)
    rank = rank * size - torch.arange(size, device=rank.device)
    others = rank.topk(min(top, size)).indices.sort(dim=1).values  # (B, K)
    best = weight.gather(1, others).sort(dim=1, descending=True, stable=True)
    others, absent = others.gather(1, best.indices), best.values < 0
    return Shortcuts(
        nodes=nodes,
        others=others.masked_fill(absent, -1),
        weight=best.values.clamp_min(0),
        hops=hops.gather(1, others).masked_fill(absent, ELSEWHERE),
    )


@torch.no_grad()
def _explain(
    opened: Opened, distances: Distances, nodes: Tensor, top: int, weights: Weights, min_hops: int
) -> Explanation:
    weight, hops = weights_of(opened, nodes, weights), distances(nodes)  # (B, N)
    found = select(nodes, distant(weight, hops, min_hops), hops, top)
    near = (hops >= 0) & (hops < min_hops)
    ones = torch.split(nodes, 1)
    return Explanation(
        shortcuts=found,
        probabilities=probabilities(opened, nodes),
        without=probabilities_without(opened, nodes, found.others[:, :, None]),
        without_shortcuts=torch.stack(
            [
                probabilities_with_only(opened, int(one), keep.nonzero()[:, 0])
                for one, keep in zip(ones, near, strict=True)
            ]
        ),
        without_neighbours=_each(opened.without_edges, ones, hops),
        without_features=_each(opened.without_features, ones, hops),
        spread=torch.special.entr(weight).sum(1).exp(),
    )


def _each(changed: Callable[[int, Tensor], Opened], ones: Sequence[Tensor], hops: Tensor) -> Tensor:
    """Predict every node on the graph that is changed for it: (B, C)."""
    pairs = zip(ones, hops, strict=True)
    return torch.cat([probabilities(changed(int(one), row), one) for one, row in pairs])


def _joined(parts: list[Explanation], temperature: float) -> Explanation:
    """Put explanations of blocks of nodes together."""
    if not parts:
        raise ValueError("no nodes to explain: name at least one")
    pairs = [part.shortcuts for part in parts]
    whole = Shortcuts(*(torch.cat([getattr(p, name) for p in pairs]) for name in _names(Shortcuts)))
    names = _names(Explanation)[1:]
    found = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
    found |= {n: sharpen(p, temperature) for n, p in found.items() if n != "spread"}
    return Explanation(whole, **found)


def _names(kind: type) -> tuple[str, ...]:
    return tuple(kind.__dataclass_fields__)  # type: ignore[attr-defined]


def _check(weights: str, top: int, min_hops: int) -> None:
    if weights not in get_args(Weights):
        raise ValueError(f"weights must be one of {', '.join(get_args(Weights))}; got {weights!r}")
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top}")
    if min_hops < 0:
        raise ValueError(f"min_hops must not be negative, got {min_hops}")
