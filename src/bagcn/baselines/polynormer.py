r"""Polynormer: local attention first, then linear attention over all nodes on top of it.

N nodes, F features, H heads, D hidden of a head, W = HD, C classes, E edges.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import (
    Edges,
    Linear,
    Matrix,
    as_matrix,
    cross_entropy,
    dropout,
    normalized_adjacency,
)

__all__ = ["Polynormer", "linear_attention"]


def linear_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    r"""Return :math:`Q (K^\top V) / Q (K^\top \mathbf 1)` of every head.

    Args:
        query: positive, (N, D, H).
        key: positive, (N, D, H).
        value: (N, D, H).
    """
    summary = torch.einsum("ndh,neh->deh", key, value)  # (D, D, H)
    received = torch.einsum("ndh,deh->neh", query, summary)
    weight = torch.einsum("ndh,dh->nh", query, key.sum(0))
    return received / weight[:, None]  # (N, D, H)


class _LocalLayer(nn.Module):
    """Attention along the edges, gated by a linear map of the node itself."""

    def __init__(self, channels: int, num_heads: int) -> None:
        super().__init__()
        width = channels * num_heads
        self.gate = Linear(width, width, init="kaiming")
        self.message = Linear(width, width, bias=False)
        self.source = nn.Parameter(torch.empty(num_heads, channels))
        self.target = nn.Parameter(torch.empty(num_heads, channels))
        self.skip = Linear(width, width, init="kaiming")
        self.norm = nn.LayerNorm(width)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.gate, self.message, self.skip, self.norm):
            module.reset_parameters()
        nn.init.xavier_uniform_(self.source)
        nn.init.xavier_uniform_(self.target)

    def forward(self, x: Tensor, edges: Edges, beta: Tensor, p: float) -> Tensor:
        """Map (N, W) to (N, W)."""
        gate = self.gate(x).relu()
        out = dropout((self._attend(x, edges) + self.skip(x)).relu(), p, self.training)
        mixed: Tensor = (1 - beta) * self.norm(gate * out) + beta * out
        return mixed

    def _attend(self, x: Tensor, edges: Edges) -> Tensor:
        sent = self.message(x).view(-1, *self.source.shape)  # (N, H, D)
        from_source = edges.sources((sent * self.source).sum(-1))  # (E, H)
        from_target = edges.targets((sent * self.target).sum(-1))  # (E, H)
        scores = F.leaky_relu(from_source + from_target, 0.2)
        return edges.weighted_sum(edges.softmax(scores, edges.weight), sent).flatten(1)


class _Local(nn.Module):
    """The local stage: the sum of all its layers, and a predictor of its own."""

    def __init__(
        self,
        in_channels: int,
        channels: int,
        out_channels: int,
        num_layers: int,
        num_heads: int,
        in_dropout: float,
        dropout: float,
    ) -> None:
        super().__init__()
        width = channels * num_heads
        self.in_dropout, self.dropout = in_dropout, dropout
        self.linear = Linear(in_channels, width, init="kaiming")
        self.layers = nn.ModuleList(_LocalLayer(channels, num_heads) for _ in range(num_layers))
        self.beta = nn.Parameter(torch.empty(num_layers, width))
        self.predictor = Linear(width, out_channels, init="kaiming")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.linear, *self.layers, self.predictor):
            module.reset_parameters()
        nn.init.xavier_normal_(self.beta)

    def forward(self, x: Matrix, edges: Edges) -> Tensor:
        """Map (N, F) to (N, W)."""
        hidden = self.linear(dropout(x, self.in_dropout, self.training))
        hidden = dropout(hidden, self.dropout, self.training)
        total = torch.zeros_like(hidden)
        for layer, beta in zip(self.layers, self.beta.sigmoid(), strict=True):
            hidden = layer(hidden, edges, beta, self.dropout)
            total = total + hidden
        return total


class _GlobalLayer(nn.Module):
    """Linear attention with sigmoid features, gated by a linear map of the node itself."""

    def __init__(self, channels: int, num_heads: int) -> None:
        super().__init__()
        width = channels * num_heads
        self.heads = (channels, num_heads)
        self.gate = Linear(width, width, init="kaiming")
        self.key = Linear(width, width, init="kaiming")
        self.value = Linear(width, width, init="kaiming")
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor, beta: Tensor) -> Tensor:
        """Map (N, W) to (N, W)."""
        key = self.key(x).sigmoid().view(-1, *self.heads)  # (N, D, H), the query as well
        received = linear_attention(key, key, self.value(x).view(-1, *self.heads))
        gated: Tensor = self.norm(received.flatten(1)) * (self.gate(x) + beta)
        return gated


class _Global(nn.Module):
    """The global stage on top of the local one."""

    def __init__(
        self, channels: int, out_channels: int, num_layers: int, num_heads: int, dropout: float
    ) -> None:
        super().__init__()
        width = channels * num_heads
        self.global_dropout = dropout
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(_GlobalLayer(channels, num_heads) for _ in range(num_layers))
        self.beta = nn.Parameter(torch.empty(num_layers, width))
        self.linear = Linear(width, width, init="kaiming")  # one for all layers
        self.predictor = Linear(width, out_channels, init="kaiming")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        inner = [module for layer in self.layers for module in layer.children()]
        for module in (self.norm, *inner, self.linear, self.predictor):
            module.reset_parameters()  # type: ignore[operator]
        nn.init.xavier_normal_(self.beta)

    def forward(self, hidden: Tensor) -> Tensor:
        """Map (N, W) to logits (N, C)."""
        hidden = self.norm(hidden)
        for layer, beta in zip(self.layers, self.beta.sigmoid(), strict=True):
            hidden = self.linear(layer(hidden, beta)).relu()
            hidden = dropout(hidden, self.global_dropout, self.training)
        out: Tensor = self.predictor(hidden)
        return out


class Polynormer(nn.Module):
    r"""The network from `Polynormer: Polynomial-Expressive Graph Transformer in Linear Time
    <https://arxiv.org/abs/2403.01232>`_.

    A layer is :math:`(1 - \beta) \odot \mathrm{Norm}(H \odot A V) + \beta \odot A V`, where H is a
    linear map of the node, :math:`\beta` is learnt, and A is the attention along the edges of a
    graph attention network. In the global layers A is linear attention over all nodes,
    :math:`\sigma(K) \sigma(K)^\top` with rows that sum to 1, and the layer
    :math:`\mathrm{Norm}(A V) \odot (H + \beta)`.

    For ``local_epochs`` epochs the local layers are trained with a predictor of their own; then
    the global layers and their predictor come on top, and all are trained together.

    Args:
        in_channels: F.
        hidden_channels: D, of one head.
        out_channels: C.
        local_layers: layers of local attention.
        global_layers: layers of global attention.
        num_heads: H.
        in_dropout: of the features.
        dropout: in the local stage.
        global_dropout: in the global stage.
        local_epochs: epochs of the local stage.
        global_decay: weight decay of the global stage's parameters. It is part of the objective,
            because it must not act before that stage begins.
    """

    stage: Tensor

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        local_layers: int = 3,
        global_layers: int = 2,
        num_heads: int = 1,
        in_dropout: float = 0.15,
        dropout: float = 0.5,
        global_dropout: float = 0.5,
        local_epochs: int = 100,
        global_decay: float = 0.0,
    ) -> None:
        super().__init__()
        if min(local_layers, global_layers) < 1:
            raise ValueError(
                "local_layers and global_layers must be at least 1, "
                f"got {local_layers} and {global_layers}"
            )
        size = (in_channels, hidden_channels, out_channels)
        self.local_epochs, self.global_decay = local_epochs, global_decay
        self.local = _Local(*size, local_layers, num_heads, in_dropout, dropout)
        self.everywhere = _Global(*size[1:], global_layers, num_heads, global_dropout)
        self.register_buffer("stage", torch.tensor(local_epochs <= 0))  # whether it is global

    def reset_parameters(self) -> None:
        """Draw the parameters anew and return to the first stage."""
        self.local.reset_parameters()
        self.everywhere.reset_parameters()
        self.stage.fill_(self.local_epochs <= 0)

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Edges]:
        """Return what is computed once: features fit for products, edges with self-loops."""
        dtype = self.local.beta.dtype
        adjacency = normalized_adjacency(
            edge_index, edge_weight, x.shape[0], norm="none", dtype=dtype
        )
        return as_matrix(x), Edges(adjacency)

    def forward(
        self, x: Matrix, edge_index: Tensor | Edges, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C) of the stage that training has reached.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: how often every edge counts, (E,); unused with prepared edges.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        hidden = self.local(x, edge_index)
        return torch.where(self.stage, self.everywhere(hidden), self.local.predictor(hidden))

    def objective(
        self, x: Matrix, edge_index: Edges, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the loss of one training step, and go over to the global stage in time.

        Args:
            x: features (N, F).
            edge_index: what :meth:`prepare` returned.
            y: classes (N,).
            labelled: which nodes' classes may be used, (N,) bool.
            epoch: the epoch, from 0, as a scalar tensor.
        """
        self.stage.copy_(epoch >= self.local_epochs)
        loss = cross_entropy(self(x, edge_index), y, labelled)
        squares = torch.stack([p.square().sum() for p in self.everywhere.parameters()]).sum()
        return loss + self.stage * self.global_decay / 2 * squares


CARDS = (
    Card(
        name="polynormer",
        model=Polynormer,
        title="Polynormer",
        paper="C. Deng, Z. Yue and Z. Zhang. Polynormer: Polynomial-Expressive Graph Transformer "
        "in Linear Time. ICLR 2024",
        url="https://arxiv.org/abs/2403.01232",
        written="Here, after the authors' model.py, with one query for keys and queries and a "
        "learnt beta as in all their homophilic settings. The global stage goes on from the last "
        "local epoch, where the authors go back to the best one; both stages' predictions are "
        "computed in every epoch and one is chosen, so that members can be stacked.",
        checked="Recorded outputs of the authors' code in both stages, and the dense formulas.",
    ),
)
