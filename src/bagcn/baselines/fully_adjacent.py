r"""GCN whose last layer connects all nodes.

N nodes, F features, D hidden, C classes, E edges.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["GCNFA"]


class GCNFA(nn.Module):
    r"""GCN with a fully-adjacent last layer, from `On the Bottleneck of Graph Neural Networks and
    its Practical Implications <https://arxiv.org/abs/2006.05205>`_.

    .. math::
        H^{(l+1)} &= \mathrm{ReLU}(\hat A H^{(l)} W^{(l)} + b^{(l)}), \\
        H' &= H^{(L)} + \mathrm{ReLU}\big(\tfrac1N \mathbf 1 \mathbf 1^\top H^{(L)} W + b\big),
        \qquad \hat Y = \mathrm{Norm}(H')\, W_o + b_o

    On the complete graph with self-loops, :math:`\hat A` is :math:`\tfrac1N \mathbf 1 \mathbf
    1^\top`: every node receives the same, the mean of all. Only the residual path (the first
    summand) tells the nodes apart.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of layers, the fully-adjacent one included.
        dropout: before every convolution and before the classifier.
        norm: whether there is a layer normalisation before the classifier.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        norm: bool = False,
    ) -> None:
        super().__init__()
        if num_layers < 2:
            raise ValueError(f"num_layers must be at least 2, got {num_layers}")
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 2)]
        self.convolutions = nn.ModuleList(GraphConvolution(w, hidden_channels) for w in widths)
        self.everyone = Linear(hidden_channels, hidden_channels)
        self.norm = nn.LayerNorm(hidden_channels) if norm else None
        self.output = Linear(hidden_channels, out_channels)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (*self.convolutions, self.everyone, self.norm, self.output):
            if module is not None:
                module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = next(self.parameters()).dtype
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
        for convolution in self.convolutions:
            x = convolution(dropout(x, self.dropout, self.training), edge_index).relu()
        assert isinstance(x, Tensor)
        h = x + torch.relu(self.everyone(x.mean(0, keepdim=True)))  # (N, D) + (1, D)
        if self.norm is not None:
            h = self.norm(h)
        out: Tensor = self.output(dropout(h, self.dropout, self.training))
        return out


CARDS = (
    Card(
        name="gcn-fa",
        model=GCNFA,
        title="GCN+FA",
        paper="U. Alon and E. Yahav. On the Bottleneck of Graph Neural Networks and its Practical "
        "Implications. ICLR 2021",
        url="https://arxiv.org/abs/2006.05205",
        written="With the residual path that the authors' code switches on by default. The GCN "
        "version that J. Topping et al. (2022) compare with has none in its released code: its "
        "last layer maps the sum of all nodes, so that all nodes get the same logits and none "
        "can be told from another. With the path, the layer adds one learned vector to all nodes.",
        checked="A dense formula on the complete graph; GCNConv of PyTorch Geometric on all pairs "
        "of nodes with the same weights.",
    ),
)
