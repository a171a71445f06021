"""Whom the shortcuts of a whole model join: nodes of the same class, or not.

N nodes, B nodes of a block, K shortcuts of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bagcn.explain.distance import Distances
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.shortcuts import blocks, distant, select
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["Agreement", "label_agreement"]


@dataclass(frozen=True)
class Agreement:
    """How often others have a node's own label, averaged over the nodes of some degrees.

    Args:
        degrees: the smallest and the largest number of neighbours, both included.
        nodes: how many nodes.
        shortcuts: among a node's strongest shortcuts.
        neighbours: among its neighbours; NaN for nodes without any.
        chance: among all other nodes, that is for one drawn blindly.
    """

    degrees: tuple[int, int]
    nodes: int
    shortcuts: float
    neighbours: float
    chance: float


@torch.no_grad()
def label_agreement(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    y: Tensor,
    top: int = 10,
    *,
    weights: Weights = "S1",
    min_hops: int = 2,
    nodes: Tensor | None = None,
    bins: Sequence[int] = (0, 1, 2, 3, 5, 9, 17),
) -> list[Agreement]:
    """Compare the labels of shortcuts, neighbours and all other nodes; by degree, then overall.

    Others without a label (``y`` below 0) do not count, and neither do nodes none of whose
    shortcuts has one.

    Args:
        model: see :func:`bagcn.explain.shortcuts`, like the arguments that are not listed here.
        x: features.
        graph: edges or adjacency.
        y: classes (N,), -1 where unknown.
        top: K.
        weights: which.
        min_hops: how far a shortcut must lead.
        nodes: whose, e.g. those of the test split; all if not given.
        bins: the smallest degree of every group.
    """
    opened = Opened.of(model, x, graph)
    distances = Distances(opened.adjacency)
    rows = []
    for part in blocks(opened, nodes):
        part = part[y[part] >= 0]
        hops = distances(part)
        weight = distant(weights_of(opened, part, weights), hops, min_hops)
        others = select(part, weight, hops, top).others
        shared = _share(y[part], y[others.clamp_min(0)].masked_fill(others < 0, -1))
        near = hops == 1
        neighbours = _share(y[part], torch.where(near, y, -1))
        degree = near.sum(1).double()
        rows.append(torch.stack([degree, shared, neighbours, _chance(y, y[part])], dim=1))
    return _groups(torch.cat(rows), bins)


def _share(own: Tensor, others: Tensor) -> Tensor:
    """Return the share of the labelled others (B, K) that has the node's own class; else NaN."""
    known = others >= 0
    return ((others == own[:, None]) & known).sum(1).double() / known.sum(1)


def _chance(y: Tensor, own: Tensor) -> Tensor:
    counts = torch.bincount(y[y >= 0])
    return (counts[own] - 1).double() / (counts.sum() - 1)


def _groups(found: Tensor, bins: Sequence[int]) -> list[Agreement]:
    """Average the rows (degree and three shares) over the nodes of every group, and over all."""
    degree, shared = found[:, 0], found[:, 1]
    ends = [*(start - 1 for start in bins[1:]), int(degree.max())]
    out = []
    for first, last in [*zip(bins, ends, strict=True), (0, int(degree.max()))]:
        chosen = (degree >= first) & (degree <= last) & ~shared.isnan()
        if chosen.any():
            means = found[chosen, 1:].nanmean(0).tolist()
            out.append(Agreement((first, last), int(chosen.sum()), *means))
    return out
