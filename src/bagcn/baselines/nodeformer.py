r"""NodeFormer: attention over all nodes with random features and Gumbel noise, and the graph.

N nodes, F features, D hidden, H heads, M random features, K samples, C classes, E edges.
"""

from __future__ import annotations

import math

import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import (
    Edges,
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    cross_entropy,
    dropout,
    normalized_adjacency,
    uniform,
)

__all__ = ["NodeFormer", "Relations", "gumbel", "kernel_features", "orthogonal_features"]

Relations = tuple[Edges, tuple[SparseMatrix, ...]]
"""The edges with self-loops, and the normalised adjacencies of 1, 2, 4, ... hops."""


def normal(like: Tensor) -> Tensor:
    """Return normal numbers in the shape and type of ``like`` from the keyed stream."""
    radius = (-2 * (1 - uniform(like)).log()).sqrt()  # Box and Muller
    return radius * (2 * math.pi * uniform(like)).cos()


def gumbel(like: Tensor) -> Tensor:
    """Return Gumbel noise in the shape and type of ``like``."""
    tiny = 2.0**-24
    return -(-uniform(like).clamp(tiny, 1 - tiny).log()).log()


def orthogonal_features(directions: Tensor, lengths: Tensor) -> Tensor:
    """Make normal random features orthogonal in blocks of D, by Gram and Schmidt.

    One after the other and not by a QR decomposition, which cannot be captured in a CUDA graph.

    Args:
        directions: normal numbers, (M, D).
        lengths: normal numbers, (M, D), whose rows give the length of every feature.
    """
    rows: list[Tensor] = []
    for row in directions.unbind(0):
        block = rows[len(rows) // row.numel() * row.numel() :]
        for _ in range(2 if block else 0):  # once is not enough in float32
            basis = torch.stack(block)
            row = row - (basis @ row) @ basis
        rows.append(row / row.norm())
    scale: Tensor = lengths.norm(dim=1, keepdim=True)
    return torch.stack(rows) * scale


def kernel_features(x: Tensor, features: Tensor, *, shared: bool) -> Tensor:
    r"""Return positive features whose products approximate :math:`\exp(q^\top k / \sqrt D)`.

    .. math::
        \phi(x) = \tfrac{1}{\sqrt M}
        \left(e^{\, W x' - \lVert x' \rVert^2 / 2 \, - \, c} + 10^{-6}\right),
        \qquad x' = x / D^{1/4}

    Args:
        x: queries or keys, (N, H, D).
        features: W, (M, D).
        shared: whether c, which keeps the exponent in range and cancels in the attention, is one
            for all nodes (keys), or one a node (queries).
    """
    x = x / x.shape[-1] ** 0.25
    dash = x @ features.T  # (N, H, M)
    largest = dash.detach().amax(dim=(0, 2) if shared else 2, keepdim=True)
    power = (dash - x.square().sum(-1, keepdim=True) / 2 - largest).exp()
    return (power + 1e-6) / math.sqrt(features.shape[0])


class _Layer(nn.Module):
    """Attention over all nodes and the relational bias of the graph."""

    features: Tensor

    def __init__(
        self,
        channels: int,
        num_heads: int,
        num_features: int,
        num_samples: int,
        temperature: float,
        hops: int,
    ) -> None:
        super().__init__()
        width = channels * num_heads
        self.heads, self.num_samples = (num_heads, channels), num_samples
        self.temperature = temperature
        self.key = Linear(channels, width, init="kaiming")
        self.query = Linear(channels, width, init="kaiming")
        self.value = Linear(channels, width, init="kaiming")
        self.out = Linear(width, channels, init="kaiming")
        self.bias = nn.Parameter(torch.empty(hops, num_heads))
        self.register_buffer("features", torch.empty(num_features, channels))  # of predictions
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, and the random features that predictions are made with."""
        for module in (self.key, self.query, self.value, self.out):
            module.reset_parameters()
        nn.init.constant_(self.bias, 0.1)
        noise = (torch.randn_like(self.features), torch.randn_like(self.features))
        self.features.copy_(orthogonal_features(*noise))

    def forward(self, x: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        """Map (N, D) to (N, D), and return the mean log attention of the edges."""
        edges, adjacencies = relations
        value = self.value(x)  # (N, HD)
        features = self.features
        if self.training:
            features = orthogonal_features(normal(features), normal(features))
        root = self.temperature**0.5
        query = kernel_features(self.query(x).view(-1, *self.heads) / root, features, shared=False)
        key = kernel_features(self.key(x).view(-1, *self.heads) / root, features, shared=True)
        out = self._attend(query, key, value.view(-1, *self.heads)).flatten(1)
        for adjacency, bias in zip(adjacencies, self.bias.sigmoid(), strict=True):
            out = out + (adjacency @ value) * bias.repeat_interleave(self.heads[1])
        return self.out(out), _edge_attention(query, key, edges)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Return the attention's mean over the samples, one without noise in prediction."""
        noisy = key[:, :, None]  # (N, H, 1, M)
        if self.training:
            one = key[:, :, :1].detach().expand(*key.shape[:2], self.num_samples)
            noisy = noisy * (gumbel(one) / self.temperature).exp()[..., None]  # (N, H, K, M)
        summary = torch.einsum("nhkm,nhd->hkmd", noisy, value)
        received = torch.einsum("nhm,hkmd->nhkd", query, summary)
        weight = torch.einsum("nhm,hkm->nhk", query, noisy.sum(0))
        return (received / weight[..., None]).mean(2)  # (N, H, D)


def _edge_attention(query: Tensor, key: Tensor, edges: Edges) -> Tensor:
    """Return the mean over edges and heads of log attention over the receiver's degree."""
    total = torch.einsum("nhm,hm->nh", query, key.sum(0))  # (N, H)
    product = (edges.targets(query) * edges.sources(key)).sum(-1)  # (E, H)
    ones = torch.ones_like(edges.weight)
    degree = edges.targets(edges.sum(ones))  # (E,)
    return ((product / edges.targets(total)).log() / degree[:, None]).mean()


class NodeFormer(nn.Module):
    r"""The network from `NodeFormer: A Scalable Graph Structure Learning Transformer for Node
    Classification <https://arxiv.org/abs/2306.08385>`_.

    .. math::
        z_u' = W_o \Big[ \frac1K \sum_k
        \frac{\phi(q_u)^\top \sum_v e^{g_{kv} / \tau} \phi(k_v) v_v^\top}
        {\phi(q_u)^\top \sum_w e^{g_{kw} / \tau} \phi(k_w)}
        + \sum_i \sigma(b_i) \hat A_i V \Big]

    with positive random features :math:`\phi`, Gumbel noise g while training, and
    :math:`\hat A_i` the normalised adjacency of :math:`2^i` hops. The objective adds the edge
    regularisation: the attention's log-likelihood of the graph's own edges.

    Args:
        in_channels: F.
        hidden_channels: D, of every head.
        out_channels: C.
        num_layers: layers of attention.
        num_heads: H.
        dropout: after the first linear map and every layer.
        num_features: M.
        num_samples: K.
        temperature: :math:`\tau`.
        hops: the number of adjacencies in the relational bias; 2 is one hop and two hops.
        edge_loss: weight of the edge regularisation, :math:`\lambda`.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        num_heads: int = 4,
        dropout: float = 0.0,
        num_features: int = 30,
        num_samples: int = 10,
        temperature: float = 0.25,
        hops: int = 2,
        edge_loss: float = 1.0,
    ) -> None:
        super().__init__()
        if min(num_layers, hops) < 1:
            raise ValueError(f"num_layers and hops must be at least 1, got {num_layers} and {hops}")
        self.dropout, self.hops, self.edge_loss = dropout, hops, edge_loss
        self.linear = Linear(in_channels, hidden_channels, init="kaiming")
        self.layers = nn.ModuleList(
            _Layer(hidden_channels, num_heads, num_features, num_samples, temperature, hops)
            for _ in range(num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_channels) for _ in range(num_layers + 1))
        self.classifier = Linear(hidden_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.linear, *self.layers, *self.norms, self.classifier):
            module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Relations]:
        """Return what is computed once: features fit for products, edges and adjacencies.

        Weights of the edges are not used: the relations are unweighted, as the authors' are.
        """
        nodes, dtype = x.shape[0], self.classifier.weight.dtype
        patterns = [edge_index]
        for _ in range(self.hops - 1):
            patterns.append(_squared(patterns[-1], nodes))
        adjacencies = tuple(normalized_adjacency(p, None, nodes, dtype=dtype) for p in patterns)
        return as_matrix(x), (Edges(adjacencies[0]), adjacencies)

    def forward(
        self,
        x: Matrix,
        edge_index: Tensor | Relations,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: not used.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        return self._logits(x, edge_index)[0]

    def objective(
        self, x: Matrix, edge_index: Relations, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the loss of one training step: cross-entropy and edge regularisation.

        Args:
            x: features (N, F).
            edge_index: what :meth:`prepare` returned.
            y: classes (N,).
            labelled: which nodes' classes may be used, (N,) bool.
            epoch: not used.
        """
        logits, likelihood = self._logits(x, edge_index)
        return cross_entropy(logits, y, labelled) - self.edge_loss * likelihood

    def _logits(self, x: Matrix, relations: Relations) -> tuple[Tensor, Tensor]:
        """Return logits, and the mean over the layers of the edges' log attention."""
        hidden = F.elu(self.norms[0](self.linear(x)))
        hidden = dropout(hidden, self.dropout, self.training)
        likelihoods = []
        for i, layer in enumerate(self.layers):
            attended, likelihood = layer(hidden, relations)
            hidden = dropout(self.norms[i + 1](attended + hidden), self.dropout, self.training)
            likelihoods.append(likelihood)
        return self.classifier(hidden), torch.stack(likelihoods).mean()


def _squared(edge_index: Tensor, nodes: int) -> Tensor:
    """Return the pairs of nodes within two steps of a relation, self-loops included."""
    source, target = edge_index.cpu().numpy()
    ones = torch.ones(edge_index.shape[1]).numpy()
    matrix = sp.csr_array((ones, (source, target)), (nodes, nodes)) + sp.eye_array(nodes)
    row, column = (matrix @ matrix).nonzero()
    pairs = torch.stack([torch.from_numpy(row), torch.from_numpy(column)])
    return pairs.long().to(edge_index.device)


CARDS = (
    Card(
        name="nodeformer",
        model=NodeFormer,
        title="NodeFormer",
        paper="Q. Wu, W. Zhao, Z. Li, D. Wipf and J. Yan. NodeFormer: A Scalable Graph Structure "
        "Learning Transformer for Node Classification. NeurIPS 2022",
        url="https://arxiv.org/abs/2306.08385",
        written="Here, after the authors' nodeformer.py. Their random features are drawn in every "
        "pass from a seed that is a checksum of the queries; here anew in every step of training, "
        "from the run's own stream, and once for all predictions, which so do not vary.",
        checked="Recorded outputs and edge losses of the authors' code with the same random "
        "features, with and without the same noise, and the dense softmax that they approximate.",
    ),
)
