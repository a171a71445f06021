r"""A perceptron that looks at the features of each node and at no edge.

N nodes, F features, D hidden, C classes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from bagcn.baselines.card import Card
from bagcn.ops import Linear, Matrix, as_matrix, dropout

__all__ = ["MLP"]


class MLP(nn.Module):
    r"""The perceptron that graph networks are measured against.

    .. math::
        H^{(l+1)} = \mathrm{ReLU}(H^{(l)} W^{(l)} + b^{(l)})

    without the ReLU in the last layer.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of linear maps.
        dropout: of what enters every map.
        bias: whether the maps have a bias.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        num_layers: int = 2,
        dropout: float = 0.5,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_layers < 1:
            raise ValueError(f"num_layers must be at least 1, got {num_layers}")
        self.dropout = dropout
        widths = [in_channels, *[hidden_channels] * (num_layers - 1), out_channels]
        self.linears = nn.ModuleList(Linear(*w, bias) for w in pairwise(widths))

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for linear in self.linears:
            linear.reset_parameters()  # type: ignore[operator]

    def prepare(
        self, x: Matrix, edge_index: Any, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Any]:
        """Return the features in a form fit for products; the edges as they are."""
        return as_matrix(x), edge_index

    def forward(
        self, x: Matrix, edge_index: Any = None, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C).

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: taken because every model takes it; unused.
            edge_weight: likewise.
        """
        x = as_matrix(x)
        *hidden, last = self.linears
        for linear in hidden:
            x = linear(dropout(x, self.dropout, self.training)).relu()
        out: Tensor = last(dropout(x, self.dropout, self.training))
        return out


CARDS = (
    Card(
        name="mlp",
        model=MLP,
        title="MLP",
        paper="T. N. Kipf and M. Welling. Semi-Supervised Classification with Graph "
        "Convolutional Networks. ICLR 2017 (its baseline)",
        url="https://arxiv.org/abs/1609.02907",
        written="Linear maps on sparse features. Any depth, and a bias that the official recipe "
        "for the citation graphs switches off, as its authors' code does.",
        checked="The dense formula, and MLP of PyTorch Geometric with the same weights.",
    ),
)
