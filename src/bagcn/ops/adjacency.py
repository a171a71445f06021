"""The normalised adjacency of a graph, prepared once.

N nodes, E edges.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from bagcn.ops.sparse import SparseMatrix

__all__ = ["normalized_adjacency"]

Norm = Literal["symmetric", "row", "none"]


def normalized_adjacency(
    edge_index: Tensor,
    edge_weight: Tensor | None = None,
    num_nodes: int | None = None,
    *,
    norm: Norm = "symmetric",
    self_loops: bool = True,
    dtype: torch.dtype | None = None,
) -> SparseMatrix:
    r"""Return :math:`\hat A = \tilde D^{-1/2} \tilde A \tilde D^{-1/2}` with :math:`\tilde A=A+I`.

    Row ``i`` holds what node ``i`` receives: an edge ``(j, i)`` of ``edge_index`` stands at
    ``[i, j]``. The result is differentiable in ``edge_weight``. A node that already has a
    self-loop keeps its weight, as in PyTorch Geometric.

    Args:
        edge_index: the edges, (2, E).
        edge_weight: their weights, (E,); ones if not given.
        num_nodes: the number of nodes; one more than the largest index if not given.
        norm: ``"symmetric"``, ``"row"`` for :math:`\tilde D^{-1}\tilde A`, or ``"none"``.
        self_loops: whether to add the self-loops that are missing.
        dtype: of the result; if not given, that of the weights.
    """
    source, target = edge_index
    if num_nodes is None:
        num_nodes = int(edge_index.max()) + 1 if edge_index.numel() else 0
    if edge_weight is None:
        edge_weight = torch.ones(source.numel(), dtype=dtype, device=edge_index.device)
    elif dtype is not None:
        edge_weight = edge_weight.to(dtype)
    if self_loops:
        missing = torch.ones(num_nodes, dtype=torch.bool, device=edge_index.device)
        missing[source[source == target]] = False
        loops = missing.nonzero().squeeze(1)
        source, target = torch.cat([source, loops]), torch.cat([target, loops])
        edge_weight = torch.cat([edge_weight, edge_weight.new_ones(loops.numel())])
    if norm != "none":
        degree = edge_weight.new_zeros(num_nodes).index_add(0, target, edge_weight)
        power = degree.pow(-0.5 if norm == "symmetric" else -1.0)
        power = power.masked_fill(degree == 0, 0.0)
        edge_weight = edge_weight * power[target]
        if norm == "symmetric":
            edge_weight = edge_weight * power[source]
    return SparseMatrix.from_coo(target, source, edge_weight, (num_nodes, num_nodes))
