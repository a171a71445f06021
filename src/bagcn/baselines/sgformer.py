r"""SGFormer: one layer of linear attention beside a graph convolutional network.

N nodes, F features, D hidden, H heads, C classes, E edges.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GraphBranch", "SGFormer", "SimpleAttention", "simple_attention"]


def simple_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    r"""Return what every node receives from all nodes, in time and memory linear in N.

    .. math::
        \frac{N V + \tilde Q (\tilde K^\top V)}{N + \tilde Q (\tilde K^\top \mathbf 1)}, \qquad
        \tilde Q = \frac{Q}{\lVert Q \rVert_F}, \quad \tilde K = \frac{K}{\lVert K \rVert_F}

    with one Frobenius norm for all nodes and heads.

    Args:
        query: Q, (N, H, D).
        key: K, (N, H, D).
        value: V, (N, H, D), or (N, 1, D) for all heads.
    """
    nodes = query.shape[0]
    query, key = query / query.norm(), key / key.norm()
    summary = torch.einsum("nhd,nhe->hde", key, value)  # (H, D, D)
    received = torch.einsum("nhd,hde->nhe", query, summary) + nodes * value
    weight = torch.einsum("nhd,hd->nh", query, key.sum(0)) + nodes
    return received / weight[..., None]  # (N, H, D)


class SimpleAttention(nn.Module):
    """Simple attention with its linear maps; the mean over the heads.

    Args:
        channels: D.
        num_heads: H.
        values: whether the values have a linear map of their own.
    """

    def __init__(self, channels: int, num_heads: int = 1, values: bool = False) -> None:
        super().__init__()
        width = channels * num_heads
        self.num_heads = num_heads
        self.key = Linear(channels, width, init="kaiming")
        self.query = Linear(channels, width, init="kaiming")
        self.value = Linear(channels, width, init="kaiming") if values else None

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in self.children():
            linear.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D) to (N, D)."""
        heads = (x.shape[0], self.num_heads, x.shape[1])
        query, key = self.query(x).view(heads), self.key(x).view(heads)
        value = x[:, None] if self.value is None else self.value(x).view(heads)
        return simple_attention(query, key, value).mean(dim=1)


class _AttentionBranch(nn.Module):
    """The view without a graph: a linear map, then layers of simple attention."""

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_layers: int,
        attention_dropout: float,
        alpha: float,
        residual: bool,
        norm: bool,
        num_heads: int,
        values: bool,
    ) -> None:
        super().__init__()
        self.attention_dropout, self.alpha, self.residual = attention_dropout, alpha, residual
        self.linear = Linear(in_channels, hidden_channels, init="kaiming")
        self.layers = nn.ModuleList(
            SimpleAttention(hidden_channels, num_heads, values) for _ in range(num_layers)
        )
        norms = (nn.LayerNorm(hidden_channels) for _ in range(num_layers + 1))
        self.norms = nn.ModuleList(norms) if norm else None

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.linear, *self.layers, *(self.norms or ())):
            module.reset_parameters()

    def forward(self, x: Matrix) -> Tensor:
        """Map (N, F) to (N, D)."""
        hidden = self._normed(0, self.linear(x)).relu()
        hidden = dropout(hidden, self.attention_dropout, self.training)
        for i, layer in enumerate(self.layers):
            attended = layer(hidden)
            if self.residual:
                attended = self.alpha * attended + (1 - self.alpha) * hidden
            attended = self._normed(i + 1, attended)
            hidden = dropout(attended, self.attention_dropout, self.training)
        return hidden

    def _normed(self, place: int, hidden: Tensor) -> Tensor:
        if self.norms is None:
            return hidden
        out: Tensor = self.norms[place](hidden)
        return out


class GraphBranch(nn.Module):
    """Graph convolutions with ReLU and dropout between them, none before the first.

    Args:
        widths: of the features before, between and after the convolutions.
        dropout: after every ReLU.
    """

    def __init__(self, widths: list[int], dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.convolutions = nn.ModuleList(GraphConvolution(*pair) for pair in pairwise(widths))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for convolution in self.convolutions:
            convolution.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Matrix, adjacency: SparseMatrix) -> Tensor:
        """Map (N, F) to (N, D)."""
        first, *others = self.convolutions
        hidden: Tensor = first(x, adjacency)
        for convolution in others:
            hidden = convolution(dropout(hidden.relu(), self.dropout, self.training), adjacency)
        return hidden


class SGFormer(nn.Module):
    r"""The network from `SGFormer: Simplifying and Empowering Transformers for Large-Graph
    Representations <https://arxiv.org/abs/2306.10759>`_.

    .. math::
        Z = (1 - w)\, \mathrm{Attention}(X) + w\, \mathrm{GCN}(X, \hat A), \qquad
        \hat Y = Z W + b

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: layers of attention.
        graph_layers: graph convolutions.
        dropout: between the convolutions.
        attention_dropout: in the attention branch.
        graph_weight: :math:`w`.
        alpha: share of what was attended to in a residual connection.
        residual: whether the attention layers have one.
        norm: whether the attention branch normalises its layers.
        num_heads: H.
        values: whether the values have a linear map of their own.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 1,
        graph_layers: int = 4,
        dropout: float = 0.5,
        attention_dropout: float = 0.2,
        graph_weight: float = 0.8,
        alpha: float = 0.5,
        residual: bool = True,
        norm: bool = True,
        num_heads: int = 1,
        values: bool = False,
    ) -> None:
        super().__init__()
        if min(num_layers, graph_layers) < 1:
            raise ValueError(
                "num_layers and graph_layers must be at least 1, "
                f"got {num_layers} and {graph_layers}"
            )
        self.graph_weight = graph_weight
        self.attention = _AttentionBranch(
            in_channels,
            hidden_channels,
            num_layers,
            attention_dropout,
            alpha,
            residual,
            norm,
            num_heads,
            values,
        )
        self.graph = GraphBranch([in_channels, *[hidden_channels] * graph_layers], dropout)
        self.classifier = Linear(hidden_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.attention, self.graph, self.classifier):
            module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.classifier.weight.dtype
        return as_matrix(x), normalized_adjacency(edge_index, edge_weight, x.shape[0], dtype=dtype)

    def forward(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the adjacency that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared adjacency.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        attended, local = self.attention(x), self.graph(x, edge_index)
        both = self.graph_weight * local + (1 - self.graph_weight) * attended
        logits: Tensor = self.classifier(both)
        return logits


CARDS = (
    Card(
        name="sgformer",
        model=SGFormer,
        title="SGFormer",
        paper="Q. Wu, W. Zhao, C. Yang, H. Zhang, F. Nie, H. Jiang, Y. Bian and J. Yan. SGFormer: "
        "Simplifying and Empowering Transformers for Large-Graph Representations. NeurIPS 2023",
        url="https://arxiv.org/abs/2306.10759",
        written="Here, after the authors' medium/ours.py: queries and keys are divided by one "
        "Frobenius norm each, where PyTorch Geometric normalises every node by itself. The graph "
        "branch is the authors' plain GCN, without batch normalisation. Only the sum of the two "
        "branches is offered, not their concatenation.",
        checked="Recorded outputs of the authors' code, and the dense formula.",
    ),
)
