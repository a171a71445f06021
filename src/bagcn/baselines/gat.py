r"""Graph attention networks.

N nodes, F features, D hidden per head, H heads, C classes, E edges.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Edges, Linear, Matrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GAT", "GraphAttention"]


class GraphAttention(nn.Module):
    r"""Let every node attend to those it receives from.

    .. math::
        h_i' = \Vert_k \sum_j \alpha_{ij}^k W_k h_j, \qquad
        \alpha_{ij} = \mathrm{softmax}_j\,
            \mathrm{LeakyReLU}(a_t^\top W h_i + a_s^\top W h_j)

    Args:
        in_channels: columns of the input.
        out_channels: columns of every head.
        heads: H.
        concat: put the heads side by side; else take their mean.
        bias: whether to add one.
        negative_slope: of the LeakyReLU.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        *,
        concat: bool = True,
        bias: bool = True,
        negative_slope: float = 0.2,
    ) -> None:
        super().__init__()
        self.heads, self.concat, self.negative_slope = heads, concat, negative_slope
        self.linear = Linear(in_channels, heads * out_channels, bias=False)
        self.source = nn.Parameter(torch.empty(heads, out_channels))  # a_s
        self.target = nn.Parameter(torch.empty(heads, out_channels))  # a_t
        width = out_channels * (heads if concat else 1)
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.linear.reset_parameters()
        nn.init.xavier_uniform_(self.source)
        nn.init.xavier_uniform_(self.target)
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Matrix,
        edges: Edges,
        attention_dropout: float = 0.0,
        value_dropout: float = 0.0,
    ) -> Tensor:
        """Map (N, in) to (N, H * out), or to (N, out) if the heads are averaged.

        Args:
            x: the input.
            edges: who receives from whom.
            attention_dropout: on the attention.
            value_dropout: on the transformed features that are summed, not on what attends.
        """
        z = self.linear(x).unflatten(1, (self.heads, -1))  # (N, H, D)
        scores = edges.targets((z * self.target).sum(-1)) + edges.sources((z * self.source).sum(-1))
        attention = edges.softmax(F.leaky_relu(scores, self.negative_slope), edges.weight)  # (E, H)
        attention = dropout(attention, attention_dropout, self.training)
        out = edges.weighted_sum(attention, dropout(z, value_dropout, self.training))
        out = out.flatten(1) if self.concat else out.mean(1)
        return out if self.bias is None else out + self.bias


class GAT(nn.Module):
    r"""The graph attention network from `Graph Attention Networks
    <https://arxiv.org/abs/1710.10903>`_: layers of :class:`GraphAttention` over every node's
    neighbours and itself, with ELU between them; the heads of the last layer are averaged.

    The weight of an edge multiplies :math:`e^{s_{ij}}` inside the softmax, so that an edge of
    weight 0 is no edge.

    Args:
        in_channels: F.
        hidden_channels: D, the columns of one head.
        out_channels: C.
        num_layers: the number of layers.
        heads: H of all layers but the last.
        out_heads: heads of the last layer.
        dropout: before every layer.
        attention_dropout: on the attention.
        value_dropout: on the transformed features that are summed; the paper has none.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        heads: int = 8,
        out_heads: int = 1,
        dropout: float = 0.6,
        attention_dropout: float = 0.6,
        value_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.dropout, self.attention_dropout = dropout, attention_dropout
        self.value_dropout = value_dropout
        widths = [in_channels, *[heads * hidden_channels] * (num_layers - 1)]
        self.layers = nn.ModuleList(GraphAttention(w, hidden_channels, heads) for w in widths[:-1])
        self.layers.append(GraphAttention(widths[-1], out_channels, out_heads, concat=False))

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
            x = dropout(x, self.dropout, self.training)
            x = F.elu(layer(x, edge_index, self.attention_dropout, self.value_dropout))
        x = dropout(x, self.dropout, self.training)
        out: Tensor = last(x, edge_index, self.attention_dropout, self.value_dropout)
        return out


CARDS = (
    Card(
        name="gat",
        model=GAT,
        title="GAT",
        paper="P. Veličković, G. Cucurull, A. Casanova, A. Romero, P. Liò and Y. Bengio. "
        "Graph Attention Networks. ICLR 2018",
        url="https://arxiv.org/abs/1710.10903",
        written="Sparse: one block-diagonal product for all heads. The authors' code drops "
        "transformed features as well, of which the paper says nothing: an argument that the "
        "official recipe sets. As in PyTorch Geometric, the heads share the dropout mask of their "
        "input, and the scores have no bias; in the authors' code every head has its own.",
        checked="A dense formula, and GATConv of PyTorch Geometric with the same weights.",
    ),
)
