"""Where the attention of a whole model goes: how far, and how widely spread.

N nodes, B nodes of a block.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bagcn.explain.distance import Distances
from bagcn.explain.opened import Opened, Weights, weights_of
from bagcn.explain.shortcuts import blocks
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["Mass", "attention_mass"]


@dataclass(frozen=True, eq=False)
class Mass:
    """Where the attention goes, by distance; every row of ``mass`` and ``uniform`` sums to 1.

    Args:
        names: of the columns: ``"0"`` (the node itself), ``"1"``, … hops, ``"beyond"`` (further,
            in the same component) and ``"elsewhere"`` (in other components).
        mass: the share of each node's attention, (B, len(names)).
        uniform: the share of the nodes there, that is of an attention that knows nothing.
        spread: over how many nodes the attention is spread, the exponential of its entropy.
    """

    names: tuple[str, ...]
    mass: Tensor
    uniform: Tensor
    spread: Tensor

    def summary(self) -> dict[str, dict[str, float] | float]:
        """Return the means over the nodes."""
        return {
            "mass": dict(zip(self.names, self.mass.mean(0).tolist(), strict=True)),
            "uniform": dict(zip(self.names, self.uniform.mean(0).tolist(), strict=True)),
            "spread": self.spread.mean().item(),
        }


@torch.no_grad()
def attention_mass(
    model: nn.Module,
    x: Matrix,
    graph: Tensor | SparseMatrix,
    *,
    max_hops: int = 3,
    weights: Weights = "S1",
    nodes: Tensor | None = None,
) -> Mass:
    """Return the share of the attention that lies so many hops away, for all nodes or for these.

    The arguments are those of :func:`bagcn.explain.shortcuts`; ``max_hops`` is the largest
    distance with a column of its own.
    """
    opened = Opened.of(model, x, graph)
    distances = Distances(opened.adjacency)
    mass, uniform, spread = [], [], []
    for part in blocks(opened, nodes):
        weight, hops = weights_of(opened, part, weights), distances(part)  # (B, N)
        column = hops.clamp_max(max_hops + 1).masked_fill(hops < 0, max_hops + 2)
        zeros = weight.new_zeros(len(part), max_hops + 3)
        mass.append(zeros.scatter_add(1, column, weight))
        uniform.append(zeros.scatter_add(1, column, torch.full_like(weight, 1 / weight.shape[1])))
        spread.append(torch.special.entr(weight).sum(1).exp())
    names = (*map(str, range(max_hops + 1)), "beyond", "elsewhere")
    return Mass(names, torch.cat(mass), torch.cat(uniform), torch.cat(spread))
