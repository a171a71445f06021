r"""Deep graph contrastive representation learning.

N nodes, F features, D embedding, C classes, R = 2N rows of both views, B rows of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import (
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    normalized_adjacency,
    permutation,
    uniform,
)

__all__ = ["GRACE", "contrastive_loss"]

ENTRIES = 2**24
"""How many similarities are held at a time."""


class GRACE(nn.Module):
    r"""The model from `Deep Graph Contrastive Representation Learning
    <https://arxiv.org/abs/2006.04131>`_.

    Two views of the graph, each with other edges dropped and other feature columns masked, go
    through one encoder, :math:`H = \sigma(\hat A\, \sigma(\hat A X W_1 + b_1) W_2 + b_2)`, and a
    two-layer projection. A node's two projections u and v shall be alike, and unlike all others:

    .. math::
        \mathcal L = -\frac1{2N} \sum_i \left(\ell(u_i, v_i) + \ell(v_i, u_i)\right), \quad
        \ell(u_i, v_i) = \log \frac{e^{\theta(u_i, v_i)/\tau}}
        {\sum_k e^{\theta(u_i, v_k)/\tau} + \sum_{k \ne i} e^{\theta(u_i, u_k)/\tau}}

    with :math:`\theta` the cosine. The sums are exact and no matrix of N × N is ever held.

    Args:
        in_channels: F.
        hidden_channels: D; the encoder's first layer has 2 D.
        out_channels: C, of the classifier on the embeddings.
        drop_edge_1: the first view's rate of dropped edges.
        drop_edge_2: the second's.
        mask_feature_1: the first view's rate of masked feature columns.
        mask_feature_2: the second's.
        temperature: :math:`\tau`.
        activation: :math:`\sigma`, ``"relu"`` or ``"prelu"``.
        sample: contrast only so many nodes, drawn anew in every step; 0 for all, as in the
            paper. The cost grows with the square of the number of nodes.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        drop_edge_1: float = 0.2,
        drop_edge_2: float = 0.4,
        mask_feature_1: float = 0.3,
        mask_feature_2: float = 0.4,
        temperature: float = 0.4,
        activation: Literal["relu", "prelu"] = "relu",
        sample: int = 0,
    ) -> None:
        super().__init__()
        if activation not in ("relu", "prelu"):
            raise ValueError(f"activation must be relu or prelu, got {activation!r}")
        self.drop_edge_1, self.drop_edge_2 = drop_edge_1, drop_edge_2
        self.mask_feature_1, self.mask_feature_2 = mask_feature_1, mask_feature_2
        self.temperature, self.sample = temperature, sample
        self.first = GraphConvolution(in_channels, 2 * hidden_channels)
        self.second = GraphConvolution(2 * hidden_channels, hidden_channels)
        self.activation = nn.PReLU() if activation == "prelu" else nn.ReLU()
        self.project = nn.ModuleList(
            Linear(hidden_channels, hidden_channels, init="kaiming") for _ in range(2)
        )
        self.probe = Linear(hidden_channels, out_channels).requires_grad_(False)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.first, self.second, *self.project, self.probe):
            module.reset_parameters()
        if isinstance(self.activation, nn.PReLU):
            self.activation.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        """Return features fit for products, and the adjacency with self-loops, not normalised."""
        dtype = self.probe.weight.dtype
        adjacency = normalized_adjacency(
            edge_index, edge_weight, x.shape[0], norm="none", dtype=dtype
        )
        return as_matrix(x), adjacency

    def embed(self, x: Matrix, graph: SparseMatrix) -> Tensor:
        """Return H with rows of length one, as the authors classify them, (N, D)."""
        return F.normalize(self._encode(x, _normalized(graph)))

    def objective(
        self, x: Matrix, graph: SparseMatrix, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return how little the nodes' two views agree."""
        rates = (
            (self.drop_edge_1, self.mask_feature_1),
            (self.drop_edge_2, self.mask_feature_2),
        )
        u, v = (self._projected(self._view(x, graph, *rate)) for rate in rates)
        if 0 < self.sample < u.shape[0]:
            nodes = permutation(u[:, 0].detach())[: self.sample]
            u, v = u[nodes], v[nodes]
        return contrastive_loss(u, v, self.temperature)

    def forward(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C) of the classifier on the embeddings.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the adjacency that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared adjacency.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        out: Tensor = self.probe(self.embed(x, edge_index))
        return out

    def _view(self, x: Matrix, graph: SparseMatrix, drop_edge: float, mask: float) -> Tensor:
        """Return H of one random view, (N, D)."""
        loops = graph.pattern.row == graph.pattern.col
        kept = loops | (uniform(graph.values) >= drop_edge)
        columns = uniform(self.first.linear.weight[:, 0].detach()) >= mask  # (F,)
        return self._encode(x, _normalized(graph.with_values(graph.values * kept)), columns)

    def _encode(self, x: Matrix, adjacency: SparseMatrix, columns: Tensor | None = None) -> Tensor:
        """Return H, (N, D); a masked column of X is a row of zeros in the first weight."""
        weight: Tensor = self.first.linear.weight  # (F, 2 D)
        weight = weight if columns is None else weight * columns[:, None]
        assert self.first.bias is not None
        hidden = self.activation(adjacency @ (x @ weight) + self.first.bias)
        out: Tensor = self.activation(self.second(hidden, adjacency))
        return out

    def _projected(self, hidden: Tensor) -> Tensor:
        first, second = self.project
        out: Tensor = second(F.elu(first(hidden)))
        return out


def _normalized(graph: SparseMatrix) -> SparseMatrix:
    r"""Return :math:`\tilde D^{-1/2} \tilde A \tilde D^{-1/2}` of a matrix with a full diagonal."""
    row, col = graph.pattern.row, graph.pattern.col
    degree = graph.values.new_zeros(graph.shape[0]).index_add(0, row, graph.values)
    power = degree.rsqrt()
    return graph.with_values(graph.values * power[row] * power[col])


def contrastive_loss(u: Tensor, v: Tensor, temperature: float | Tensor) -> Tensor:
    """Return the loss of two views of the same nodes, (N, D) each.

    With both views' rows under each other, every row's denominator is the sum over all rows but
    itself, and the similarities are symmetric: a block of them serves its rows and its columns.
    """
    scale = temperature**-0.5
    u, v = F.normalize(u) * scale, F.normalize(v) * scale
    denominators: Tensor = _LogSumExp.apply(torch.cat([u, v]))  # type: ignore[no-untyped-call]
    return denominators.mean() - (u * v).sum(dim=-1).mean()


class _LogSumExp(torch.autograd.Function):
    r"""Map z to :math:`\log \sum_{j \ne i} e^{z_i \cdot z_j}`, (..., R, D) to (..., R)."""

    @staticmethod
    def forward(z: Tensor) -> Tensor:
        sums = torch.zeros_like(z[..., 0])
        for rows, exponentials in _blocks(z):
            own = rows.stop - rows.start
            sums[..., rows] += exponentials.sum(dim=-1)
            sums[..., rows.stop :] += exponentials[..., own:].sum(dim=-2)
        return sums.log() + _largest(z)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs, output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        z, out = ctx.saved_tensors
        share = grad * (_largest(z) - out).exp()  # (..., R)
        result = torch.zeros_like(z)
        for rows, exponentials in _blocks(z):
            own = rows.stop - rows.start
            weights = exponentials * (share[..., rows, None] + share[..., None, rows.start :])
            result[..., rows, :] += weights @ z[..., rows.start :, :]
            result[..., rows.stop :, :] += weights[..., own:].mT @ z[..., rows, :]
        return result

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int], z: Tensor) -> tuple[Tensor, int]:
        out: Tensor = _LogSumExp.apply(z.movedim(in_dims[0], 0))  # type: ignore[no-untyped-call]
        return out, 0


def _largest(z: Tensor) -> Tensor:
    """Return a bound on all similarities, which the exponentials are taken below: (..., 1)."""
    return z.square().sum(dim=-1).amax(dim=-1, keepdim=True)


def _blocks(z: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Yield rows, and their exponentials with themselves and all later rows: (..., B, R - start).

    Of earlier rows they stood in the columns of earlier blocks; a row with itself is 0.
    """
    total, bound = z.shape[-2], _largest(z)[..., None]
    size = max(1, ENTRIES // max(1, z[..., 0].numel()))
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        exponentials = (z[..., rows, :] @ z[..., start:, :].mT).sub_(bound).exp_()
        exponentials.diagonal(dim1=-2, dim2=-1).zero_()
        yield rows, exponentials


CARDS = (
    Card(
        name="grace",
        model=GRACE,
        title="GRACE",
        paper="Y. Zhu, Y. Xu, F. Yu, Q. Liu, S. Wu and L. Wang. Deep Graph Contrastive "
        "Representation Learning. ICML Workshop on Graph Representation Learning and Beyond 2020",
        url="https://arxiv.org/abs/2006.04131",
        written="Here. Dropped edges are zeros of the adjacency before it is normalised, masked "
        "columns are zero rows of the first weight, and the loss is exact without an N × N "
        "matrix. The classifier is scikit-learn's logistic regression, chosen on validation.",
        checked="The dense formula, and recorded outputs of the authors' code.",
    ),
)
