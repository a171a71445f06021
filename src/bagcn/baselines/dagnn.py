r"""Deep adaptive graph neural networks.

N nodes, F features, D hidden, C classes, E edges, K hops.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["DAGNN"]


class DAGNN(nn.Module):
    r"""The model from `Towards Deeper Graph Neural Networks <https://arxiv.org/abs/2007.09296>`_.

    .. math::
        Z &= \mathrm{ReLU}(X W^{(0)} + b^{(0)}) W^{(1)} + b^{(1)} \\
        s_k &= \sigma(\hat A^k Z s + b) \\
        \mathrm{out} &= \sum_{k=0}^K s_k \odot \hat A^k Z

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_hops: K.
        dropout: of what enters both linear maps.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_hops: int = 10,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.num_hops, self.dropout = num_hops, dropout
        self.first = Linear(in_channels, hidden_channels, init="kaiming")
        self.second = Linear(hidden_channels, out_channels, init="kaiming")
        self.score = Linear(out_channels, 1, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in (self.first, self.second, self.score):
            linear.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.first.weight.dtype
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
        hidden = self.first(dropout(x, self.dropout, self.training)).relu()
        hops = [self.second(dropout(hidden, self.dropout, self.training))]
        for _ in range(self.num_hops):
            hops.append(edge_index @ hops[-1])
        stacked = torch.stack(hops, 1)  # (N, K + 1, C)
        scores = self.score(stacked).sigmoid()  # (N, K + 1, 1)
        out: Tensor = (scores * stacked).sum(1)
        return out


CARDS = (
    Card(
        name="dagnn",
        model=DAGNN,
        title="DAGNN",
        paper="M. Liu, H. Gao and S. Ji. Towards Deeper Graph Neural Networks. KDD 2020",
        url="https://arxiv.org/abs/2007.09296",
        written="Sparse products on the prepared adjacency, after the authors' PyTorch code.",
        checked="The dense formula, and recorded outputs of the authors' code.",
    ),
)
