"""Features for graphs whose nodes have none, from the edges alone.

N nodes, E edges, F features.

``structural`` says what a node's surroundings look like: they mean the same in every graph.
``random-walk`` says where in the graph a node is: random marks, one row for each id, are averaged
over the nodes that short walks reach (after FastRP, Chen et al., 2019). The marks depend on the
id alone, so that a graph that has grown keeps its places; of a graph with other ids the places
mean nothing.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from bagcn.data._names import unknown
from bagcn.tables.graph import Graph

__all__ = ["STRUCTURES", "StructureEncoder"]

Array = np.ndarray

STRUCTURES = ("structural", "random-walk")
"""What a graph without features can get."""

_MEASURES = ("log degree", "log neighbours' degree", "clustering", "log PageRank", "core")
WALKS, MARKS = 4, 32


@dataclass(frozen=True, eq=False)
class StructureEncoder:
    """Features from the edges, standardised as they were in the graph that was learnt from."""

    structure: str
    mean: Array  # (F,)
    scale: Array  # (F,)

    @classmethod
    def fit(cls, graph: Graph, structure: str) -> StructureEncoder:
        """Learn mean and deviation of the features."""
        if structure not in STRUCTURES:
            raise unknown("kind of features", structure, STRUCTURES)
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(_measured(graph, structure))
        return cls(structure, scaler.mean_, scaler.scale_)

    @property
    def names(self) -> list[str]:
        """Return a name for each feature."""
        if self.structure == "structural":
            return list(_MEASURES)
        return [f"walk {k + 1}, mark {i + 1}" for k in range(WALKS) for i in range(MARKS)]

    def transform(self, graph: Graph) -> Tensor:
        """Return the features (N, F) of any graph."""
        scaled = (_measured(graph, self.structure) - self.mean) / self.scale
        return torch.from_numpy(scaled).float()

    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what was learnt, as JSON and as arrays."""
        saved = {"kind": "structure", "structure": self.structure}
        return saved, {"mean": self.mean, "scale": self.scale}

    @classmethod
    def restored(cls, saved: dict[str, Any], arrays: dict[str, Array]) -> StructureEncoder:
        """Return the encoder that :meth:`saved` describes."""
        return cls(saved["structure"], arrays["mean"], arrays["scale"])


def _measured(graph: Graph, structure: str) -> Array:
    adjacency = _adjacency(graph)
    if structure == "structural":
        return structural(adjacency)
    return walks(adjacency, marks(graph.ids))


def _adjacency(graph: Graph) -> sp.csr_matrix:
    """Return the edges, both ways and without weights: (N, N)."""
    source, target = graph.edge_index.numpy()
    ones, size = np.ones(len(source)), graph.num_nodes
    one_way = sp.csr_matrix((ones, (source, target)), shape=(size, size))
    both: sp.csr_matrix = ((one_way + one_way.T) > 0).astype(np.float64)
    both.setdiag(0)
    both.eliminate_zeros()
    return both


def structural(adjacency: sp.csr_matrix) -> Array:
    """Return degree, neighbours' degree, clustering, PageRank and core number: (N, 5)."""
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    safe = np.maximum(degree, 1)
    pairs = degree * (degree - 1) / 2
    return np.stack(
        [
            np.log1p(degree),
            np.log1p(adjacency @ degree / safe),
            triangles(adjacency) / np.maximum(pairs, 1),
            np.log(pagerank(adjacency) * len(degree)),
            np.log1p(core_numbers(adjacency)),
        ],
        axis=1,
    )


def triangles(adjacency: sp.csr_matrix) -> Array:
    """Return the number of triangles that each node is part of, (N,).

    Every edge points from the node of smaller degree to the other, so that no row is long.
    """
    degree = np.diff(adjacency.indptr)
    order = np.lexsort((np.arange(len(degree)), degree))
    upper = sp.triu(adjacency[order][:, order], 1, format="csr")
    outer = (upper @ upper).multiply(upper)  # [i, k]: how many j with i < j < k
    inner = (upper.T @ upper).multiply(upper)  # [j, k]: how many i
    counts = outer.sum(axis=1).ravel() + outer.sum(axis=0).ravel() + inner.sum(axis=1).ravel()
    triangles = np.empty(len(degree))
    triangles[order] = np.asarray(counts).ravel()
    return triangles


def pagerank(adjacency: sp.csr_matrix, damping: float = 0.85, tolerance: float = 1e-10) -> Array:
    """Return the PageRank of each node, (N,); a node without edges jumps anywhere."""
    size = adjacency.shape[0]
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    share = np.divide(1, degree, out=np.zeros(size), where=degree > 0)
    rank = np.full(size, 1 / size)
    for _ in range(200):
        jumped = rank[degree == 0].sum() / size
        new: Array = damping * (adjacency.T @ (rank * share) + jumped) + (1 - damping) / size
        if np.abs(new - rank).sum() < tolerance:
            return new
        rank = new
    return rank


def core_numbers(adjacency: sp.csr_matrix) -> Array:
    """Return the largest k such that the node is in a subgraph where all have k neighbours."""
    degree = np.diff(adjacency.indptr).astype(np.int64)
    left, core, k = degree.copy(), np.zeros(len(degree), dtype=np.int64), 0
    alive = np.ones(len(degree), dtype=bool)
    while alive.any():
        k = max(k, int(left[alive].min()))
        leaving = np.flatnonzero(alive & (left <= k))
        while len(leaving):
            core[leaving], alive[leaving] = k, False
            neighbours = adjacency[leaving].indices
            np.subtract.at(left, neighbours, 1)
            candidates = np.unique(neighbours)
            leaving = candidates[alive[candidates] & (left[candidates] <= k)]
    return core


def marks(ids: Array) -> Array:
    """Return a row of random numbers for each id, the same on every machine: (N, M)."""
    rows = np.empty((len(ids), MARKS))
    for row, value in zip(rows, ids.tolist(), strict=True):
        digest = hashlib.blake2b(str(value).encode(), digest_size=MARKS).digest()
        row[:] = np.frombuffer(digest, dtype=np.uint8)
    return (rows - 127.5) / 73.9  # mean 0, deviation 1


def walks(adjacency: sp.csr_matrix, start: Array) -> Array:
    """Return the mean mark of where walks of 1, 2, … steps end, at length one: (N, K·M)."""
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    step = sp.diags(np.divide(1, degree, out=np.zeros(len(degree)), where=degree > 0)) @ adjacency
    reached, parts = start, []
    for _ in range(WALKS):
        reached = step @ reached
        length = np.linalg.norm(reached, axis=1, keepdims=True)
        parts.append(np.divide(reached, length, out=np.zeros_like(reached), where=length > 0))
    return np.hstack(parts)
