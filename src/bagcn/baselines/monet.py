r"""Mixture model networks.

N nodes, F features, D hidden, C classes, E edges, K Gaussians, R pseudo-coordinates.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Edges, Linear, Matrix, as_matrix, dropout, normalized_adjacency

__all__ = ["MoNet"]


class Located(NamedTuple):
    """Edges, and where each of them lies."""

    edges: Edges
    coordinates: Tensor  # (E, 2)


class Mixture(nn.Module):
    r"""Weigh every edge by Gaussians of learned pseudo-coordinates.

    .. math::
        u_{ij} = \tanh(A\,[d_i^{-1/2}, d_j^{-1/2}] + b), \qquad
        w_{ij}^k \propto \exp\big(-\tfrac12 \sum_r (u_{ijr} - \mu_{kr})^2 / \sigma_{kr}^2\big)

    with :math:`\sum_j w_{ij}^k = 1` at every node.
    """

    def __init__(self, kernels: int, coordinates: int) -> None:
        super().__init__()
        self.transform = Linear(2, coordinates)
        self.mean = nn.Parameter(torch.empty(kernels, coordinates))  # (K, R)
        self.deviation = nn.Parameter(torch.empty(kernels, coordinates))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew; the means start evenly spaced in the range of tanh."""
        self.transform.reset_parameters()
        kernels = self.mean.shape[0]
        places = torch.arange(kernels, dtype=self.mean.dtype) * 2 / kernels - 1 + 0.5 / kernels
        with torch.no_grad():
            self.mean.copy_(places[:, None].expand_as(self.mean))
        nn.init.ones_(self.deviation)

    def forward(self, graph: Located) -> Tensor:
        """Return the weights (E, K)."""
        u = torch.tanh(self.transform(graph.coordinates))[:, None]  # (E, 1, R)
        variance = self.deviation.square() + 1e-14
        exponent = -0.5 * ((u - self.mean).square() / variance).sum(-1)  # (E, K)
        return graph.edges.softmax(exponent, graph.edges.weight)


class Filters(nn.Module):
    r"""The linear maps :math:`\Theta_k` of one layer."""

    def __init__(self, in_channels: int, out_channels: int, kernels: int) -> None:
        super().__init__()
        self.maps = nn.ModuleList(
            Linear(in_channels, out_channels, bias=False) for _ in range(kernels)
        )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in self.maps:
            linear.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Matrix) -> Tensor:
        """Map (N, in) to (N, K, out)."""
        return torch.stack([linear(x) for linear in self.maps], dim=1)


class MoNet(nn.Module):
    r"""The mixture model network from `Geometric Deep Learning on Graphs and Manifolds Using
    Mixture Model CNNs <https://arxiv.org/abs/1611.08402>`_, for citation graphs.

    .. math::
        h_i' = \mathrm{ReLU}\Big(\sum_k \sum_j w_{ij}^k \Theta_k h_j\Big)

    without the ReLU in the last layer. All layers share the Gaussians (:class:`Mixture`).

    The weight of an edge multiplies its Gaussians before they are normalised, and counts in the
    degrees.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of layers.
        kernels: K.
        coordinates: R.
        dropout: before every layer.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        kernels: int = 2,
        coordinates: int = 2,
        dropout: float = 0.7,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.dropout = dropout
        self.mixture = Mixture(kernels, coordinates)
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.layers = nn.ModuleList(Filters(*width, kernels) for width in pairwise(widths))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.mixture.reset_parameters()
        for layer in self.layers:
            layer.reset_parameters()  # type: ignore[operator]

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Located]:
        r"""Return features fit for products, and the edges with their coordinates."""
        dtype = next(self.parameters()).dtype
        edges = Edges(
            normalized_adjacency(edge_index, edge_weight, x.shape[0], norm="none", dtype=dtype)
        )
        degree = edges.sum(edges.weight)  # (N,)
        inverse = degree.masked_fill(degree == 0, torch.inf).pow(-0.5)
        located = torch.stack([edges.targets(inverse), edges.sources(inverse)], dim=1)
        return as_matrix(x), Located(edges, located)

    def forward(
        self, x: Matrix, edge_index: Tensor | Located, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with prepared edges.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        weights = self.mixture(edge_index)  # (E, K)
        *hidden, last = self.layers
        for layer in hidden:
            sent = layer(dropout(x, self.dropout, self.training))  # (N, K, D)
            x = edge_index.edges.weighted_sum(weights, sent).sum(1).relu()  # (N, D)
        sent = last(dropout(x, self.dropout, self.training))
        return edge_index.edges.weighted_sum(weights, sent).sum(1)


CARDS = (
    Card(
        name="monet",
        model=MoNet,
        title="MoNet",
        paper="F. Monti, D. Boscaini, J. Masci, E. Rodolà, J. Svoboda and M. M. Bronstein. "
        "Geometric Deep Learning on Graphs and Manifolds Using Mixture Model CNNs. CVPR 2017",
        url="https://arxiv.org/abs/1611.08402",
        written="After the code of O. Shchur et al. (Pitfalls of Graph Neural Network Evaluation, "
        "2018): self-loops, one set of Gaussians for all layers, normalised per node. GMMConv of "
        "PyTorch Geometric does not normalise.",
        checked="A dense formula; GMMConv of PyTorch Geometric with the Gaussians' sums given to "
        "its features in place of a normalisation.",
    ),
)
