r"""Simple graph convolution: a linear classifier of smoothed features.

N nodes, F features, C classes, E edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["SGC"]


class SGC(nn.Module):
    r"""The model from `Simplifying Graph Convolutional Networks
    <https://arxiv.org/abs/1902.07153>`_.

    .. math::
        Z = \hat A^K X W + b, \qquad \hat A = \tilde D^{-1/2} (A + I) \tilde D^{-1/2}

    The product is computed from the right, :math:`\hat A^K (X W)`: then the features stay sparse,
    and every step carries C columns instead of F.

    Args:
        in_channels: F.
        out_channels: C.
        num_hops: K.
        dropout: of the features; the authors have none.
        bias: whether to add b.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        num_hops: int = 2,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_hops, self.dropout = num_hops, dropout
        self.linear = Linear(in_channels, out_channels, bias=False, init="kaiming")
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, as for a linear map of the smoothed features."""
        self.linear.reset_parameters()
        if self.bias is not None:
            bound = self.linear.in_channels**-0.5
            nn.init.uniform_(self.bias, -bound, bound)

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.linear.weight.dtype
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
        out: Tensor = self.linear(dropout(x, self.dropout, self.training))
        for _ in range(self.num_hops):
            out = edge_index @ out
        return out if self.bias is None else out + self.bias


CARDS = (
    Card(
        name="sgc",
        model=SGC,
        title="SGC",
        paper="F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu and K. Q. Weinberger. "
        "Simplifying Graph Convolutional Networks. ICML 2019",
        url="https://arxiv.org/abs/1902.07153",
        written="Sparse products from the right in every step, where the authors smooth the dense "
        "features once: the same numbers, and sparse features stay sparse.",
        checked="The dense formula, and SGConv of PyTorch Geometric with the same weights.",
    ),
)
