r"""Personalised propagation of predictions.

N nodes, F features, D hidden, C classes, E edges.
"""

from __future__ import annotations

from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["APPNP"]


class APPNP(nn.Module):
    r"""The model from `Predict then Propagate: Graph Neural Networks meet Personalized PageRank
    <https://arxiv.org/abs/1810.05997>`_.

    .. math::
        H &= \mathrm{ReLU}(X W^{(0)}) W^{(1)} \\
        Z^{(0)} &= H, \qquad Z^{(k+1)} = (1 - \alpha) \hat A Z^{(k)} + \alpha H

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_hops: the number of steps K.
        alpha: how much of the node's own prediction comes back in every step.
        dropout: of what enters both linear maps.
        edge_dropout: of the entries of Â, drawn anew in every step.
        bias: whether the linear maps have a bias.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_hops: int = 10,
        alpha: float = 0.1,
        dropout: float = 0.5,
        edge_dropout: float = 0.5,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.num_hops, self.alpha = num_hops, alpha
        self.dropout, self.edge_dropout = dropout, edge_dropout
        self.first = Linear(in_channels, hidden_channels, bias, init="kaiming")
        self.second = Linear(hidden_channels, out_channels, bias, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.first.reset_parameters()
        self.second.reset_parameters()

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
        local: Tensor = self.second(dropout(hidden, self.dropout, self.training))
        out, back = local, self.alpha * local
        for _ in range(self.num_hops):
            adjacency = dropout(edge_index, self.edge_dropout, self.training)
            out = (1 - self.alpha) * (adjacency @ out) + back
        return out


CARDS = (
    Card(
        name="appnp",
        model=APPNP,
        title="APPNP",
        paper="J. Gasteiger, A. Bojchevski and S. Günnemann. Predict then Propagate: Graph Neural "
        "Networks meet Personalized PageRank. ICLR 2019",
        url="https://arxiv.org/abs/1810.05997",
        written="Sparse products on the prepared adjacency; dropout of its entries in every step, "
        "as in the authors' TensorFlow code.",
        checked="The dense formula, and APPNP of PyTorch Geometric on the same predictions.",
    ),
)
