r"""GraphGPS: graph convolution and attention over all nodes side by side in every layer.

N nodes, F features, D hidden, H heads, C classes, E edges.
"""

from __future__ import annotations

from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.nn.attention import attend
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GPSLayer", "GraphGPS", "SelfAttention"]


class SelfAttention(nn.Module):
    r"""Let every node attend to all nodes: softmax(QKᵀ / √(D/H)) V of every head, then a map.

    Args:
        channels: D.
        num_heads: H, which share the D columns.
    """

    def __init__(self, channels: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.inner = Linear(channels, 3 * channels)
        self.outer = Linear(channels, channels, init="kaiming")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, as :class:`torch.nn.MultiheadAttention` does."""
        self.inner.reset_parameters()
        self.outer.reset_parameters()
        nn.init.zeros_(self.outer.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, D) to (N, D), without anything of size N × N."""
        heads = self.inner(x).view(x.shape[0], 3, self.num_heads, -1)
        query, key, value = heads.permute(1, 2, 0, 3).unbind(0)  # (H, N, D / H) each
        attended = attend(query, key, value, query.shape[-1] ** -0.5)
        out: Tensor = self.outer(attended.transpose(0, 1).reshape(x.shape))
        return out


class GPSLayer(nn.Module):
    r"""Add a node's own, its neighbours' and everybody's view of it, then map it.

    .. math::
        X_M &= \mathrm{Norm}(X + \hat A X W + b), \qquad
        X_T = \mathrm{Norm}(X + \mathrm{Attention}(X)), \\
        X' &= \mathrm{Norm}\big(X_M + X_T + \mathrm{MLP}(X_M + X_T)\big)

    Args:
        channels: D.
        num_heads: H.
        dropout: of all that is added to a residual path, and inside the MLP.
    """

    def __init__(self, channels: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.dropout = dropout
        self.convolution = GraphConvolution(channels, channels)
        self.attention = SelfAttention(channels, num_heads)
        self.first = Linear(channels, 2 * channels, init="kaiming")
        self.second = Linear(2 * channels, channels, init="kaiming")
        self.norms = nn.ModuleList(nn.BatchNorm1d(channels) for _ in range(3))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.convolution, self.attention, self.first, self.second, *self.norms):
            module.reset_parameters()

    def forward(self, x: Tensor, adjacency: SparseMatrix) -> Tensor:
        """Map (N, D) to (N, D)."""
        local, everywhere, out = self.norms
        both = local(x + self._dropped(self.convolution(x, adjacency)))
        both = both + everywhere(x + self._dropped(self.attention(x)))
        hidden = self._dropped(self.first(both).relu())
        mapped: Tensor = out(both + self._dropped(self.second(hidden)))
        return mapped

    def _dropped(self, x: Tensor) -> Tensor:
        return dropout(x, self.dropout, self.training)


class GraphGPS(nn.Module):
    r"""The network from `Recipe for a General, Powerful, Scalable Graph Transformer
    <https://arxiv.org/abs/2205.12454>`_, for the classes of nodes: a linear map, layers of
    :class:`GPSLayer`, a linear map.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of layers.
        num_heads: H.
        dropout: inside the layers.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        num_heads: int = 4,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        if hidden_channels % num_heads:
            raise ValueError(
                f"{num_heads} heads cannot share {hidden_channels} hidden channels evenly"
            )
        self.linear = Linear(in_channels, hidden_channels, init="kaiming")
        self.layers = nn.ModuleList(
            GPSLayer(hidden_channels, num_heads, dropout) for _ in range(num_layers)
        )
        self.classifier = Linear(hidden_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.linear, *self.layers, self.classifier):
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
        hidden = self.linear(x)
        for layer in self.layers:
            hidden = layer(hidden, edge_index)
        out: Tensor = self.classifier(hidden)
        return out


CARDS = (
    Card(
        name="graphgps",
        model=GraphGPS,
        title="GraphGPS",
        paper="L. Rampášek, M. Galkin, V. P. Dwivedi, A. T. Luu, G. Wolf and D. Beaini. Recipe "
        "for a General, Powerful, Scalable Graph Transformer. NeurIPS 2022",
        url="https://arxiv.org/abs/2205.12454",
        written="Here, the layer as PyTorch Geometric's GPSConv and the authors' gps_layer.py have "
        "it, with a graph convolution and with exact attention in memory linear in N. Without "
        "positional encodings: the authors need them where nodes have few features of their own; "
        "those who compare on these data sets (Luo et al.) leave them out as well. Without dropout "
        "of attention weights, which are never held; its rate is 0 in that comparison too.",
        checked="GPSConv of PyTorch Geometric with the same weights: outputs, and gradients while "
        "training.",
    ),
)
