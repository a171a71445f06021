r"""Classic graph networks with the parts that make them strong baselines.

N nodes, F features, D hidden, C classes, E edges.
"""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gat import GraphAttention
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import Edges, Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["ClassicGNN", "Convolution", "Norm"]

Convolution = Literal["gcn", "sage", "gat"]
Norm = Literal["none", "layer", "batch"]


class MeanConvolution(nn.Module):
    r"""Map features to :math:`W_s h_i + W_a\,\mathrm{mean}_j h_j + b`."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.own = Linear(in_channels, out_channels, bias=False, init="kaiming")
        self.received = Linear(in_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.own.reset_parameters()
        self.received.reset_parameters()

    def forward(self, x: Matrix, mean: SparseMatrix) -> Tensor:
        """Map (N, in) to (N, out); the rows of the matrix sum to one."""
        received = mean @ (x @ self.received.weight)
        assert self.received.bias is not None
        out: Tensor = self.own(x) + received + self.received.bias
        return out


class Block(nn.Module):
    """A convolution, its residual map and its norm."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        convolution: Convolution,
        heads: int,
        residual: bool,
        norm: Norm,
    ) -> None:
        super().__init__()
        if convolution == "gat":
            width = out_channels // heads
            self.convolution: nn.Module = GraphAttention(in_channels, width, heads, bias=False)
        else:
            kind = GraphConvolution if convolution == "gcn" else MeanConvolution
            self.convolution = kind(in_channels, out_channels)
        self.residual = Linear(in_channels, out_channels, init="kaiming") if residual else None
        norms = {"none": nn.Identity, "layer": nn.LayerNorm, "batch": nn.BatchNorm1d}
        self.norm: nn.Module = norms[norm](out_channels)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.convolution, self.residual, self.norm):
            if module is not None and not isinstance(module, nn.Identity):
                module.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Matrix, graph: SparseMatrix | Edges) -> Tensor:
        """Map (N, in) to (N, out)."""
        out = self.convolution(x, graph)
        if self.residual is not None:
            out = out + self.residual(x)
        return torch.relu(self.norm(out))


class ClassicGNN(nn.Module):
    r"""GCN, GraphSAGE or GAT as in `Classic GNNs are Strong Baselines: Reassessing GNNs for Node
    Classification <https://arxiv.org/abs/2406.08993>`_.

    .. math::
        H^{(l+1)} = \mathrm{Dropout}\big(\mathrm{ReLU}\big(\mathrm{Norm}\big(
            \mathrm{Conv}(H^{(l)}, A) + H^{(l)} W_r^{(l)}\big)\big)\big), \qquad
        \hat Y = H^{(L)} W_o

    where norm, residual map :math:`W_r`, and a linear map before the first layer are optional.
    Every node is its own neighbour. The weight of an edge counts in the norm of GCN, in the mean
    of SAGE, and inside the softmax of GAT.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        convolution: ``"gcn"``, ``"sage"`` or ``"gat"``.
        num_layers: L.
        dropout: after every layer, and after the linear map before them.
        norm: ``"none"``, ``"layer"`` or ``"batch"``.
        residual: whether a layer adds a linear map of its input.
        input_linear: whether a linear map comes before the first layer.
        jumping: whether the classifier sees the sum of all layers, not the last.
        heads: of GAT, which share the D columns.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        convolution: Convolution = "gcn",
        num_layers: int = 2,
        dropout: float = 0.5,
        norm: Norm = "none",
        residual: bool = False,
        input_linear: bool = False,
        jumping: bool = False,
        heads: int = 1,
    ) -> None:
        super().__init__()
        _one_of("convolution", convolution, get_args(Convolution))
        _one_of("norm", norm, get_args(Norm))
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        if hidden_channels % heads:
            raise ValueError(f"{heads} heads cannot share {hidden_channels} hidden channels evenly")
        self.convolution, self.dropout, self.jumping = convolution, dropout, jumping
        widths = [in_channels, *[hidden_channels] * num_layers]
        self.input = None
        if input_linear:
            self.input = Linear(in_channels, hidden_channels, init="kaiming")
            widths[0] = hidden_channels
        self.blocks = nn.ModuleList(
            Block(
                width,
                hidden_channels,
                convolution=convolution,
                heads=heads,
                residual=residual,
                norm=norm,
            )
            for width in widths[:-1]
        )
        self.output = Linear(hidden_channels, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.input, *self.blocks, self.output):
            if module is not None:
                module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix | Edges]:
        """Return features fit for products, and the graph as the convolution wants it."""
        norms = {"gcn": "symmetric", "sage": "row", "gat": "none"}
        adjacency = normalized_adjacency(
            edge_index,
            edge_weight,
            x.shape[0],
            norm=norms[self.convolution],  # type: ignore[arg-type]
            dtype=next(self.parameters()).dtype,
        )
        return as_matrix(x), Edges(adjacency) if self.convolution == "gat" else adjacency

    def forward(
        self,
        x: Matrix,
        edge_index: Tensor | SparseMatrix | Edges,
        edge_weight: Tensor | None = None,
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or what :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared graph.
        """
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        if self.input is not None:
            x = dropout(self.input(x), self.dropout, self.training)
        layers = []
        for block in self.blocks:
            x = dropout(block(x, edge_index), self.dropout, self.training)
            layers.append(x)
        out: Tensor = self.output(sum(layers) if self.jumping else layers[-1])
        return out


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")


def _card(convolution: Convolution, title: str) -> Card:
    return Card(
        name=f"classic-{convolution}",
        model=ClassicGNN,
        title=title,
        paper="Y. Luo, L. Shi and X.-M. Wu. Classic GNNs are Strong Baselines: Reassessing GNNs "
        "for Node Classification. NeurIPS 2024, Datasets and Benchmarks",
        url="https://arxiv.org/abs/2406.08993",
        written="As the authors' code for graphs of medium size: no dropout on the features, "
        "initial weights as in PyTorch, nodes that are their own neighbours in all three. Parts "
        "that are switched off hold no parameters; several heads share the hidden columns.",
        checked="A dense formula; the layers of PyTorch Geometric that the authors' code uses, "
        "with the same weights.",
        arguments=(("convolution", convolution),),
    )


CARDS = (
    _card("gcn", "Classic GCN"),
    _card("sage", "Classic GraphSAGE"),
    _card("gat", "Classic GAT"),
)
