"""Sparse matrices that are prepared once and multiplied often.

N rows, K columns, E stored entries, D columns of the dense factor, M members of a population.

:mod:`torch.sparse` forgets the transpose between two calls and cannot be vectorised with
:func:`torch.vmap`. Here the transpose is stored, and members of a population share one pattern:
as columns of a wider dense factor where they share the entries too, and as the blocks of a
block-diagonal matrix where each has its own (after dropout, say).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

__all__ = ["Matrix", "Pattern", "SparseMatrix", "as_matrix"]


def _silence_beta_notice() -> None:
    """Spend torch's once-only notices about CSR tensors (beta, unchecked) out of users' sight."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 0], [], [], size=(1, 1))


_silence_beta_notice()


class Pattern:
    """Where the entries of a sparse matrix stand: compressed rows, 32-bit indices."""

    def __init__(self, crow: Tensor, col: Tensor, shape: tuple[int, int]) -> None:
        self.crow = crow.to(torch.int32)  # (N + 1,)
        self.col = col.to(torch.int32)  # (E,)
        self.shape = shape
        self._blocks: dict[int, Pattern] = {}
        self._block, self._copies = self, 1  # what this is the block-diagonal of, and how often

    @cached_property
    def row(self) -> Tensor:
        """Return the row of every entry: (E,)."""
        rows = torch.arange(self.shape[0], dtype=torch.int32, device=self.crow.device)
        return rows.repeat_interleave(self.crow.diff(), output_size=self.col.numel())

    @cached_property
    def transposed(self) -> tuple[Pattern, Tensor]:
        """Return the transpose and where each of its entries stands in this pattern."""
        order = torch.argsort(self.col, stable=True)
        counts = torch.bincount(self.col, minlength=self.shape[1])
        crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return Pattern(crow, self.row[order], (self.shape[1], self.shape[0])), order

    def blocks(self, members: int) -> Pattern:
        """Return the block-diagonal pattern of so many copies; it is kept for the next call."""
        if members not in self._blocks:
            self._blocks[members] = self._repeat(members)
        return self._blocks[members]

    def _repeat(self, members: int) -> Pattern:
        (rows, columns), entries = self.shape, self.col.numel()
        if members * max(rows, columns, entries) >= 2**31:
            raise ValueError(
                f"{members} copies of a {rows:,} × {columns:,} matrix with {entries:,} entries are "
                "more than 32-bit indices can count: compute fewer together (--max-memory)"
            )
        member = torch.arange(members, dtype=torch.int32, device=self.col.device)[:, None]
        col = (self.col + member * columns).flatten()
        crow = torch.cat([self.crow[:1], (self.crow[1:] + member * entries).flatten()])
        repeated = Pattern(crow, col, (members * rows, members * columns))
        repeated._block, repeated._copies = self._block, members * self._copies
        return repeated

    def matmul(self, values: Tensor, dense: Tensor) -> Tensor:
        """Multiply with a dense matrix, without autograd: (N, D)."""
        csr = torch.sparse_csr_tensor(
            self.crow, self.col, values, size=self.shape, check_invariants=False
        )
        return csr @ dense

    def sampled(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the scalar products of rows, (N, D) with (K, D), at the stored places: (E,).

        The copies of a block lie side by side as columns: looking up few long rows is many times
        faster on a GPU than many short ones.
        """
        block, copies = self._block, self._copies
        left, right = (
            side.view(copies, -1, side.shape[-1]).transpose(0, 1).flatten(1)
            for side in (left, right)
        )
        products = left.index_select(0, block.row) * right.index_select(0, block.col)
        apart = products.view(len(products), copies, products.shape[1] // copies)
        return apart.sum(-1).t().flatten()

    def to(self, device: torch.device | str) -> Pattern:
        """Return the pattern on another device."""
        if self.col.device == torch.device(device):
            return self
        return Pattern(self.crow.to(device), self.col.to(device), self.shape)


class _Product(torch.autograd.Function):
    """Sparse times dense, differentiable in both and vectorised by hand."""

    @staticmethod
    def forward(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
        return pattern.matmul(values, dense)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Pattern, Tensor, Tensor], output: Tensor) -> None:
        ctx.pattern, values, dense = inputs
        ctx.save_for_backward(values, dense if values.requires_grad else None)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        grad_values = grad_dense = None
        if ctx.needs_input_grad[1]:
            grad_values = ctx.pattern.sampled(grad.contiguous(), dense.contiguous())
        if ctx.needs_input_grad[2]:
            transposed, order = ctx.pattern.transposed
            grad_dense = transposed.matmul(values.index_select(0, order), grad.contiguous())
        return None, grad_values, grad_dense

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[None, int | None, int | None], *args: Any
    ) -> tuple[Tensor, int]:
        pattern, values, dense = args
        members = info.batch_size
        if in_dims[1] is None:  # one matrix for all: the members lie side by side as columns
            columns = dense.movedim(in_dims[2], 1).flatten(1)  # (K, M * D)
            product = _product(pattern, values, columns)
            return product.view(product.shape[0], members, -1), 1
        values = values.movedim(in_dims[1], 0).flatten()  # (M * E,)
        if in_dims[2] is None:
            dense = dense.expand(members, *dense.shape)
        else:
            dense = dense.movedim(in_dims[2], 0)
        product = _product(pattern.blocks(members), values, dense.flatten(0, 1))
        return product.view(members, -1, product.shape[-1]), 0


def _product(pattern: Pattern, values: Tensor, dense: Tensor) -> Tensor:
    return _Product.apply(pattern, values, dense)  # type: ignore[no-any-return, no-untyped-call]


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix (N, K) whose entries may carry a gradient.

    ``matrix @ dense`` is differentiable in the entries and in the dense factor, and works under
    :func:`torch.vmap` with either of them batched.
    """

    pattern: Pattern
    values: Tensor  # (E,)

    @classmethod
    def from_coo(
        cls, row: Tensor, col: Tensor, values: Tensor, shape: tuple[int, int]
    ) -> SparseMatrix:
        """Build from entries in any order; repeated places add up."""
        order = torch.argsort(row * shape[1] + col, stable=True)
        counts = torch.bincount(row, minlength=shape[0])
        crow = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        return cls(Pattern(crow, col[order], shape), values[order])

    @classmethod
    def from_csr(cls, tensor: Tensor) -> SparseMatrix:
        """Build from a torch sparse CSR tensor."""
        shape = (tensor.shape[0], tensor.shape[1])
        return cls(Pattern(tensor.crow_indices(), tensor.col_indices(), shape), tensor.values())

    @property
    def shape(self) -> tuple[int, int]:
        """Return (N, K)."""
        return self.pattern.shape

    @property
    def device(self) -> torch.device:
        """Return where the entries live."""
        return self.values.device

    def __matmul__(self, dense: Tensor) -> Tensor:
        return _product(self.pattern, self.values, dense)

    def with_values(self, values: Tensor) -> SparseMatrix:
        """Return the same pattern with other entries."""
        return SparseMatrix(self.pattern, values)

    def to(self, device: torch.device | str) -> SparseMatrix:
        """Return the matrix on another device."""
        return SparseMatrix(self.pattern.to(device), self.values.to(device))

    def to_dense(self) -> Tensor:
        """Return the dense matrix: for tests and small graphs."""
        dense = self.values.new_zeros(self.shape)
        return dense.index_put(
            (self.pattern.row.long(), self.pattern.col.long()), self.values, accumulate=True
        )


Matrix = Tensor | SparseMatrix


def as_matrix(x: Matrix) -> Matrix:
    """Return features in the form that products are fast in: dense as they are, CSR prepared."""
    if isinstance(x, Tensor) and x.layout == torch.sparse_csr:
        return SparseMatrix.from_csr(x)
    if isinstance(x, Tensor) and x.layout == torch.sparse_coo:
        return SparseMatrix.from_csr(x.coalesce().to_sparse_csr())
    return x
