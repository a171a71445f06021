r"""Bilinear graph networks: products of neighbours beside their sum.

N nodes, F features, C classes, E edges.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["BGCN", "Hop", "bilinear"]

Pairs = Literal["all", "target"]


class Hop(NamedTuple):
    """The neighbours at one distance: a sparse matrix (N, N) without diagonal, and sums of it."""

    neighbours: SparseMatrix
    squared: SparseMatrix
    degree: Tensor  # (N, 1)
    pairs: Tensor  # (N, 1), the weight of all pairs among the neighbours and the node

    @classmethod
    def of(cls, neighbours: SparseMatrix) -> Hop:
        """Prepare the sums."""
        ones = neighbours.values.new_ones(neighbours.shape[0], 1)
        squared = neighbours.with_values(neighbours.values**2)
        degree = neighbours @ ones
        return cls(neighbours, squared, degree, ((degree + 1) ** 2 - squared @ ones - 1) / 2)


class Hops(NamedTuple):
    """A prepared graph: Â, and the neighbours at distance 1 and maybe 2."""

    adjacency: SparseMatrix
    hops: list[Hop]


def bilinear(z: Tensor, hop: Hop, pairs: Pairs) -> Tensor:
    r"""Return the mean of :math:`z_i \odot z_j` over pairs around every node, (N, C).

    Args:
        z: (N, C).
        hop: the neighbours.
        pairs: ``"all"`` of the node and its neighbours, or those with the node (``"target"``).
    """
    total = hop.neighbours @ z
    if pairs == "target":
        return _ratio(z * total, hop.degree)
    squares = hop.squared @ z**2 + z**2
    return _ratio(((total + z) ** 2 - squares) / 2, hop.pairs)


def _ratio(values: Tensor, weight: Tensor) -> Tensor:
    """Divide; where there is no pair at all, the result is 0."""
    none = weight == 0
    return (values / weight.masked_fill(none, 1)).masked_fill(none, 0)


class BGCN(nn.Module):
    r"""The model from `Bilinear Graph Neural Network with Neighbor Interactions
    <https://arxiv.org/abs/2002.03575>`_.

    .. math::
        Z &= X W \\
        \mathrm{out} &= (1 - \alpha) \hat A^2 Z
            + \alpha \bigl((1 - \beta) B_1(Z) + \beta B_2(Z)\bigr) \\
        B_k(Z)_v &= \text{mean of } z_i \odot z_j \text{ over pairs of } \{v\} \cup N_k(v)

    where N_k are the nodes at distance k. The pairs are all of them (BGCN-A), or those that hold
    v itself (BGCN-T). With one hop, Â takes the place of Â² and B_1 that of the sum.

    A weight of an edge acts in Â and weighs its node in the pairs of B_1, so that both are
    differentiable in it; B_2 asks only which edges there are.

    Args:
        in_channels: F.
        out_channels: C.
        pairs: ``"all"`` or ``"target"``.
        num_hops: 1 or 2.
        alpha: the share of the products.
        beta: of these, the share of the second hop.
        dropout: of the features.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        pairs: Pairs = "target",
        num_hops: int = 2,
        alpha: float = 0.3,
        beta: float = 0.7,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if pairs not in get_args(Pairs):
            raise ValueError(f"pairs must be one of {', '.join(get_args(Pairs))}; got {pairs!r}")
        if num_hops not in (1, 2):
            raise ValueError(f"num_hops must be 1 or 2, got {num_hops}")
        self.pairs, self.num_hops = pairs, num_hops
        self.alpha, self.beta, self.dropout = alpha, beta, dropout
        self.linear = Linear(in_channels, out_channels, bias=False)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.linear.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Hops]:
        r"""Return what is computed from the graph once: features fit for products, Â, the hops."""
        nodes, dtype = x.shape[0], self.linear.weight.dtype
        adjacency = normalized_adjacency(edge_index, edge_weight, nodes, dtype=dtype)
        other = edge_index[0] != edge_index[1]
        weight = None if edge_weight is None else edge_weight[other]
        first = normalized_adjacency(
            edge_index[:, other], weight, nodes, norm="none", self_loops=False, dtype=dtype
        )
        hops = [Hop.of(first)]
        if self.num_hops == 2:
            hops.append(Hop.of(_second_hop(first)))
        return as_matrix(x), Hops(adjacency, hops)

    def forward(
        self, x: Matrix, edge_index: Tensor | Hops, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the graph that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared graph.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        adjacency, hops = edge_index
        z: Tensor = self.linear(dropout(x, self.dropout, self.training))
        smooth = z
        for _ in hops:
            smooth = adjacency @ smooth
        products = [bilinear(z, hop, self.pairs) for hop in hops]
        shares = (1 - self.beta, self.beta) if len(hops) == 2 else (1.0,)
        mixed = sum(share * product for share, product in zip(shares, products, strict=True))
        return (1 - self.alpha) * smooth + self.alpha * mixed


def _second_hop(first: SparseMatrix) -> SparseMatrix:
    """Return the nodes at distance two, as a matrix of ones."""
    row, col = first.pattern.row.cpu().numpy(), first.pattern.col.cpu().numpy()
    ones, shape = np.ones(len(row), dtype=np.float32), first.shape
    edges = sp.csr_matrix((ones, (row, col)), shape=shape)
    near = edges + sp.eye(shape[0], dtype=np.float32, format="csr")
    reach = edges @ edges
    reach.data[:] = 1
    two = (reach - reach.multiply(near.sign())).tocsr()
    two.eliminate_zeros()
    two.sort_indices()
    crow, columns = torch.from_numpy(two.indptr), torch.from_numpy(two.indices)
    values = first.values.new_ones(two.nnz)
    csr = torch.sparse_csr_tensor(crow.to(values.device), columns.to(values.device), values, shape)
    return SparseMatrix.from_csr(csr)


def _card(variant: str, pairs: Pairs, what: str) -> Card:
    return Card(
        name=f"bgcn-{variant.lower()}",
        model=BGCN,
        title=f"BGCN-{variant}",
        paper="H. Zhu, F. Feng, X. He, X. Wang, Y. Li, K. Zheng and Y. Zhang. Bilinear Graph "
        "Neural Network with Neighbor Interactions. IJCAI 2020",
        url="https://arxiv.org/abs/2002.03575",
        written=f"The variant with {what}, from the authors' TensorFlow code: its two-layer model "
        "is one linear map on the neighbours of two hops. Their dense sets of neighbours are "
        "sparse matrices here.",
        checked="A sum over every single pair, and recorded outputs of the authors' code.",
        arguments=(("pairs", pairs),),
    )


CARDS = (
    _card("A", "all", "all pairs around a node"),
    _card("T", "target", "the pairs that hold the node itself"),
)
