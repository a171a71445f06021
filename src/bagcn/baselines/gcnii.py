r"""Deep graph convolution with an initial residual and an identity map.

N nodes, F features, D hidden, C classes, E edges, L layers.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GCNII"]


class GCNII(nn.Module):
    r"""The model from `Simple and Deep Graph Convolutional Networks
    <https://arxiv.org/abs/2007.02133>`_.

    .. math::
        H^{(0)} &= \mathrm{ReLU}(X W_{in} + b_{in}) \\
        S^{(l)} &= (1 - \alpha) \hat A H^{(l-1)} + \alpha H^{(0)} \\
        H^{(l)} &= \mathrm{ReLU}\bigl((1 - \beta_l) S^{(l)} + \beta_l S^{(l)} W^{(l)}\bigr),
        \qquad \beta_l = \log(\theta / l + 1) \\
        Z &= H^{(L)} W_{out} + b_{out}

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: L, the number of convolutions.
        alpha: how much of the first hidden features every layer sees.
        theta: how far the layers' maps are from the identity; the paper's lambda.
        dropout: of what enters every layer and both linear maps.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int = 64,
        alpha: float = 0.1,
        theta: float = 0.5,
        dropout: float = 0.6,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.alpha, self.theta, self.dropout = alpha, theta, dropout
        self.first = Linear(in_channels, hidden_channels, init="kaiming")
        # one parameter for all layers: an optimiser's step is then one operation, not L
        self.weights = nn.Parameter(torch.empty(num_layers, hidden_channels, hidden_channels))
        self.last = Linear(hidden_channels, out_channels, init="kaiming")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        bound = self.weights.shape[-1] ** -0.5
        nn.init.uniform_(self.weights, -bound, bound)
        self.first.reset_parameters()
        self.last.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.weights.dtype
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
        first = hidden = self.first(dropout(x, self.dropout, self.training)).relu()
        initial = self.alpha * first  # (N, D)
        for layer, weight in enumerate(self.weights.unbind(0), 1):
            hidden = dropout(hidden, self.dropout, self.training)
            mixed = (1 - self.alpha) * (edge_index @ hidden) + initial
            beta = self._beta(layer)
            hidden = ((1 - beta) * mixed + beta * (mixed @ weight)).relu()
        out: Tensor = self.last(dropout(hidden, self.dropout, self.training))
        return out

    def _beta(self, layer: int) -> float | Tensor:
        share: float | Tensor = self.theta / layer
        # members of a population may differ in theta: then it is a tensor
        return torch.log1p(share) if isinstance(share, Tensor) else math.log1p(share)


CARDS = (
    Card(
        name="gcnii",
        model=GCNII,
        title="GCNII",
        paper="M. Chen, Z. Wei, Z. Huang, B. Ding and Y. Li. Simple and Deep Graph Convolutional "
        "Networks. ICML 2020",
        url="https://arxiv.org/abs/2007.02133",
        written="Sparse products on the prepared adjacency, after the authors' PyTorch code; the "
        "maps of all layers are one parameter.",
        checked="GCN2Conv of PyTorch Geometric with the same weights, and recorded outputs of the "
        "authors' code.",
    ),
)
