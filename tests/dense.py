"""Dense formulas that tests hold sparse code against.

N nodes, E edges.
"""

from __future__ import annotations

import torch
from torch import Tensor


def dense_adjacency(edges: Tensor, weight: Tensor, nodes: int) -> Tensor:
    """Build Â (N, N) entry by entry, in double; nodes without a self-loop get one."""
    adjacency = torch.zeros(nodes, nodes, dtype=torch.float64)
    for (source, target), value in zip(edges.T.tolist(), weight, strict=True):
        adjacency[target, source] += value
    for node in range(nodes):
        if adjacency[node, node] == 0:
            adjacency[node, node] = 1
    degree = adjacency.sum(1)
    return adjacency / (degree[:, None] * degree[None]).sqrt()


def some_weights(edges: Tensor) -> Tensor:
    """Return a positive weight (E,) for every edge, the same in both directions."""
    low, high = edges.min(0).values.double(), edges.max(0).values.double()
    return 1 + 0.5 * torch.sin(3 * low + 5 * high)
