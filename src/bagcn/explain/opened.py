r"""A trained model opened up: its two views, and any rows of its attention.

N nodes, F features, D hidden, B nodes asked about, P entries of Â in their rows.

A prediction of the GCN view is :math:`\hat Y_i = \sum_m \hat A_{im}\, g(H_{c,m} \circ \sum_j
S_{1,mj} H_{ego,j}) W_c`: it reads the rows of :math:`S_1` of the node and of its neighbours, and
no others. So an explanation computes these rows only. All is computed in double precision, so
that a shortcut can be taken out of a sum exactly (see :mod:`bagcn.explain.removal`).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from bagcn.nn import BAGCN, attention_weights
from bagcn.ops import Matrix, SparseMatrix, as_matrix

__all__ = ["Direction", "Opened", "Weights", "entries", "weights_of"]

Direction = Literal["S1", "S2"]
Weights = Literal["prediction", "S1", "S2"]

ENTRIES_AT_ONCE = 2**23
"""How many attention weights are in memory at a time: 64 MiB of them."""


@dataclass(frozen=True, eq=False)
class Opened:
    """What the attention and the predictions of a model on a graph are computed from."""

    model: BAGCN  # in double precision, its views without their linear maps
    adjacency: SparseMatrix
    products: tuple[Tensor, Tensor]  # X W of the local and of the ego view, (N, D) each
    local: Tensor  # H_c, (N, D)
    ego: Tensor  # H_ego, (N, D)

    @classmethod
    @torch.no_grad()
    def of(cls, model: nn.Module, x: Matrix, graph: Tensor | SparseMatrix) -> Opened:
        """Open a model on the features (N, F) and the edges (2, E) or the prepared adjacency."""
        model = _with_attention(model)
        own = copy.deepcopy(model).double().eval()
        if isinstance(graph, Tensor):
            x, graph = own.prepare(x, graph)
        x = as_matrix(x)
        x = x.double() if isinstance(x, Tensor) else x.with_values(x.values.double())
        products = own.layer.local.linear(x), own.layer.ego.linear(x)
        for view in (own.layer.local, own.layer.ego):  # both start from their products here
            view.linear = nn.Identity()  # type: ignore[assignment]
        adjacency = graph.with_values(graph.values.detach().double())
        local = own.layer.local(products[0], adjacency)
        ego = own.layer.ego(products[1], adjacency)
        return cls(own, adjacency, products, local, ego)

    @property
    def num_nodes(self) -> int:
        """Return N."""
        return self.local.shape[0]

    @property
    def uses_both(self) -> bool:
        """Return whether the prediction is the mean of both views."""
        return self.model.inference == "mean"

    @torch.no_grad()
    def without_features(self, node: int, hops: Tensor) -> Opened:
        """Return the model on the graph in which all features of the node are zero.

        ``hops`` (N,) is how far all nodes are from it, as :class:`Distances` says.
        """
        own = torch.tensor([node], device=self.local.device)
        local, ego = (product.index_fill(0, own, 0.0) for product in self.products)
        return self._changed(self.adjacency, (local, ego), hops)

    @torch.no_grad()
    def without_edges(self, node: int, hops: Tensor) -> Opened:
        """Return the model on the graph in which the node stands alone.

        Its row and column of Â become those of an isolated node; all others stay as they are.
        """
        pattern = self.adjacency.pattern
        own_row, own_col = pattern.row == node, pattern.col == node
        values = self.adjacency.values.masked_fill(own_row | own_col, 0.0)
        adjacency = self.adjacency.with_values(values.masked_fill(own_row & own_col, 1.0))
        return self._changed(adjacency, self.products, hops)

    def _changed(
        self, adjacency: SparseMatrix, products: tuple[Tensor, Tensor], hops: Tensor
    ) -> Opened:
        """Compute the views anew where a change at the node with 0 ``hops`` reaches.

        A view of k hops changes within k hops, where it depends on nodes within 2k hops.
        """
        layer = self.model.layer
        reach = max(layer.local.num_hops, layer.ego.num_hops)
        ball = ((hops >= 0) & (hops <= 2 * reach)).nonzero()[:, 0]
        inside, part = hops[ball] <= reach, _within(adjacency, ball)
        local, ego = (
            old.index_copy(0, ball[inside], view(product[ball], part)[inside])
            for view, product, old in (
                (layer.local, products[0], self.local),
                (layer.ego, products[1], self.ego),
            )
        )
        return Opened(self.model, adjacency, products, local, ego)

    def query(self, which: Direction, nodes: Tensor) -> Tensor:
        """Return the queries of these rows of the attention, (B, D)."""
        layer = self.model.layer
        if which == "S1":
            return self.local[nodes] @ layer.local_metric
        return self.ego[nodes] @ layer.ego_metric

    def keys(self, which: Direction) -> Tensor:
        """Return what the rows attend to, (N, D): H_ego for S1, H_c for S2."""
        return self.ego if which == "S1" else self.local

    def rows(self, which: Direction, nodes: Tensor) -> Tensor:
        """Return rows of the attention (Eq. 3 or 4), (B, N)."""
        return attention_weights(self.query(which, nodes), self.keys(which), self.model.layer.scale)

    @property
    def rows_at_once(self) -> int:
        """Return how many rows of the attention may be in memory."""
        return max(1, ENTRIES_AT_ONCE // self.num_nodes)


def _with_attention(model: nn.Module) -> BAGCN:
    if not isinstance(model, BAGCN):
        raise ValueError(
            f"shortcuts are the attention of a BAGCN model, and {type(model).__name__} has none: "
            "train bagcn-add or bagcn-mul"
        )
    if model.layer.attention == "none":
        raise ValueError(
            "shortcuts are the attention of a BAGCN model, and this one was trained without it: "
            "train it with attention=exact (on the command line: --set attention=exact)"
        )
    return model


def entries(matrix: SparseMatrix, nodes: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the entries of some rows: which of ``nodes`` each belongs to, column and value."""
    crow = matrix.pattern.crow.long()
    counts = crow[nodes + 1] - crow[nodes]  # (B,)
    owner = torch.arange(len(nodes), device=nodes.device).repeat_interleave(counts)  # (P,)
    first = (counts.cumsum(0) - counts)[owner]
    place = crow[nodes][owner] + torch.arange(len(owner), device=nodes.device) - first
    return owner, matrix.pattern.col[place].long(), matrix.values[place]


def _within(matrix: SparseMatrix, nodes: Tensor) -> SparseMatrix:
    """Return the rows and columns of these nodes."""
    place = torch.full((matrix.shape[0],), -1, device=nodes.device)
    place[nodes] = torch.arange(len(nodes), device=nodes.device)
    owner, col, value = entries(matrix, nodes)
    kept = place[col] >= 0
    size = (len(nodes), len(nodes))
    return SparseMatrix.from_coo(owner[kept], place[col[kept]], value[kept], size)


def weights_of(opened: Opened, nodes: Tensor, weights: Weights) -> Tensor:
    r"""Return how much the predictions of ``nodes`` rest on every node, (B, N); rows sum to 1.

    ``"S1"`` and ``"S2"`` are the rows of the paper's matrices. ``"prediction"`` is the share with
    which the other node's view enters the prediction: for the GCN view row i of
    :math:`\hat A S_1` divided by its sum, that of row i of :math:`\hat A`; for the mean of both
    views the mean of this and of row i of :math:`S_2`.
    """
    if weights != "prediction":
        return opened.rows(weights, nodes)
    smoothed = _smoothed(opened, nodes)
    return (smoothed + opened.rows("S2", nodes)) / 2 if opened.uses_both else smoothed


def _smoothed(opened: Opened, nodes: Tensor) -> Tensor:
    """Return the rows of Â S1, each divided by the sum of its row of Â: (B, N)."""
    owner, reads, value = entries(opened.adjacency, nodes)
    total = value.new_zeros(len(nodes)).index_add(0, owner, value)
    unique, place = torch.unique(reads, return_inverse=True)
    out = value.new_zeros(len(nodes), opened.num_nodes)
    step = opened.rows_at_once
    for start in range(0, len(unique), step):
        part = unique[start : start + step]
        here = (place >= start) & (place < start + step)
        mix = SparseMatrix.from_coo(
            owner[here], place[here] - start, (value / total[owner])[here], (len(nodes), len(part))
        )
        out += mix @ opened.rows("S1", part)
    return out
