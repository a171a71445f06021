r"""Simple unsupervised graph representation learning.

N nodes, F features, H hidden, D embedding, C classes.
"""

from __future__ import annotations

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import (
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    dropout,
    normalized_adjacency,
    permutation,
)

__all__ = ["SUGRL"]

NEIGHBOURS = 5
"""How many neighbours a positive is the mean of."""


class SUGRL(nn.Module):
    r"""The model from `Simple Unsupervised Graph Representation Learning
    <https://ojs.aaai.org/index.php/AAAI/article/view/20748>`_.

    .. math::
        h = \mathrm{MLP}(x), \qquad h^+ = \hat A h, \qquad
        h^\oplus = \operatorname{mean} \text{ of five neighbours' } h

    With d the distance to h, and :math:`h^-` the rows of h in random order (some such orders):

    .. math::
        \mathcal L = \sum_- \operatorname{mean}_i \left(
            \omega_1 [d^+ - d^- + m_1]_+ + \omega_2 [d^\oplus - d^- + m_1]_+ \right)
        + \omega_3 \operatorname{mean}_- \sum_i [d^- - d^+ - m_1 - m_2]_+

    where the last term, which bounds the distances, is a sum over nodes and its :math:`d^+`
    carries no gradient, as in the authors' code. The embedding is :math:`h^+`, its rows of
    length one.

    Args:
        in_channels: F.
        hidden_channels: D, the width of the embedding.
        out_channels: C, of the classifier on the embeddings.
        mlp_channels: H, the width between the MLP's two layers; 0 for a single layer.
        num_negatives: how many random orders.
        structure_weight: :math:`\omega_1`.
        neighbour_weight: :math:`\omega_2`.
        bound_weight: :math:`\omega_3`.
        margin: :math:`m_1`.
        bound_margin: :math:`m_2`.
        input_dropout: on the features.
        dropout: on h before :math:`h^+` is formed.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        mlp_channels: int = 512,
        num_negatives: int = 4,
        structure_weight: float = 10.0,
        neighbour_weight: float = 10.0,
        bound_weight: float = 1.0,
        margin: float = 0.8,
        bound_margin: float = 0.2,
        input_dropout: float = 0.3,
        dropout: float = 0.2,
    ) -> None:
        super().__init__()
        if num_negatives < 1:
            raise ValueError(f"num_negatives must be at least 1, got {num_negatives}")
        self.num_negatives = num_negatives
        self.structure_weight, self.neighbour_weight = structure_weight, neighbour_weight
        self.bound_weight, self.margin, self.bound_margin = bound_weight, margin, bound_margin
        self.input_dropout, self.dropout = input_dropout, dropout
        between = [mlp_channels] if mlp_channels else []
        widths = [in_channels, *between, hidden_channels]
        self.layers = nn.ModuleList(Linear(*width) for width in pairwise(widths))
        self.probe = Linear(hidden_channels, out_channels).requires_grad_(False)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in (*self.layers, self.probe):
            linear.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.probe.weight.dtype
        return as_matrix(x), normalized_adjacency(edge_index, edge_weight, x.shape[0], dtype=dtype)

    def embed(self, x: Matrix, graph: SparseMatrix) -> Tensor:
        r"""Return :math:`h^+` with rows of length one, (N, D)."""
        return F.normalize(graph @ self._anchor(x))

    def objective(
        self, x: Matrix, graph: SparseMatrix, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the loss above."""
        anchor = self._anchor(x)  # (N, D)
        near = F.pairwise_distance(anchor, graph @ dropout(anchor, self.dropout, self.training))
        beside = F.pairwise_distance(anchor, _neighbours(anchor, graph, epoch))
        loss, bound = anchor.new_zeros(()), self.margin + self.bound_margin
        for _ in range(self.num_negatives):
            order = permutation(anchor[:, 0].detach())
            far = F.pairwise_distance(anchor, anchor[order])
            loss = loss + self.structure_weight * (near - far + self.margin).relu().mean()
            loss = loss + self.neighbour_weight * (beside - far + self.margin).relu().mean()
            excess = (far - near.detach() - bound).relu().sum()
            loss = loss + self.bound_weight * excess / self.num_negatives
        return loss

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

    def _anchor(self, x: Matrix) -> Tensor:
        """Return h, (N, D)."""
        *hidden, last = self.layers
        x = dropout(x, self.input_dropout, self.training)
        for linear in hidden:
            x = linear(x).relu()
        out: Tensor = last(x)
        return out


def _neighbours(anchor: Tensor, graph: SparseMatrix, epoch: Tensor) -> Tensor:
    """Return the mean of five neighbours of every node, (N, D); which five moves with the epoch.

    As in the authors' code nothing is drawn: every node's neighbours, itself among them, are
    gone through in turn, those of epoch e, e + 2, e + 4, e + 6 and e + 8.
    """
    start, degree = graph.pattern.crow[:-1], graph.pattern.crow.diff()  # (N,)
    turns = ((epoch + 2 * turn) % 100 + 1 for turn in range(NEIGHBOURS))
    chosen = (graph.pattern.col[(start + turn % degree).long()] for turn in turns)
    return torch.stack([anchor[nodes.long()] for nodes in chosen]).mean(dim=0)


CARDS = (
    Card(
        name="sugrl",
        model=SUGRL,
        title="SUGRL",
        paper="Y. Mo, L. Peng, J. Xu, X. Shi and X. Zhu. Simple Unsupervised Graph Representation "
        "Learning. AAAI 2022",
        url="https://ojs.aaai.org/index.php/AAAI/article/view/20748",
        written="Here, from the authors' code. That code loads the authors' trained weights in "
        "every epoch unless told not to; here training starts from nothing. The classifier is "
        "scikit-learn's logistic regression, chosen on validation.",
        checked="The dense formula, and recorded outputs of the authors' code.",
    ),
)
