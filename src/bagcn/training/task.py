"""What there is to learn: a graph, its features and its classes.

N nodes, F features, E edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bagcn.data import scale_features
from bagcn.ops import Matrix, SparseMatrix, as_matrix

__all__ = ["Task"]


@dataclass(frozen=True, eq=False)
class Task:
    """A graph as the models see it.

    Args:
        x: features (N, F), dense or sparse CSR.
        edge_index: edges (2, E), in both directions where the graph is undirected.
        y: classes (N,), -1 where unknown.
        edge_weight: (E,), not negative, or ``None`` for ones.
        num_classes: one more than the largest class, if not given.
    """

    x: Matrix
    edge_index: Tensor
    y: Tensor
    edge_weight: Tensor | None = None
    num_classes: int = 0

    def __post_init__(self) -> None:
        nodes = self.y.shape[0]
        if self.x.shape[0] != nodes:
            raise ValueError(f"features of {self.x.shape[0]} nodes, but classes of {nodes}")
        edges = self.edge_index
        if edges.numel() and not (int(edges.min()) >= 0 and int(edges.max()) < nodes):
            raise ValueError(
                f"edges name the nodes {int(edges.min())} to {int(edges.max())}, "
                f"but the graph's {nodes} nodes are numbered 0 to {nodes - 1}"
            )
        self._check_weight()
        x = as_matrix(self.x)
        stored = x.values if isinstance(x, SparseMatrix) else x
        if not torch.isfinite(stored).all():
            raise ValueError("the features hold NaN or infinite values: fill or drop them first")
        if not self.num_classes:
            object.__setattr__(self, "num_classes", int(self.y.max()) + 1)
        if torch.unique(self.y[self.y >= 0]).numel() < 2:
            raise ValueError("all labelled nodes have one class: there is nothing to tell apart")

    def _check_weight(self) -> None:
        weight, edges = self.edge_weight, self.edge_index.shape[1]
        if weight is None:
            return
        if weight.shape != (edges,):
            raise ValueError(
                f"expected a weight for each of the {edges} edges, got the shape "
                f"{tuple(weight.shape)}"
            )
        if not (torch.isfinite(weight) & (weight >= 0)).all():
            raise ValueError("a weight of an edge is negative, NaN or infinite")

    @classmethod
    def from_data(cls, data: Any, features: str = "none") -> Task:
        """Take a PyTorch Geometric ``Data``, with its features scaled as named."""
        x = scale_features(data.x, features)
        return cls(x, data.edge_index, data.y, getattr(data, "edge_weight", None))

    @property
    def num_features(self) -> int:
        """Return F."""
        return int(self.x.shape[1])

    @property
    def num_entries(self) -> int:
        """Return how many features are stored: all of them, or those that are not zero."""
        x = as_matrix(self.x)
        return x.values.numel() if isinstance(x, SparseMatrix) else x.numel()

    @property
    def num_nodes(self) -> int:
        """Return N."""
        return int(self.y.shape[0])

    def prepared_for(self, model: nn.Module, device: torch.device) -> tuple[Matrix, Any]:
        """Return the features and the graph in the form that the model computes with.

        A model that must work on the graph first (normalise, take powers, rewire) does so in a
        method ``prepare(x, edge_index, edge_weight)``; others get the edges as they are.
        """
        x = as_matrix(self.x)
        weight = None if self.edge_weight is None else self.edge_weight.to(device)
        x, edges = x.to(device), self.edge_index.to(device)
        prepare = getattr(model, "prepare", None)
        return (x, edges) if prepare is None else prepare(x, edges, weight)
