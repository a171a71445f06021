# N rows, K columns, E stored entries, D columns of the dense factor, M members.
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import vmap

from bagcn.ops import SparseMatrix, as_matrix
from bagcn.ops.sparse import Pattern

N, K, D, M = 7, 5, 3, 4


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def places() -> tuple[Tensor, Tensor]:
    """Row 3 and column 2 are empty, (0, 4) stands twice, nothing is in order."""
    return torch.tensor([6, 0, 0, 5, 1, 1, 0, 4, 2]), torch.tensor([0, 4, 1, 3, 0, 4, 4, 3, 1])


def sparse(values: Tensor) -> SparseMatrix:
    return SparseMatrix.from_coo(*places(), values, (N, K))


def dense(values: Tensor) -> Tensor:
    """Built by one-hot products, so that a gradient reaches the values."""
    row, col = places()
    return torch.eye(N, dtype=values.dtype)[row].T @ (
        values[:, None] * torch.eye(K, dtype=values.dtype)[col]
    )


def test_from_coo_adds_up_what_stands_twice() -> None:
    values = draw(9)
    torch.testing.assert_close(sparse(values).to_dense(), dense(values), atol=1e-15, rtol=0)


def test_from_csr() -> None:
    matrix = dense(draw(9))
    built = SparseMatrix.from_csr(matrix.to_sparse_csr())
    assert built.shape == (N, K)
    torch.testing.assert_close(built.to_dense(), matrix, atol=0, rtol=0)


def test_product_and_its_gradients() -> None:
    values, x, weight = draw(9), draw(K, D, seed=1), draw(N, D, seed=2)
    results = []
    for build in (sparse, dense):
        v, factor = values.clone().requires_grad_(), x.clone().requires_grad_()
        product = build(v) @ factor
        results.append((product, *torch.autograd.grad((product * weight).sum(), (v, factor))))
    torch.testing.assert_close(results[0], results[1], atol=1e-12, rtol=0)


@pytest.mark.parametrize("wanted", ["values", "dense"])
def test_only_the_gradient_that_is_asked_for(wanted: str) -> None:
    values, x = draw(9), draw(K, D, seed=1)
    (values if wanted == "values" else x).requires_grad_()
    (sparse(values) @ x).sum().backward()
    assert (values.grad is not None) == (wanted == "values")
    assert (x.grad is not None) == (wanted == "dense")


def test_transpose_is_stored() -> None:
    pattern = sparse(draw(9)).pattern
    transposed, order = pattern.transposed
    values = draw(9, seed=3)
    product = transposed.matmul(values[order], torch.eye(N, dtype=torch.float64))
    torch.testing.assert_close(product, pattern.matmul(values, torch.eye(K).double()).T)
    assert pattern.transposed[0] is transposed


def test_blocks_are_copies_on_the_diagonal_and_kept() -> None:
    pattern, values = sparse(draw(9)).pattern, draw(M, 9)
    blocks = pattern.blocks(M)
    found = blocks.matmul(values.flatten(), torch.eye(M * K, dtype=torch.float64))
    one = torch.eye(K, dtype=torch.float64)
    expected = torch.block_diag(*(pattern.matmul(v, one) for v in values))
    torch.testing.assert_close(found, expected, atol=0, rtol=0)
    assert pattern.blocks(M) is blocks


@pytest.mark.parametrize(
    ("own_values", "own_dense", "dims"),
    [
        (False, True, (None, 0)),
        (True, True, (0, 0)),
        (True, False, (0, None)),
        (True, True, (1, 2)),
    ],
)
def test_members(own_values: bool, own_dense: bool, dims: tuple[int | None, int | None]) -> None:
    """Under vmap every member gets its own product and its own gradients."""
    values = draw(M, 9) if own_values else draw(9)
    x = draw(M, K, D, seed=1) if own_dense else draw(K, D, seed=1)
    weight = draw(M, N, D, seed=2)

    def run(together: bool) -> tuple[Tensor, ...]:
        v, factor = values.clone().requires_grad_(), x.clone().requires_grad_()
        if together:
            batched = (
                v if dims[0] is None else v.movedim(0, dims[0]),
                factor if dims[1] is None else factor.movedim(0, dims[1]),
            )
            out = vmap(lambda a, b: sparse(a) @ b, in_dims=dims)(*batched)
        else:
            each = [
                dense(v[m] if own_values else v) @ (factor[m] if own_dense else factor)
                for m in range(M)
            ]
            out = torch.stack(each)
        return out, *torch.autograd.grad((out * weight).sum(), (v, factor))

    torch.testing.assert_close(run(True), run(False), atol=1e-12, rtol=0)


def test_members_in_a_chain() -> None:
    """Two hops after a map of each member's own, as in a model: Â (Â (X W))."""
    square = SparseMatrix.from_coo(*_ring(), draw(12), (6, 6))
    x, w = SparseMatrix.from_coo(*places(), draw(9), (N, K)), draw(M, K, D, seed=4)
    step: Callable[[Tensor], Tensor] = lambda own: square @ (square @ (x @ own)[:6])  # noqa: E731
    alone = torch.stack([step(own) for own in w])
    torch.testing.assert_close(vmap(step)(w), alone, atol=1e-12, rtol=0)


def _ring() -> tuple[Tensor, Tensor]:
    nodes = torch.arange(6)
    return torch.cat([nodes, nodes]), torch.cat([nodes, (nodes + 1) % 6])


def test_a_matrix_without_entries() -> None:
    none = torch.zeros(0, dtype=torch.long)
    empty = SparseMatrix.from_coo(none, none, torch.zeros(0), (N, K))
    x = torch.ones(K, D, requires_grad=True)
    product = empty @ x
    torch.testing.assert_close(product, torch.zeros(N, D))
    product.sum().backward()
    torch.testing.assert_close(x.grad, torch.zeros(K, D))


@pytest.mark.parametrize("members", [1, M])
def test_no_entries_have_no_gradients(members: int) -> None:
    none = torch.zeros(0, dtype=torch.long)
    pattern = SparseMatrix.from_coo(none, none, torch.zeros(0), (N, K)).pattern.blocks(members)
    values = torch.zeros(0, requires_grad=True)
    (SparseMatrix(pattern, values) @ torch.ones(members * K, D)).sum().backward()
    assert values.grad is not None
    assert values.grad.shape == (0,)


@pytest.mark.parametrize("depth", [(M,), (2, M), (3, 1, 2)])
def test_products_of_rows_at_the_places_of_blocks_of_blocks(depth: tuple[int, ...]) -> None:
    blocks = sparse(draw(9)).pattern
    for copies in depth:
        blocks = blocks.blocks(copies)
    left, right = draw(blocks.shape[0], D), draw(blocks.shape[1], D, seed=1)
    expected = (left @ right.T)[blocks.row.long(), blocks.col.long()]
    torch.testing.assert_close(blocks.sampled(left, right), expected)


def test_blocks_beyond_32_bits_are_refused() -> None:
    wide = Pattern(torch.tensor([0, 1]), torch.tensor([0]), (1, 2**30))
    with pytest.raises(ValueError, match="2 copies of a 1 × 1,073,741,824 matrix with 1 entries"):
        wide.blocks(2)
    assert wide.blocks(1).shape == wide.shape


def test_as_matrix() -> None:
    matrix = dense(draw(9))
    assert as_matrix(matrix) is matrix
    for layout in (matrix.to_sparse_csr(), matrix.to_sparse_coo()):
        built = as_matrix(layout)
        assert isinstance(built, SparseMatrix)
        torch.testing.assert_close(built.to_dense(), matrix, atol=0, rtol=0)
        assert as_matrix(built) is built


def test_pattern_rows() -> None:
    assert Pattern(torch.tensor([0, 2, 2, 3]), torch.tensor([1, 3, 0]), (3, 4)).row.tolist() == [
        0, 0, 2,
    ]  # fmt: skip
