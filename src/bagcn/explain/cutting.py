"""What the shortcuts of a whole model change: predictions without them.

N nodes, B nodes of a block, K shortcuts of each, C classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bagcn.explain.distance import Distances
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.removal import (
    probabilities,
    probabilities_with_only,
    probabilities_without,
)
from bagcn.explain.shortcuts import blocks, distant, select
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["CutEffect", "cut_shortcuts"]


@dataclass(frozen=True)
class CutEffect:
    """What cutting shortcuts does to the predictions of some nodes.

    Args:
        nodes: how many nodes.
        accuracy: of the whole model.
        accuracy_without: with the strongest shortcuts of every node cut.
        accuracy_random: with as many cut that were drawn blindly from all distant nodes.
        accuracy_near: with all cut: the attention sees the near nodes only.
        changed: the share of predictions that change without the strongest.
        changed_random: the same for those drawn.
        changed_near: the same for all.
        probability: the mean change of the predicted class' probability without the strongest.
        probability_random: the same for those drawn.
        probability_near: the same for all.
    """

    nodes: int
    accuracy: float
    accuracy_without: float
    accuracy_random: float
    accuracy_near: float
    changed: float
    changed_random: float
    changed_near: float
    probability: float
    probability_random: float
    probability_near: float


@torch.no_grad()
def cut_shortcuts(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    y: Tensor,
    top: int = 10,
    *,
    weights: Weights = "prediction",
    min_hops: int = 2,
    nodes: Tensor | None = None,
    seed: int = 0,
) -> CutEffect:
    """Cut the strongest shortcuts of every node, each node's for itself, and predict again.

    The arguments are those of :func:`label_agreement`; ``seed`` draws the random ones, and
    ``weights`` also says in which rows the nodes are masked (see
    :func:`bagcn.explain.removal.probabilities_without`). Only labelled nodes count.
    """
    opened = Opened.of(model, x, graph)
    distances = Distances(opened.adjacency)
    generator = torch.Generator().manual_seed(seed)
    results = []
    for part in blocks(opened, nodes):
        part = part[y[part] >= 0]
        hops = distances(part)
        near = (hops >= 0) & (hops < min_hops)
        blind = torch.rand(near.shape, generator=generator, dtype=torch.float64).to(part.device)
        ways = [
            select(part, distant(weight, hops, min_hops), hops, top).others
            for weight in (weights_of(opened, part, weights), blind)
        ]
        cut = probabilities_without(opened, part, torch.stack(ways, dim=1), weights)  # (B, 2, C)
        alone = [
            probabilities_with_only(opened, node, keep.nonzero()[:, 0])
            for node, keep in zip(part.tolist(), near, strict=True)
        ]
        whole = probabilities(opened, part)
        results.append(torch.cat([whole[:, None], cut, torch.stack(alone)[:, None]], dim=1))
    chosen = torch.arange(opened.num_nodes, device=y.device) if nodes is None else nodes
    return _effect(torch.cat(results), y[chosen[y[chosen] >= 0]])


def _effect(found: Tensor, y: Tensor) -> CutEffect:
    """Compare the ways (B, 4, C): whole, without the strongest, without random ones, near only."""
    predicted = found.argmax(-1)  # (B, 4)
    accuracy = (predicted == y[:, None]).double().mean(0).tolist()
    changed = (predicted != predicted[:, :1]).double().mean(0).tolist()
    own = found.gather(2, predicted[:, :1, None].expand(-1, 4, 1))[..., 0]  # (B, 4)
    moved = (own - own[:, :1]).mean(0).tolist()
    return CutEffect(len(y), *accuracy, *changed[1:], *moved[1:])
