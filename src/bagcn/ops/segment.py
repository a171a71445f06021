"""What happens along edges: look up both ends, and sum, maximise or normalise what arrives.

N nodes, K nodes that send, E edges, H heads, D columns.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bagcn.ops.sparse import Pattern, SparseMatrix

__all__ = ["Edges"]


class Edges:
    """The edges of a graph, sorted by the node that receives.

    Everything here is differentiable, works under :func:`torch.vmap` (members of a population
    become columns) and does not make the host wait for the device.

    Args:
        adjacency: row ``i`` holds what node ``i`` receives, its entries are the weights.
    """

    def __init__(self, adjacency: SparseMatrix) -> None:
        self.pattern, self.weight = adjacency.pattern, adjacency.values  # weight: (E,)
        count, (nodes, senders) = self.weight.numel(), adjacency.shape
        place = torch.arange(count + 1, dtype=torch.int32, device=adjacency.device)
        self._targets = Pattern(place, self.pattern.row, (count, nodes))
        self._sources = Pattern(place, self.pattern.col, (count, senders))

    def sources(self, x: Tensor) -> Tensor:
        """Return what stands at the sending end of every edge: (K, ...) to (E, ...)."""
        return _incidence(self._sources, False, x)

    def targets(self, x: Tensor) -> Tensor:
        """Return what stands at the receiving end of every edge: (N, ...) to (E, ...)."""
        return _incidence(self._targets, False, x)

    def sum(self, messages: Tensor) -> Tensor:
        """Add up what arrives at every node: (E, ...) to (N, ...)."""
        return _incidence(self._targets, True, messages)

    def mean(self, x: Tensor) -> Tensor:
        """Return the mean of the senders' (K, D), weighted by the edges; 0 where none arrives."""
        total = self.sum(self.weight).unsqueeze(-1)  # (N, 1)
        summed = SparseMatrix(self.pattern, self.weight) @ x
        return summed / total.masked_fill(total == 0, 1.0)

    def max(self, messages: Tensor) -> Tensor:
        """Return the largest that arrives, (E, ...) to (N, ...); 0 where nothing does.

        Ties share the gradient, as in :func:`torch.amax`.
        """
        out = _maximum(self._targets, self.pattern.crow, _columns(messages))
        return out.reshape(out.shape[0], *messages.shape[1:])

    def softmax(self, scores: Tensor, weight: Tensor | None = None) -> Tensor:
        r"""Normalise over the edges that arrive at a node: (E, ...) to (E, ...).

        .. math:: \alpha_{ij} = w_{ij} e^{s_{ij}} / \sum_k w_{ik} e^{s_{ik}}

        An edge of weight 0 is then no edge at all, and one of weight 2 counts as two.

        Args:
            scores: :math:`s`.
            weight: :math:`w` (E,), not negative; ones if not given.
        """
        shift = self.targets(self.max(scores.detach()))  # changes nothing but the overflow
        power = (scores - shift).exp()
        if weight is not None:
            power = power * weight.view(-1, *[1] * (scores.dim() - 1))
        total = self.sum(power)
        return power / self.targets(total.masked_fill(total == 0, 1.0))

    def weighted_sum(self, coefficients: Tensor, x: Tensor) -> Tensor:
        r"""Return :math:`\sum_j c_{ij}^h x_j^h`, with coefficients of every head's own.

        One product with a block-diagonal matrix: no message is ever stored.

        Args:
            coefficients: (E, H).
            x: what the senders send, (K, H, D).

        Returns:
            (N, H, D)
        """
        heads, columns = x.shape[1:]
        matrix = SparseMatrix(self.pattern.blocks(heads), coefficients.t().reshape(-1))
        out = matrix @ x.transpose(0, 1).reshape(-1, columns)  # (H * N, D)
        return out.view(heads, -1, columns).transpose(0, 1)


def _columns(x: Tensor) -> Tensor:
    return x.flatten(1) if x.dim() > 1 else x[:, None]


def _apart(wide: Tensor, members: int) -> Tensor:
    """Take members that lie side by side as columns apart: (N, M * D) to (N, M, D)."""
    return wide.view(wide.shape[0], members, wide.shape[1] // members)


class _Incidence(torch.autograd.Function):
    """Look up one row for every edge, or add up the edges of every row: each other's backward.

    The pattern has a row for every edge, and one entry in it.
    """

    @staticmethod
    def forward(pattern: Pattern, add: bool, columns: Tensor) -> Tensor:
        if not add:
            return columns.index_select(0, pattern.col)
        ones = torch.ones(pattern.col.numel(), dtype=columns.dtype, device=columns.device)
        return pattern.transposed[0].matmul(ones, columns)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Pattern, bool, Tensor], output: Tensor) -> None:
        ctx.pattern, ctx.add, _ = inputs

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor]:
        return None, None, _incidence(ctx.pattern, not ctx.add, grad.contiguous())

    @staticmethod
    def vmap(info: Any, in_dims: tuple[None, None, int], *args: Any) -> tuple[Tensor, int]:
        pattern, add, columns = args
        wide = columns.movedim(in_dims[2], 1).flatten(1)  # (K or E, M * D)
        return _apart(_incidence(pattern, add, wide), info.batch_size), 1


def _incidence(pattern: Pattern, add: bool, x: Tensor) -> Tensor:
    """Look up or add up rows of any shape."""
    columns = x if x.dim() == 2 else _columns(x)
    out: Tensor = _Incidence.apply(pattern, add, columns)  # type: ignore[no-untyped-call]
    return out if x.dim() == 2 else out.reshape(out.shape[0], *x.shape[1:])


class _Maximum(torch.autograd.Function):
    """The largest that arrives at every node, columnwise and vectorised by hand."""

    @staticmethod
    def forward(targets: Pattern, crow: Tensor, messages: Tensor) -> Tensor:
        out = torch.segment_reduce(messages, "max", offsets=crow, axis=0, unsafe=True)
        return out.masked_fill((crow.diff() == 0)[:, None], 0.0)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Pattern, Tensor, Tensor], output: Tensor) -> None:
        ctx.targets, _, messages = inputs
        ctx.save_for_backward(messages, output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor]:
        messages, largest = ctx.saved_tensors
        won = (messages == _incidence(ctx.targets, False, largest)).to(grad.dtype)
        share = grad / _incidence(ctx.targets, True, won).clamp_min(1)
        return None, None, won * _incidence(ctx.targets, False, share)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[None, None, int], *args: Any) -> tuple[Tensor, int]:
        targets, crow, messages = args
        wide = messages.movedim(in_dims[2], 1).flatten(1)  # (E, M * D)
        return _apart(_maximum(targets, crow, wide), info.batch_size), 1


def _maximum(targets: Pattern, crow: Tensor, messages: Tensor) -> Tensor:
    return _Maximum.apply(targets, crow, messages)  # type: ignore[no-any-return, no-untyped-call]
