"""The BAGCN layer: two views of every node, joined by shortcuts to all other nodes.

N nodes, F features, D hidden.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from bagcn.nn.attention import Precision, biaffine_attention
from bagcn.ops import Linear, Matrix, SparseMatrix, dropout

__all__ = ["Attention", "BiaffineLayer", "Field", "Fusion", "Pair"]

Fusion = Literal["add", "mul"]
Pair = Literal["ego-local", "ego-ego", "local-local"]
Attention = Literal["exact", "none"]
Field = Literal["last", "mean"]


class View(nn.Module):
    r"""One view of the nodes: :math:`\mathrm{ReLU}(\mathrm{Norm}(P X W))`.

    With ``num_hops=0`` it is the ego view (Eq. 2), P being the identity. Else it is the local field
    of so many hops: :math:`P = \hat A^k` (Eq. 1), or with ``field="mean"`` the mean of
    :math:`\hat A^0` to :math:`\hat A^k`. The bias of the equations is the normalisation's: one
    before it would be subtracted again.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        num_hops: int,
        field: Field = "last",
        node_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.num_hops, self.field, self.node_dropout = num_hops, field, node_dropout
        self.linear = Linear(in_channels, hidden_channels, bias=False)
        self.norm = nn.BatchNorm1d(hidden_channels)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.linear.reset_parameters()
        self.norm.reset_parameters()

    def forward(self, x: Matrix, adjacency: SparseMatrix) -> Tensor:
        """Map features (N, F) to the view (N, D)."""
        hidden: Tensor = self.linear(x)
        hidden = hidden * dropout(hidden.new_ones(len(hidden), 1), self.node_dropout, self.training)
        total = hidden
        for _ in range(self.num_hops):
            hidden = adjacency @ hidden
            total = total + hidden
        if self.field == "mean":
            hidden = total / (self.num_hops + 1)
        return torch.relu(self.norm(hidden))


class BiaffineLayer(nn.Module):
    r"""Local field and ego of every node attend to each other over all nodes (section 3.1).

    .. math::
        H_c &= \mathrm{ReLU}(\hat A X W_1 + b_c), &
        H_{ego} &= \mathrm{ReLU}(X \theta + b_\theta) \\
        S_1 &= \mathrm{softmax}(s\, H_c M_1 H_{ego}^\top), &
        S_2 &= \mathrm{softmax}(s\, H_{ego} M_2 H_c^\top) \\
        H_c' &= \mathrm{Norm}(H_c \circ S_1 H_{ego}), &
        H_{ego}' &= \mathrm{Norm}(H_{ego} \circ S_2 H_c)

    where :math:`\circ` is the fusion, and every Norm, the two inside the views (before their
    ReLU) included, is batch normalisation ("for every hidden layer").

    Args:
        in_channels: F.
        hidden_channels: D.
        fusion: :math:`\circ`: ``"add"`` or ``"mul"``.
        pair: which two views meet; the paper's is ``"ego-local"``.
        attention: ``"exact"``, or ``"none"`` for the two views without shortcuts (w/o BA).
        scale: s inside the softmax. ``None`` is :math:`1/\sqrt D`, steadier than the paper's 1.
        num_hops: hops of the local field; the paper's is 1.
        field: ``"last"`` for the nodes at the end of these hops, or ``"mean"`` of all hops.
        node_dropout: of whole nodes' features in the local field.
        input_dropout: on the features, drawn anew for each view.
        activation: ``"relu"`` or ``"none"`` after the fused normalisation.
        precision: of the attention's products, ``"auto"``, ``"fp32"`` or ``"bf16"``.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        *,
        fusion: Fusion = "add",
        pair: Pair = "ego-local",
        attention: Attention = "exact",
        scale: float | None = None,
        num_hops: int = 1,
        field: Field = "last",
        node_dropout: float = 0.0,
        input_dropout: float = 0.0,
        activation: Literal["relu", "none"] = "none",
        precision: Precision = "auto",
    ) -> None:
        super().__init__()
        _one_of("fusion", fusion, get_args(Fusion))
        _one_of("pair", pair, get_args(Pair))
        _one_of("attention", attention, get_args(Attention))
        _one_of("field", field, get_args(Field))
        _one_of("activation", activation, ("relu", "none"))
        _one_of("precision", precision, get_args(Precision))
        if num_hops < 1:
            raise ValueError(f"num_hops must be at least 1, got {num_hops}")
        if hidden_channels < 1:
            raise ValueError(f"hidden_channels must be at least 1, got {hidden_channels}")
        self.hidden_channels = hidden_channels
        self.fusion, self.pair, self.attention = fusion, pair, attention
        self.scale = 1 / math.sqrt(hidden_channels) if scale is None else scale
        self.input_dropout, self.activation, self.precision = input_dropout, activation, precision
        local_field = (num_hops, field, node_dropout)
        self.local = View(
            in_channels, hidden_channels, *((0,) if pair == "ego-ego" else local_field)
        )
        self.ego = View(
            in_channels, hidden_channels, *(local_field if pair == "local-local" else (0,))
        )
        if attention == "exact":
            self.local_metric = nn.Parameter(torch.empty(hidden_channels, hidden_channels))  # M_1
            self.ego_metric = nn.Parameter(torch.empty(hidden_channels, hidden_channels))  # M_2
        self.local_norm = nn.BatchNorm1d(hidden_channels)
        self.ego_norm = nn.BatchNorm1d(hidden_channels)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.local, self.ego, self.local_norm, self.ego_norm):
            module.reset_parameters()
        if self.attention == "exact":
            nn.init.xavier_uniform_(self.local_metric)
            nn.init.xavier_uniform_(self.ego_metric)

    def views(self, x: Matrix, adjacency: SparseMatrix) -> tuple[Tensor, Tensor]:
        """Return the two views before they meet (Eq. 1 and 2): (N, D) each."""
        local = self.local(dropout(x, self.input_dropout, self.training), adjacency)
        ego = self.ego(dropout(x, self.input_dropout, self.training), adjacency)
        return local, ego

    def forward(self, x: Matrix, adjacency: SparseMatrix) -> tuple[Tensor, Tensor]:
        """Map features (N, F) and the normalised adjacency to the two fused views (N, D)."""
        local, ego = self.views(x, adjacency)
        if self.attention == "exact":
            for_local, for_ego = biaffine_attention(
                local, ego, self.local_metric, self.ego_metric, self.scale, self.precision
            )
            local, ego = self._fuse(local, for_local), self._fuse(ego, for_ego)
        local, ego = self.local_norm(local), self.ego_norm(ego)
        if self.activation == "relu":
            return torch.relu(local), torch.relu(ego)
        return local, ego

    def _fuse(self, view: Tensor, attended: Tensor) -> Tensor:
        return view + attended if self.fusion == "add" else view * attended

    def extra_repr(self) -> str:
        """Return the switches, for the printed form."""
        return f"fusion={self.fusion}, pair={self.pair}, attention={self.attention}"


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}; got {value!r}")
