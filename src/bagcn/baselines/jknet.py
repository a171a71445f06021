r"""Jumping knowledge: every layer's features reach the classifier.

N nodes, F features, D hidden, C classes, E edges, L layers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GraphConvolution
from bagcn.ops import Linear, Matrix, SparseMatrix, as_matrix, dropout, normalized_adjacency

__all__ = ["JKNet", "LSTMAttention"]

Mode = Literal["cat", "max", "lstm"]


class LSTMAttention(nn.Module):
    r"""Weigh the layers of every node by what an LSTM reads in their sequence.

    .. math::
        \alpha_v = \mathrm{softmax}_l(w^\top [f_v^{(l)} \| b_v^{(l)}]), \qquad
        h_v = \sum_l \alpha_v^{(l)} h_v^{(l)}

    with the states f and b of an LSTM that reads forwards and of one that reads backwards.
    :class:`torch.nn.LSTM` is one fused call that cannot be vectorised over members; this one is
    written in products and has its gates in the same order.

    Args:
        channels: D.
        state_channels: width of the states, in each direction.
    """

    def __init__(self, channels: int, state_channels: int) -> None:
        super().__init__()
        gates = 4 * state_channels
        self.inputs = nn.ModuleList(Linear(channels, gates) for _ in range(2))
        self.states = nn.ModuleList(Linear(state_channels, gates) for _ in range(2))
        # a bias would move all layers' scores alike, which the softmax does not see
        self.score = Linear(2 * state_channels, 1, bias=False, init="kaiming")
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew, those of the LSTM as :class:`torch.nn.LSTM` does."""
        bound = (self.score.in_channels / 2) ** -0.5
        for parameter in (*self.inputs.parameters(), *self.states.parameters()):
            nn.init.uniform_(parameter, -bound, bound)
        self.score.reset_parameters()

    def forward(self, layers: list[Tensor]) -> Tensor:
        """Map L tensors (N, D) to one."""
        backwards = self._read(1, layers[::-1])[::-1]
        states = zip(self._read(0, layers), backwards, strict=True)
        scores = torch.cat([self.score(torch.cat(both, 1)) for both in states], 1)  # (N, L)
        return (scores.softmax(1)[..., None] * torch.stack(layers, 1)).sum(1)

    def _read(self, direction: int, layers: list[Tensor]) -> list[Tensor]:
        """Return the state after each layer, (N, state_channels)."""
        read, recall = self.inputs[direction], self.states[direction]
        width = self.score.in_channels // 2
        state = cell = layers[0].new_zeros(layers[0].shape[0], width)
        states = []
        for layer in layers:
            gates = (read(layer) + recall(state)).chunk(4, dim=1)
            keep_new, keep_old, show = (gates[i].sigmoid() for i in (0, 1, 3))
            cell = keep_old * cell + keep_new * gates[2].tanh()
            state = show * cell.tanh()
            states.append(state)
        return states


class JKNet(nn.Module):
    r"""The model from `Representation Learning on Graphs with Jumping Knowledge Networks
    <https://arxiv.org/abs/1806.03536>`_.

    .. math::
        H^{(l)} &= \mathrm{ReLU}(\hat A H^{(l-1)} W^{(l)} + b^{(l)}) \\
        Z &= \mathrm{JK}(H^{(1)}, \dots, H^{(L)}) W + b

    where JK concatenates, takes the largest entry of every column, or weighs the layers of each
    node by an attention.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: L.
        mode: ``"cat"``, ``"max"`` or ``"lstm"``.
        dropout: of what enters every convolution and the last map.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int = 6,
        mode: Mode = "cat",
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        if mode not in get_args(Mode):
            raise ValueError(f"mode must be one of {', '.join(get_args(Mode))}; got {mode!r}")
        self.mode, self.dropout = mode, dropout
        widths = [in_channels, *[hidden_channels] * num_layers]
        self.convolutions = nn.ModuleList(GraphConvolution(*w) for w in pairwise(widths))
        states = num_layers * hidden_channels // 2
        self.attention = LSTMAttention(hidden_channels, states) if mode == "lstm" else None
        joined = num_layers * hidden_channels if mode == "cat" else hidden_channels
        self.linear = Linear(joined, out_channels, init="kaiming")

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for convolution in self.convolutions:
            convolution.reset_parameters()  # type: ignore[operator]
        if self.attention is not None:
            self.attention.reset_parameters()
        self.linear.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        r"""Return what is computed from the graph once: features fit for products, and Â."""
        dtype = self.linear.weight.dtype
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
        layers: list[Tensor] = []
        for convolution in self.convolutions:
            hidden = convolution(dropout(x, self.dropout, self.training), edge_index).relu()
            layers.append(hidden)
            x = hidden
        out: Tensor = self.linear(dropout(self._jump(layers), self.dropout, self.training))
        return out

    def _jump(self, layers: list[Tensor]) -> Tensor:
        if self.attention is not None:
            joined: Tensor = self.attention(layers)
            return joined
        return torch.cat(layers, 1) if self.mode == "cat" else torch.stack(layers).amax(0)


CARDS = (
    Card(
        name="jknet",
        model=JKNet,
        title="JKNet",
        paper="K. Xu, C. Li, Y. Tian, T. Sonobe, K. Kawarabayashi and S. Jegelka. Representation "
        "Learning on Graphs with Jumping Knowledge Networks. ICML 2018",
        url="https://arxiv.org/abs/1806.03536",
        written="GCN layers, and all three ways to join them; there is no authors' code. The LSTM "
        "is written out, so that members can be stacked.",
        checked="GCN with jk= of PyTorch Geometric with the same weights, in all three modes.",
    ),
)
