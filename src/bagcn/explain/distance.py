"""How many hops lie between nodes.

N nodes, B nodes asked about, E entries of the adjacency.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from bagcn.ops import SparseMatrix

__all__ = ["ELSEWHERE", "Distances"]

ELSEWHERE = -1
"""The distance to a node of another component."""


class Distances:
    """Hop distances in a graph, whichever way its edges point.

    The searches from 64 nodes run side by side, as the bits of one integer per node.

    Args:
        adjacency: (N, N); entries of zero are no edges.
    """

    def __init__(self, adjacency: SparseMatrix) -> None:
        graph = _symmetric(adjacency)
        self.crow, self.col = graph.indptr.astype(np.int64), graph.indices
        self.component = connected_components(graph, directed=False)[1]  # (N,)

    def __call__(self, nodes: Tensor) -> Tensor:
        """Return the hops from ``nodes`` (B,) to all nodes, :data:`ELSEWHERE` if none lead there.

        The result is (B, N), so ask for a block of nodes at a time.
        """
        start = nodes.cpu().numpy()
        reached = np.zeros((len(self.component), -(-len(start) // 64)), np.uint64)
        place = np.arange(len(start))
        bits = np.uint64(1) << (place % 64).astype(np.uint64)
        np.bitwise_or.at(reached, (start, place // 64), bits)
        hops = np.zeros((len(self.component), reached.shape[1] * 64), np.int16)
        while True:
            further = np.bitwise_or.reduceat(reached[self.col], self.crow[:-1], axis=0)
            if np.array_equal(further, reached):
                break
            hops += np.unpackbits((~reached).view(np.uint8), axis=1, bitorder="little")
            reached = further
        out = hops.T[: len(start)]
        out[self.component[start][:, None] != self.component] = ELSEWHERE
        return torch.from_numpy(out).to(nodes.device, torch.int64)


def _symmetric(adjacency: SparseMatrix) -> sp.csr_matrix:
    """Return the pattern with every edge in both directions and all self-loops."""
    pattern, present = adjacency.pattern, adjacency.values.detach().cpu().numpy() != 0
    row, col = (index.cpu().numpy()[present] for index in (pattern.row, pattern.col))
    graph = sp.csr_matrix((np.ones(len(row), np.int8), (row, col)), shape=adjacency.shape)
    graph = sp.csr_matrix(graph + graph.T + sp.identity(adjacency.shape[0], np.int8, "csr"))
    graph.sort_indices()
    return graph
