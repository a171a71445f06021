r"""Biaffine attention between two views of all nodes, exact and linear in memory.

N nodes (queries), K nodes (keys), D hidden, H heads (here: the two directions).

The paper's :math:`S = \mathrm{softmax}(H_c M H_{ego}^\top)` (Eq. 3) and :math:`S H_{ego}` (Eq. 5)
are scaled dot-product attention with queries :math:`H_c M` and keys and values :math:`H_{ego}`.
So nothing of size N × N is made: the fused kernels go over the keys block by block.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["Precision", "attend", "attention_weights", "biaffine_attention"]

Precision = Literal["auto", "fp32", "bf16"]


def attention_weights(query: Tensor, key: Tensor, scale: float | Tensor = 1.0) -> Tensor:
    """Return the attention of each query over all keys, dense: (N, D), (K, D) to (N, K).

    The reference formula: tests compare with it, and explanations use it for blocks of queries.
    """
    return (query @ key.T * scale).softmax(dim=-1)


def attend(
    query: Tensor, key: Tensor, value: Tensor, scale: float, precision: Precision = "auto"
) -> Tensor:
    """Return ``attention_weights(query, key, scale) @ value`` without the weights.

    All three are (H, N, D), heads first; ``precision`` is that of the products, the sums of the
    softmax are kept in float32 either way. ``"auto"`` is bf16 for float32 on a GPU, which is many
    times faster there and leaves the accuracy as it is. On a CPU it stays float32: with
    avx512_bf16, bf16 takes 0.20 s instead of 0.22 s an epoch on Cora (one thread), and blocks of
    plain bf16 products lose to the fused kernel over the softmax between them.
    """
    dtype = query.dtype
    if precision == "bf16" or (precision == "auto" and query.is_cuda and dtype == torch.float32):
        query, key, value = query.bfloat16(), key.bfloat16(), value.bfloat16()
    if any(map(torch._C._functorch.is_batchedtensor, (query, key, value))):  # a population
        out: Tensor = _Members.apply(query, key, value, scale)  # type: ignore[no-untyped-call]
    else:
        out = _fused(query[None], key[None], value[None], scale)[0]
    return out.to(dtype)


def _fused(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, scale=scale)


class _Members(torch.autograd.Function):
    """Hands a population's members to one fused call as its batch.

    :func:`torch.vmap` would call the CPU's kernel once for each. The gradient is recorded by the
    fused call itself, outside of vmap, so that there is none to define here.
    """

    @staticmethod
    def forward(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
        return _fused(query, key, value, scale)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Tensor, int]:
        query, key, value = (
            tensor.expand(info.batch_size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(args[:3], in_dims[:3], strict=True)
        )
        return _fused(query, key, value, args[3]), 0


def biaffine_attention(
    first: Tensor,
    second: Tensor,
    first_metric: Tensor,
    second_metric: Tensor,
    scale: float,
    precision: Precision = "auto",
) -> tuple[Tensor, Tensor]:
    r"""Let two views attend to each other (Eq. 3-6), both directions in one call.

    Args:
        first: :math:`H_c`, (N, D).
        second: :math:`H_{ego}`, (N, D).
        first_metric: :math:`M_1`, (D, D).
        second_metric: :math:`M_2`, (D, D).
        scale: of the scores inside the softmax; the paper's is 1.
        precision: of the products.

    Returns:
        :math:`H_c^a = S_1 H_{ego}` and :math:`H_{ego}^a = S_2 H_c`, both (N, D).
    """
    queries = torch.stack([first @ first_metric, second @ second_metric])  # (2, N, D)
    others = torch.stack([second, first])  # (2, N, D)
    attended = attend(queries, others, others, scale, precision)
    return attended[0], attended[1]
