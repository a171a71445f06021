r"""Graph random neural networks (random propagation, not the diffusion equation of that name).

N nodes, F features, D hidden, C classes, K hops, S views.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.nn.loss import sharpen
from bagcn.ops import (
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    cross_entropy,
    dropout,
    normalized_adjacency,
    uniform,
)

__all__ = ["GRAND"]


class GRAND(nn.Module):
    r"""The graph random neural network from `Graph Random Neural Networks for Semi-Supervised
    Learning on Graphs <https://arxiv.org/abs/2005.11079>`_.

    .. math::
        \bar X^{(s)} = \frac1{K+1} \sum_{k=0}^K \hat A^k \, \mathrm{diag}(\epsilon^{(s)}) X, \qquad
        P^{(s)} = \mathrm{softmax}(\mathrm{MLP}(\bar X^{(s)}))

    DropNode: :math:`\epsilon_i` is 0 with probability :math:`\delta` and 1 otherwise while
    training, :math:`1 - \delta` afterwards. The loss is the mean cross-entropy of S such views
    plus :math:`\lambda` times their mean squared distance to the sharpened average of the views,
    which carries no gradient.

    Without dropout of the propagated features the first linear map and the propagation change
    places, which is the same by linearity: X stays sparse and D columns are propagated, not F.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_hops: K.
        num_views: S.
        drop_node: :math:`\delta`.
        input_dropout: on the propagated features.
        dropout: on the hidden layer.
        weight: :math:`\lambda`.
        temperature: T of the sharpening.
        norm: whether to normalise the batch before both dropouts.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_hops: int = 8,
        num_views: int = 4,
        drop_node: float = 0.5,
        input_dropout: float = 0.5,
        dropout: float = 0.5,
        weight: float = 1.0,
        temperature: float = 0.5,
        norm: bool = False,
    ) -> None:
        super().__init__()
        if num_views < 1:
            raise ValueError(f"num_views must be at least 1, got {num_views}")
        self.num_hops, self.num_views = num_hops, num_views
        self.drop_node, self.input_dropout, self.dropout = drop_node, input_dropout, dropout
        self.weight, self.temperature = weight, temperature
        self.first = Linear(in_channels, hidden_channels)
        self.second = Linear(hidden_channels, out_channels)
        self.input_norm = nn.BatchNorm1d(in_channels) if norm else None
        self.hidden_norm = nn.BatchNorm1d(hidden_channels) if norm else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, as the authors' code does: about a mean below zero."""
        for linear in (self.first, self.second):
            bound = 1 / math.sqrt(linear.out_channels)
            for parameter in linear.parameters():
                nn.init.normal_(parameter, -bound, bound)
        for norm in (self.input_norm, self.hidden_norm):
            if norm is not None:
                norm.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.first.weight.dtype
        return as_matrix(x), normalized_adjacency(edge_index, edge_weight, x.shape[0], dtype=dtype)

    def forward(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C): of one random view while training.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the adjacency that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared adjacency.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        hidden = self._hidden(x, edge_index)  # (N, D)
        if self.hidden_norm is not None:
            hidden = self.hidden_norm(hidden)
        out: Tensor = self.second(dropout(hidden, self.dropout, self.training))
        return out

    def objective(
        self, x: Matrix, graph: SparseMatrix, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the cross-entropy of the views, and how far they are from agreeing."""
        x = x.to_dense() if isinstance(x, SparseMatrix) and self._needs_dense() else x
        views = [self(x, graph) for _ in range(self.num_views)]
        p = torch.stack(views).softmax(dim=-1)  # (S, N, C)
        target = sharpen(p.detach().mean(dim=0), self.temperature)
        distance = (p - target).square().sum(dim=-1).mean()
        supervised = torch.stack([cross_entropy(view, y, labelled) for view in views]).mean()
        return supervised + self.weight * distance

    def _hidden(self, x: Matrix, adjacency: SparseMatrix) -> Tensor:
        """Return the hidden layer of one view, (N, D)."""
        keep = self._kept_nodes(x)
        if not self._needs_dense():
            assert self.first.bias is not None
            mapped = self._propagate(keep * (x @ self.first.weight), adjacency)  # (N, D)
            return (mapped + self.first.bias).relu()
        x = x.to_dense() if isinstance(x, SparseMatrix) else x
        mixed = self._propagate(keep * x, adjacency)  # (N, F)
        if self.input_norm is not None:
            mixed = self.input_norm(mixed)
        out: Tensor = self.first(dropout(mixed, self.input_dropout, self.training)).relu()
        return out

    def _needs_dense(self) -> bool:
        """Return whether something acts on the propagated features before they are mapped."""
        rate = self.input_dropout
        drops = self.training and not (isinstance(rate, int | float) and rate == 0)
        return drops or self.input_norm is not None

    def _kept_nodes(self, x: Matrix) -> Tensor:
        """Return the factor of every node's features, (N, 1)."""
        ones = self.first.weight.new_ones(x.shape[0], 1)
        return (uniform(ones) >= self.drop_node) * ones if self.training else ones - self.drop_node

    def _propagate(self, x: Tensor, adjacency: SparseMatrix) -> Tensor:
        """Return the mean of x after 0 to K steps."""
        total = x
        for _ in range(self.num_hops):
            x = adjacency @ x
            total = total + x
        return total / (self.num_hops + 1)


CARDS = (
    Card(
        name="grand",
        model=GRAND,
        title="GRAND",
        paper="W. Feng, J. Zhang, Y. Dong, Y. Han, H. Luan, Q. Xu, Q. Yang, E. Kharlamov and "
        "J. Tang. Graph Random Neural Networks for Semi-Supervised Learning on Graphs. "
        "NeurIPS 2020",
        url="https://arxiv.org/abs/2005.11079",
        written="Here, the authors' initial values included (normal about a mean below zero). "
        "Linear map before propagation where that is the same. They choose the epoch by "
        "validation loss, here it is validation accuracy.",
        checked="The dense formula, and recorded outputs of the authors' code.",
    ),
)
