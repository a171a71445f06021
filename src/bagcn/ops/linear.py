"""A linear map that takes dense and sparse features alike."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from bagcn.ops.sparse import Matrix

__all__ = ["Linear"]


class Linear(nn.Module):
    r"""Compute :math:`X W + b`, where X is dense or a :class:`~bagcn.ops.SparseMatrix`.

    Args:
        in_channels: F, the columns of X.
        out_channels: D, the columns of the result.
        bias: whether to add b.
        init: ``"glorot"`` (zero bias) as in most graph networks, or ``"kaiming"`` as in
            :class:`torch.nn.Linear`.
    """

    def __init__(
        self, in_channels: int, out_channels: int, bias: bool = True, init: str = "glorot"
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels, self.init = in_channels, out_channels, init
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))  # (F, D)
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        if self.init == "glorot":
            bound, bias_bound = math.sqrt(6 / (self.in_channels + self.out_channels)), 0.0
        else:
            bound = bias_bound = 1 / math.sqrt(self.in_channels)
        nn.init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -bias_bound, bias_bound)

    def forward(self, x: Matrix) -> Tensor:
        """Map (N, F) to (N, D)."""
        out = x @ self.weight
        return out if self.bias is None else out + self.bias

    def extra_repr(self) -> str:
        """Return the shape, for the printed form."""
        return f"{self.in_channels}, {self.out_channels}, bias={self.bias is not None}"
