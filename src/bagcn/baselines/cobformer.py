r"""CoBFormer: a graph convolutional network and attention within and between clusters, which teach
each other.

N nodes, F features, D hidden, H heads, C classes, E edges, P clusters, S nodes of a cluster.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.sgformer import GraphBranch
from bagcn.ops import (
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    cross_entropy,
    dropout,
    normalized_adjacency,
    partition,
)

__all__ = ["Clusters", "CoBFormer", "collaborative_loss"]

View = Literal["attention", "graph"]
ATTENTION_DROPOUT = 0.1  # of the weights, fixed in the authors' code


class Clusters(NamedTuple):
    """Which nodes are together; the last place of a smaller cluster is empty.

    ``members`` (P, S) are nodes, ``filled`` (P, S) is 1 where a place holds one and 0 where not,
    ``place`` (N,) is where each node stands among the P · S places.
    """

    members: Tensor
    filled: Tensor
    place: Tensor

    @classmethod
    def of(cls, part: Tensor, dtype: torch.dtype | None = None) -> Clusters:
        """Sort the nodes, whose cluster is ``part`` (N,), into places."""
        sizes = torch.bincount(part)
        order = torch.argsort(part, stable=True)
        start = torch.cumsum(sizes, 0) - sizes
        rank = torch.arange(part.numel(), device=part.device) - start[part[order]]
        width = int(sizes.max())
        place = torch.empty_like(part)
        place[order] = part[order] * width + rank
        members = torch.zeros(sizes.numel() * width, dtype=torch.long, device=part.device)
        filled = torch.zeros(sizes.numel() * width, dtype=dtype, device=part.device)
        members[place] = torch.arange(part.numel(), device=part.device)
        filled[place] = 1.0
        shape = (sizes.numel(), width)
        return cls(members.view(shape), filled.view(shape), place)


Graph = tuple[SparseMatrix, Clusters]


class _Attention(nn.Module):
    """Multi-head attention within each of B groups, added to its input."""

    def __init__(self, channels: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query, self.key, self.value, self.out = (
            Linear(channels, channels, bias=False, init="kaiming") for _ in range(4)
        )

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in self.children():
            linear.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, filled: Tensor | None = None) -> Tensor:
        """Map (B, S, D) to (B, S, D); places that are not ``filled`` (B, S) are not seen."""
        query, key, value = (self._heads(part(x)) for part in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5  # (B, H, S, S)
        if filled is not None:
            scores = scores.masked_fill(filled[:, None, None] == 0, -1e9)
        weights = dropout(scores.softmax(-1), ATTENTION_DROPOUT, self.training)
        out: Tensor = x + self.out((weights @ value).transpose(1, 2).flatten(2))
        return out

    def _heads(self, x: Tensor) -> Tensor:
        heads = x.view(*x.shape[:-1], self.num_heads, -1)
        return heads.transpose(1, 2)  # (B, H, S, D / H)


class _FeedForward(nn.Module):
    """Normalise, map twice, and add to the input."""

    def __init__(self, channels: int, inner_dropout: float) -> None:
        super().__init__()
        self.inner_dropout = inner_dropout
        self.norm = nn.LayerNorm(channels, eps=1e-6)
        self.first = Linear(channels, channels, init="kaiming")
        self.second = Linear(channels, channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.norm, self.first, self.second):
            module.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., D) to (..., D)."""
        hidden = dropout(self.norm(x), self.inner_dropout, self.training)
        out: Tensor = x + self.second(self.first(hidden).relu())
        return out


class _ClusterLayer(nn.Module):
    """Attention among the nodes of every cluster, then among the clusters' means."""

    def __init__(self, channels: int, num_heads: int, inner_dropout: float) -> None:
        super().__init__()
        self.node_norm, self.cluster_norm = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.nodes, self.clusters = (_Attention(channels, num_heads) for _ in range(2))
        self.node_map, self.cluster_map = (_FeedForward(channels, inner_dropout) for _ in range(2))
        self.fuse = Linear(2 * channels, channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in self.children():
            module.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor, clusters: Clusters) -> Tensor:
        """Map (N, D) to (N, D)."""
        places = self.node_norm(x).index_select(0, clusters.members.flatten())
        own = places.view(*clusters.members.shape, -1)  # (P, S, D)
        own = self.node_map(self.nodes(own, clusters.filled))
        present = clusters.filled[..., None]
        mean = (own * present).sum(1) / present.sum(1)  # (P, D)
        others = self.cluster_map(self.clusters(self.cluster_norm(mean)[None]))[0]
        both = torch.cat([own, others[:, None].expand_as(own)], dim=-1)  # (P, S, 2 D)
        out: Tensor = own + self.fuse(both).relu()
        return out.flatten(0, 1).index_select(0, clusters.place)


class CoBFormer(nn.Module):
    r"""The network from `Less is More: on the Over-Globalizing Problem in Graph Transformers
    <https://arxiv.org/abs/2405.01102>`_.

    One view is a graph convolutional network. The other lets the nodes of a cluster attend to each
    other, then the clusters, and gives every node what its cluster received:

    .. math::
        H_p' &= \mathrm{Attention}(\mathrm{Norm}(H_p)), \qquad
        U = \mathrm{Attention}\big(\mathrm{Norm}(\mathrm{mean}(H_1'), \dots)\big), \\
        H_p'' &= H_p' + \mathrm{ReLU}\big([H_p' \Vert U_p]\, W + b\big)

    They are trained with :func:`collaborative_loss`.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: layers of attention.
        graph_layers: graph convolutions.
        num_heads: H, which share the D columns.
        clusters: P, at most one a node.
        dropout: between the convolutions, and before the classifier of the attention view.
        inner_dropout: of the normalised input of the maps after an attention.
        alpha: share of the labels in the loss.
        tau: factor of the logits by which the views teach each other.
        view: which view predicts, ``"attention"`` or ``"graph"``.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 1,
        graph_layers: int = 2,
        num_heads: int = 4,
        clusters: int = 112,
        dropout: float = 0.5,
        inner_dropout: float = 0.1,
        alpha: float = 0.7,
        tau: float = 0.3,
        view: View = "attention",
    ) -> None:
        super().__init__()
        for name, value in (
            ("num_layers", num_layers),
            ("graph_layers", graph_layers),
            ("clusters", clusters),
        ):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if hidden_channels % num_heads:
            raise ValueError(
                f"{num_heads} heads cannot share {hidden_channels} hidden channels evenly"
            )
        if view not in get_args(View):
            raise ValueError(f"view must be attention or graph, got {view!r}")
        self.num_clusters, self.view = clusters, view
        self.dropout, self.alpha, self.tau = dropout, alpha, tau
        widths = [in_channels, *[hidden_channels] * (graph_layers - 1), out_channels]
        self.graph = GraphBranch(widths, dropout)
        self.encoder = Linear(in_channels, hidden_channels, init="kaiming")
        self.layers = nn.ModuleList(
            _ClusterLayer(hidden_channels, num_heads, inner_dropout) for _ in range(num_layers)
        )
        self.classifier = Linear(hidden_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.graph, self.encoder, *self.layers, self.classifier):
            module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Graph]:
        r"""Return what is computed once: features fit for products, Â, and the clusters."""
        nodes, dtype = x.shape[0], self.classifier.weight.dtype
        adjacency = normalized_adjacency(edge_index, edge_weight, nodes, dtype=dtype)
        ends = np.ascontiguousarray(edge_index.cpu().numpy(), dtype=np.int64)
        part = _parts(ends.tobytes(), nodes, min(self.num_clusters, nodes))
        clusters = Clusters.of(part.to(edge_index.device), dtype)
        return as_matrix(x), (adjacency, clusters)

    def forward(
        self, x: Matrix, edge_index: Tensor | Graph, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return the logits (N, C) of the view that predicts.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared graph.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        adjacency, clusters = edge_index
        return self.graph(x, adjacency) if self.view == "graph" else self._attended(x, clusters)

    def objective(
        self, x: Matrix, edge_index: Graph, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the collaborative loss of both views.

        Args:
            x: features (N, F).
            edge_index: what :meth:`prepare` returned.
            y: classes (N,).
            labelled: which nodes' classes may be used, (N,) bool.
            epoch: not used.
        """
        adjacency, clusters = edge_index
        views = self.graph(x, adjacency), self._attended(x, clusters)
        return collaborative_loss(*views, y, labelled, self.alpha, self.tau)

    def _attended(self, x: Matrix, clusters: Clusters) -> Tensor:
        hidden = self.encoder(x).relu()
        for layer in self.layers:
            hidden = layer(hidden, clusters)
        out: Tensor = self.classifier(dropout(hidden, self.dropout, self.training))
        return out


def collaborative_loss(
    first: Tensor,
    second: Tensor,
    y: Tensor,
    labelled: Tensor,
    alpha: float | Tensor,
    tau: float | Tensor,
) -> Tensor:
    r"""Return the loss by which two views learn from the labels and from each other.

    .. math::
        \alpha \big(\mathrm{CE}(Z_1, Y) + \mathrm{CE}(Z_2, Y)\big) + (1 - \alpha)
        \big(\mathrm{CE}(\tau Z_1, \mathrm{softmax}(\tau Z_2))
        + \mathrm{CE}(\tau Z_2, \mathrm{softmax}(\tau Z_1))\big)

    the former over the labelled nodes, the latter over all others, with gradients through both
    predictions.

    Args:
        first: logits of one view, (N, C).
        second: logits of the other, (N, C).
        y: classes (N,); of unlabelled nodes any value.
        labelled: (N,) bool.
        alpha: share of the labels.
        tau: factor of the logits; below 1 it makes the predictions softer.
    """
    known = cross_entropy(first, y, labelled) + cross_entropy(second, y, labelled)
    mutual = _taught(tau * first, tau * second) + _taught(tau * second, tau * first)  # (N,)
    open_nodes = ~labelled
    taught = (mutual * open_nodes).sum() / open_nodes.sum().clamp_min(1)
    return alpha * known + (1 - alpha) * taught


def _taught(logits: Tensor, teacher: Tensor) -> Tensor:
    return -(teacher.softmax(-1) * F.log_softmax(logits, dim=-1)).sum(-1)


@lru_cache(maxsize=4)
def _parts(edges: bytes, num_nodes: int, parts: int) -> Tensor:
    """Return the cluster of every node; kept for the next population on the same graph."""
    ends = np.frombuffer(edges, dtype=np.int64).reshape(2, -1).copy()
    return partition(torch.from_numpy(ends), num_nodes, parts)


CARDS = (
    Card(
        name="cobformer",
        model=CoBFormer,
        title="CoBFormer",
        paper="Y. Xing, X. Wang, Y. Li, H. Huang and C. Shi. Less is More: on the Over-Globalizing "
        "Problem in Graph Transformers. ICML 2024",
        url="https://arxiv.org/abs/2405.01102",
        written="Here, after the authors' CoBFormer.py and BGA_layer.py. Clusters are made by a "
        "deterministic spectral bisection with exchanges, of sizes that differ by one at most, "
        "where the authors call METIS; so an empty place, which their means count in, is rare, and "
        "is left out of the mean. The attention view predicts, the graph view can.",
        checked="Recorded outputs of both views and the loss of the authors' code, with the same "
        "clusters; a layer with clusters of any size against a plain one, cluster by cluster.",
    ),
)
