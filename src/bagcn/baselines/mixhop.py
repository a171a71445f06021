r"""Convolutions that mix powers of the adjacency.

N nodes, F features, D hidden, C classes, E edges, P powers.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["MixHop", "MixHopConvolution"]


class MixHopConvolution(nn.Module):
    r"""Map features to :math:`\Vert_j \hat A^j X W_j`.

    Args:
        in_channels: columns of X.
        widths: columns of every :math:`W_j`, for j = 0, 1, ...; 0 leaves that power out.
    """

    def __init__(self, in_channels: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.widths = tuple(widths)
        self.linears = nn.ModuleList(
            Linear(in_channels, width, bias=False) for width in self.widths if width
        )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in self.linears:
            linear.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Matrix, adjacency: SparseMatrix) -> Tensor:
        """Map (N, in) to (N, sum of widths)."""
        weights: list[Tensor] = [linear.weight for linear in self.linears]  # type: ignore[misc]
        mixed: Tensor = x @ torch.cat(weights, 1)
        powers = []
        for width in self.widths:  # what is left is multiplied once more for the next power
            own, mixed = mixed[:, :width], mixed[:, width:]
            powers.append(own)
            if mixed.shape[1]:
                mixed = adjacency @ mixed
        return torch.cat(powers, 1)


class MixHop(nn.Module):
    r"""The model from `MixHop: Higher-Order Graph Convolutional Architectures via Sparsified
    Neighborhood Mixing <https://arxiv.org/abs/1905.00067>`_.

    .. math::
        H &= \mathrm{ReLU}(\mathrm{Norm}(\Vert_j \hat A^j X W_j)) \\
        \Vert_s O_s &= \Vert_j \hat A^j H V_j, \qquad
        Z = \sum_s \mathrm{softmax}(q)_s O_s

    where the columns of the second convolution are cut into segments of C.

    Args:
        in_channels: F.
        hidden_channels: D, the columns of all powers together.
        out_channels: C.
        shares: how the hidden columns are shared among the powers 0, 1, ...
        segments: how many segments of C columns each power has in the second convolution.
        input_dropout: of the features.
        dropout: of the hidden features.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        shares: Sequence[float] = (1, 1, 1),
        segments: Sequence[int] = (1, 1, 1),
        input_dropout: float = 0.5,
        dropout: float = 0.9,
    ) -> None:
        super().__init__()
        if len(shares) != len(segments):
            raise ValueError(
                f"shares and segments need one number for each power; got {len(shares)} "
                f"and {len(segments)}"
            )
        self.input_dropout, self.dropout = input_dropout, dropout
        self.out_channels = out_channels
        self.first = MixHopConvolution(in_channels, _divided(hidden_channels, shares))
        self.shift = nn.Parameter(torch.empty(hidden_channels))
        self.second = MixHopConvolution(hidden_channels, [s * out_channels for s in segments])
        self.q = nn.Parameter(torch.empty(sum(segments))) if sum(segments) > 1 else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.first.reset_parameters()
        self.second.reset_parameters()
        nn.init.zeros_(self.shift)
        if self.q is not None:
            nn.init.zeros_(self.q)

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.shift.dtype
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
        hidden = self.first(dropout(x, self.input_dropout, self.training), edge_index)
        # always the statistics of all nodes, in evaluation as well, and no scale: as the authors
        hidden = (F.batch_norm(hidden, None, None, training=True, eps=1e-3) + self.shift).relu()
        mixed = self.second(dropout(hidden, self.dropout, self.training), edge_index)
        segments: Tensor = mixed.unflatten(1, (-1, self.out_channels))  # (N, S, C)
        if self.q is None:
            return segments[:, 0]
        return (self.q.softmax(0)[:, None] * segments).sum(1)


def _divided(total: int, shares: Sequence[float]) -> list[int]:
    """Divide the columns among the powers; the last gets what rounding leaves."""
    widths = [round(share * total / sum(shares)) for share in shares[:-1]]
    return [*widths, total - sum(widths)]


CARDS = (
    Card(
        name="mixhop",
        model=MixHop,
        title="MixHop",
        paper="S. Abu-El-Haija, B. Perozzi, A. Kapoor, N. Alipourfard, K. Lerman, "
        "H. Harutyunyan, G. Ver Steeg and A. Galstyan. MixHop: Higher-Order Graph Convolutional "
        "Architectures via Sparsified Neighborhood Mixing. ICML 2019",
        url="https://arxiv.org/abs/1905.00067",
        written="The authors' two-layer architecture with its widths per power, batch "
        "normalisation without a scale and a weighted sum of segments. Products from the right "
        "keep sparse features sparse. Rows are scaled to length 1 before dropout instead of "
        "after, and the group lasso of the architecture search is left out.",
        checked="The dense formula, and MixHopConv of PyTorch Geometric with the same weights.",
    ),
)
