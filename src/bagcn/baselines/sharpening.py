r"""Graph transductive sharpening: a loss for any model that predicts every node.

N nodes, C classes.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from bagcn.baselines.card import Card
from bagcn.baselines.gcn import GCN
from bagcn.ops import Matrix, sharpened_cross_entropy

__all__ = ["Sharpened", "SharpenedGCN"]


class Sharpened:
    r"""The objective of `Graph Transductive Sharpening <https://arxiv.org/abs/2605.20248>`_.

    Any model trained by cross-entropy alone becomes one trained by
    :func:`bagcn.ops.sharpened_cross_entropy` when it inherits from this first, and keeps
    :math:`\lambda_u` as ``sharpening``.
    """

    sharpening: float

    def objective(
        self, x: Matrix, graph: Any, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the cross-entropy and the entropies of all nodes, weighted."""
        logits: Tensor = self(x, graph)  # type: ignore[operator]
        return sharpened_cross_entropy(logits, y, labelled, self.sharpening)


class SharpenedGCN(Sharpened, GCN):
    r"""A graph convolutional network trained with transductive sharpening.

    Args:
        in_channels: F.
        hidden_channels: D.
        out_channels: C.
        num_layers: the number of convolutions.
        dropout: before every convolution.
        bias: whether the convolutions have one.
        sharpening: :math:`\lambda_u`, the weight of the entropies.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        num_layers: int = 2,
        dropout: float = 0.5,
        bias: bool = True,
        sharpening: float = 0.25,
    ) -> None:
        super().__init__(
            in_channels,
            hidden_channels,
            out_channels,
            num_layers=num_layers,
            dropout=dropout,
            bias=bias,
        )
        self.sharpening = sharpening


CARDS = (
    Card(
        name="gcn-ts",
        model=SharpenedGCN,
        title="GCN + TS",
        paper="B. Zaz, M. Gonzàlez I Català, F. Hernandez Caralt, M. Eliasof and P. Liò. Graph "
        "Transductive Sharpening: Leveraging Unlabeled Predictions in Node Classification. "
        "arXiv 2605.20248, 2026",
        url="https://arxiv.org/abs/2605.20248",
        written="The loss here, on this package's GCN. The authors' GCN has a linear map after "
        "the last convolution, and residual connections and LayerNorm on the larger graphs.",
        checked="The dense formula, and recorded values of the authors' loss.",
    ),
)
