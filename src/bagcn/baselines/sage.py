r"""GraphSAGE on the whole graph, with three aggregators.

N nodes, F features, D hidden, C classes, E edges, P columns of a pooled message.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Edges, Linear, Matrix, as_matrix, dropout, normalized_adjacency

__all__ = ["Aggregator", "GraphSAGE"]

Aggregator = Literal["mean", "maxpool", "meanpool"]


class SAGELayer(nn.Module):
    r"""Add what a node receives to what it is.

    .. math::
        h_i' = W_s h_i + W_a\,\mathrm{AGG}_j(m_j) + b, \qquad h_i' / \max(1, \Vert h_i' \Vert)

    where :math:`m_j = h_j` for the mean and :math:`m_j = \mathrm{ReLU}(W_p h_j)` for the pooling
    aggregators. The neighbourhood holds the node itself.
    """

    def __init__(
        self, in_channels: int, out_channels: int, aggregator: Aggregator, pool_channels: int
    ) -> None:
        super().__init__()
        self.aggregator = aggregator
        self.own = Linear(in_channels, out_channels, bias=False)  # W_s
        pooled = aggregator != "mean"
        self.pool = Linear(in_channels, pool_channels, bias=False) if pooled else None  # W_p
        received = pool_channels if pooled else in_channels
        self.received = Linear(received, out_channels, bias=False)  # W_a
        self.bias = nn.Parameter(torch.empty(out_channels))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in (self.own, self.pool, self.received):
            if linear is not None:
                linear.reset_parameters()
        nn.init.zeros_(self.bias)

    def forward(self, x: Matrix, edges: Edges) -> Tensor:
        """Map (N, in) to (N, out), rows no longer than 1."""
        out = self.own(x) + self._aggregate(x, edges) + self.bias
        length: Tensor = torch.linalg.vector_norm(out, dim=1, keepdim=True)  # (N, 1)
        shortened: Tensor = out / length.clamp_min(1.0)
        return shortened

    def _aggregate(self, x: Matrix, edges: Edges) -> Tensor:
        if self.pool is None:  # the mean of linear maps is the linear map of the mean
            return edges.mean(self.received(x))
        messages = self.pool(x).relu()  # (N, P)
        if self.aggregator == "meanpool":
            return self.received(edges.mean(messages))  # type: ignore[no-any-return]
        weighted = edges.sources(messages) * edges.weight[:, None]  # (E, P)
        return self.received(edges.max(weighted))  # type: ignore[no-any-return]


class GraphSAGE(nn.Module):
    r"""GraphSAGE from `Inductive Representation Learning on Large Graphs
    <https://arxiv.org/abs/1706.02216>`_, without the sampling of neighbours.

    Layers of :class:`SAGELayer` with ReLU between them. The weight of an edge counts in the mean;
    in the maximum it multiplies the message, which is never below 0.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        aggregator: ``"mean"``, ``"maxpool"`` or ``"meanpool"``.
        num_layers: the number of layers.
        pool_channels: P.
        dropout: before every layer.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        aggregator: Aggregator = "mean",
        num_layers: int = 2,
        pool_channels: int = 32,
        dropout: float = 0.4,
    ) -> None:
        super().__init__()
        if aggregator not in get_args(Aggregator):
            known = ", ".join(get_args(Aggregator))
            raise ValueError(f"aggregator must be one of {known}; got {aggregator!r}")
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(
            SAGELayer(*width, aggregator, pool_channels) for width in pairwise(widths)
        )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Edges]:
        """Return features fit for products, and the edges with a self-loop at every node."""
        dtype = next(self.parameters()).dtype
        adjacency = normalized_adjacency(
            edge_index, edge_weight, x.shape[0], norm="none", dtype=dtype
        )
        return as_matrix(x), Edges(adjacency)

    def forward(
        self, x: Matrix, edge_index: Tensor | Edges, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with prepared edges.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        *hidden, last = self.layers
        for layer in hidden:
            x = layer(dropout(x, self.dropout, self.training), edge_index).relu()
        out: Tensor = last(dropout(x, self.dropout, self.training), edge_index)
        return out


def _card(aggregator: Aggregator) -> Card:
    return Card(
        name=f"sage-{aggregator}",
        model=GraphSAGE,
        title=f"GraphSAGE-{aggregator}",
        paper="W. L. Hamilton, R. Ying and J. Leskovec. Inductive Representation Learning on "
        "Large Graphs. NIPS 2017",
        url="https://arxiv.org/abs/1706.02216",
        written="After the full-batch code of O. Shchur et al. (Pitfalls of Graph Neural Network "
        "Evaluation, 2018): self-loops, messages of few columns, every row shortened to length 1. "
        "SAGEConv of PyTorch Geometric pools as many columns as there are features.",
        checked="A dense formula; for the mean also SAGEConv of PyTorch Geometric with the same "
        "weights.",
        arguments=(("aggregator", aggregator),),
    )


CARDS = tuple(_card(aggregator) for aggregator in get_args(Aggregator))
