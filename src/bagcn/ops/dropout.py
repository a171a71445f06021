"""Dropout whose mask is a function of a key, not of a generator's state.

A run's key is made of its seed and its epoch, and every dropout of a forward pass takes the next
number under that key. So a seed draws the same masks alone, in a population, after a resume and
on any device, and no generator has to be saved or captured. Without a key (a model used in
someone's own training script), torch's generator is used, as everywhere in PyTorch.

The mask is a 32-bit integer hash of the element's position: xor, shift, multiply, twice over,
with constants that are known to mix well (C. Wellons, "Prospecting for hash functions").
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, overload

import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.ops.sparse import Matrix, SparseMatrix

__all__ = ["dropout", "permutation", "random_stream", "stream_key", "uniform"]

Rate = float | Tensor

_FIRST, _SECOND, _GOLDEN = 0x7FEB352D, 0x846CA68B - 2**32, 0x9E3779B9 - 2**32
_HALF, _FULL = 2**31, 2**32


@dataclass
class _Stream:
    key: Tensor  # () int32
    used: int = 0


_current: ContextVar[_Stream | None] = ContextVar("bagcn_random_stream", default=None)


@contextmanager
def random_stream(key: Tensor) -> Iterator[None]:
    """Draw every dropout mask inside the block from this key."""
    token = _current.set(_Stream(key))
    try:
        yield
    finally:
        _current.reset(token)


def stream_key(seed: Tensor, epoch: Tensor) -> Tensor:
    """Return the key of one epoch of one seed; both are int32 tensors that broadcast."""
    return _mix(seed * _GOLDEN ^ _mix(epoch + 1, 0), 0)


@overload
def dropout(x: Tensor, p: Rate, training: bool = True) -> Tensor: ...
@overload
def dropout(x: Matrix, p: Rate, training: bool = True) -> Matrix: ...
def dropout(x: Matrix, p: Rate, training: bool = True) -> Matrix:
    """Zero entries with probability ``p`` and scale the others by 1 / (1 - p).

    Of a sparse matrix only the stored entries are touched. ``p`` may be a tensor, one value for
    each member of a population.
    """
    if not isinstance(p, Tensor) and not 0 <= p < 1:
        raise ValueError(f"dropout must be from 0 to below 1, got {p}")
    if not training or (not isinstance(p, Tensor) and p == 0):
        return x
    if isinstance(x, SparseMatrix):
        return x.with_values(dropout(x.values, p))
    stream = _current.get()
    if stream is None:
        return F.dropout(x, float(p))
    if isinstance(p, Tensor):
        threshold: int | Tensor = (p.double() * _FULL - _HALF).to(torch.int32)
    else:
        threshold = round(p * _FULL) - _HALF
    return x * ((_hashed(x, stream) >= threshold) / (1 - p))


def uniform(like: Tensor) -> Tensor:
    """Return numbers from [0, 1) in the shape and type of ``like``: for all that is not dropout."""
    stream = _current.get()
    if stream is None:
        return torch.rand_like(like)
    # 24 bits are what a float32 below 1 can hold
    return ((_hashed(like, stream) >> 8) & 0xFFFFFF).to(like.dtype) / 2**24


def permutation(like: Tensor) -> Tensor:
    """Return the numbers 0 to N - 1 in random order, for ``like`` of shape (N,)."""
    return uniform(like).argsort(stable=True)


def _hashed(like: Tensor, stream: _Stream) -> Tensor:
    """Return the next random 32-bit integers of the stream, in the shape of ``like``."""
    stream.used += 1
    position = torch.arange(like.numel(), dtype=torch.int32, device=like.device).view(like.shape)
    inner = stream.key + stream.used * 2
    if like.is_cuda:
        return _Fused.apply(position, inner, stream.key)  # type: ignore[no-any-return, no-untyped-call]
    return _mix(position ^ _mix(inner, 0), stream.key)


def _mix(x: Tensor, between: Tensor | int) -> Tensor:
    """Hash int32 to int32; what stands between the rounds keeps equal positions apart."""
    x = (x ^ ((x >> 16) & 0xFFFF)).mul_(_FIRST).add_(between)
    x.bitwise_xor_((x >> 15) & 0x1FFFF).mul_(_SECOND)
    return x.bitwise_xor_((x >> 16) & 0xFFFF)


_KERNEL = """
template <typename T> T hashed(T position, T inner, T key) {
  unsigned x = inner;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  x = (x ^ (x >> 16)) ^ unsigned(position);
  x = (x ^ (x >> 16)) * 0x7feb352du + unsigned(key);
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return T(x ^ (x >> 16));
}
"""


@cache
def _kernel() -> Any:
    return torch.cuda.jiterator._create_jit_fn(_KERNEL)


class _Fused(torch.autograd.Function):
    """``_mix(position ^ _mix(inner, 0), key)`` as one kernel on a GPU.

    The two dozen that it would be otherwise are up to a fifth of a training step.
    """

    @staticmethod
    def forward(position: Tensor, inner: Tensor, key: Tensor) -> Tensor:
        return _kernel()(position, inner, key)  # type: ignore[no-any-return]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], position: Tensor, *keys: Tensor
    ) -> tuple[Tensor, int]:
        keys = tuple(key.view(-1, *[1] * position.dim()) for key in keys)
        return _Fused.forward(position, *keys), 0
