r"""Graph convolutional networks.

N nodes, F features, D hidden, C classes, E edges.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GCN", "GraphConvolution"]


class GraphConvolution(nn.Module):
    r"""Map features to :math:`\hat A X W + b`.

    Args:
        in_channels: columns of X.
        out_channels: columns of the result.
        bias: whether to add b.
    """

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.linear = Linear(in_channels, out_channels, bias=False)
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.linear.reset_parameters()
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def forward(self, x: Matrix, adjacency: SparseMatrix) -> Tensor:
        """Map (N, in) to (N, out)."""
        out: Tensor = adjacency @ self.linear(x)
        return out if self.bias is None else out + self.bias


class GCN(nn.Module):
    r"""The graph convolutional network from `Semi-Supervised Classification with Graph
    Convolutional Networks <https://arxiv.org/abs/1609.02907>`_.

    .. math::
        H^{(l+1)} = \mathrm{ReLU}(\hat A H^{(l)} W^{(l)} + b^{(l)}), \qquad
        \hat A = \tilde D^{-1/2} (A + I) \tilde D^{-1/2}

    without the ReLU in the last layer.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of convolutions.
        dropout: before every convolution.
        bias: whether to add :math:`b^{(l)}`; the authors' code has none.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.convolutions = nn.ModuleList(GraphConvolution(*w, bias) for w in pairwise(widths))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for convolution in self.convolutions:
            convolution.reset_parameters()  # type: ignore[operator]

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = next(self.parameters()).dtype
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
        *hidden, last = self.convolutions
        for convolution in hidden:
            x = convolution(dropout(x, self.dropout, self.training), edge_index).relu()
        out: Tensor = last(dropout(x, self.dropout, self.training), edge_index)
        return out


CARDS = (
    Card(
        name="gcn",
        model=GCN,
        title="GCN",
        paper="T. N. Kipf and M. Welling. Semi-Supervised Classification with Graph "
        "Convolutional Networks. ICLR 2017",
        url="https://arxiv.org/abs/1609.02907",
        written="Sparse products on the prepared adjacency. Any depth, and a bias that the "
        "authors' code lacks and the official recipe switches off.",
        checked="The dense formula, and GCNConv of PyTorch Geometric with the same weights.",
    ),
)
