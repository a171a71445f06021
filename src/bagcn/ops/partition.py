"""Cut a graph into parts of one size with few edges between them.

N nodes, E edges, P parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["partition"]

STEPS = 60  # of the random walk that orders the nodes
EXCHANGES = 8  # of nodes between two halves

Nodes = NDArray[np.int64]


def partition(edge_index: Tensor, num_nodes: int, parts: int) -> Tensor:
    """Return the part of every node, (N,): from 0 to P - 1, of sizes that differ by one at most.

    The nodes are halved again and again: first along a slow direction of the random walk, as in
    spectral bisection, then by exchanges that lower the number of edges between the halves. There
    is no chance in it: the same edges give the same parts.

    Args:
        edge_index: the edges, (2, E); their direction does not matter.
        num_nodes: N.
        parts: P.
    """
    if not 1 <= parts <= num_nodes:
        raise ValueError(f"parts must be from 1 to the {num_nodes} nodes, got {parts}")
    sizes = np.full(parts, num_nodes // parts)
    sizes[: num_nodes % parts] += 1
    part = np.empty(num_nodes, dtype=np.int64)
    _divide(_undirected(edge_index, num_nodes), np.arange(num_nodes), sizes, 0, part)
    return torch.from_numpy(part).to(edge_index.device)


def _undirected(edge_index: Tensor, nodes: int) -> Any:
    source, target = edge_index.cpu().numpy()
    apart = source != target
    ends = (source[apart], target[apart])
    matrix = sp.csr_array((np.ones(apart.sum()), ends), (nodes, nodes))
    matrix = (matrix + matrix.T).tocsr()
    matrix.data[:] = 1.0
    return matrix


def _divide(graph: Any, nodes: Nodes, sizes: Nodes, first: int, part: Nodes) -> None:
    """Number the parts of these nodes from ``first`` on, in place."""
    if len(sizes) == 1:
        part[nodes] = first
        return
    half = len(sizes) // 2
    inside = graph[nodes][:, nodes]
    side = _exchanged(inside, _halved(inside, int(sizes[:half].sum())))
    _divide(graph, nodes[side], sizes[:half], first, part)
    _divide(graph, nodes[~side], sizes[half:], first + half, part)


def _halved(graph: Any, size: int) -> NDArray[np.bool_]:
    """Return the nodes at one end of a slow direction of the lazy random walk."""
    degree = np.maximum(graph.sum(axis=1), 1.0)
    place = np.sin(12.9898 * np.arange(len(degree)))  # any start that no graph is made for
    for _ in range(STEPS):
        place = (place + graph @ place / degree) / 2
        place -= degree @ place / degree.sum()  # the slowest direction tells nothing apart
    side = np.zeros(len(degree), dtype=bool)
    side[np.argsort(place, kind="stable")[:size]] = True
    return side


def _exchanged(graph: Any, side: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the halves after exchanges of equally many nodes, as long as they gain."""
    inner = _inner(graph, side)
    for _ in range(EXCHANGES):
        signs = np.where(side, 1.0, -1.0)
        gain = -(graph @ signs) * signs  # edges to the other half less those to the own
        ours, theirs = (_by_gain(np.flatnonzero(half), gain) for half in (side, ~side))
        pairs = min(len(ours), len(theirs))
        gainful = np.count_nonzero(gain[ours[:pairs]] + gain[theirs[:pairs]] > 0)
        moved = -(-gainful // 2)  # all at once would move neighbours past each other
        changed = side.copy()
        changed[ours[:moved]], changed[theirs[:moved]] = False, True
        now = _inner(graph, changed)
        if now <= inner:
            break
        side, inner = changed, now
    return side


def _by_gain(nodes: Nodes, gain: NDArray[np.float64]) -> Nodes:
    return nodes[np.argsort(-gain[nodes], kind="stable")]


def _inner(graph: Any, side: NDArray[np.bool_]) -> float:
    """Return the edges within the halves less those between them."""
    signs = np.where(side, 1.0, -1.0)
    return float(signs @ (graph @ signs))
