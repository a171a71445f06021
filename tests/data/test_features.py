from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from bagcn.data import SCALINGS, scale_features
from bagcn.data._csr import from_scipy

X = [[1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [-2.0, 2.0, 4.0], [0.0, 0.1, 0.0]]


def exact(row: list[float], how: str) -> list[float]:
    """The row scaled with fractions, which do not round."""
    entries = [Fraction(float(np.float32(value))) for value in row]
    if how == "none":
        return [float(value) for value in entries]
    if how == "binary":
        return [float(value != 0) for value in entries]
    if how == "row":
        total = sum(map(abs, entries)) or 1
        return [float(value / total) for value in entries]
    norm = math.sqrt(sum(value * value for value in entries)) or 1
    return [float(value) / norm for value in entries]


@pytest.mark.parametrize("how", SCALINGS)
@pytest.mark.parametrize("sparse", [True, False])
def test_exact_values(how: str, sparse: bool) -> None:
    x = from_scipy(sp.csr_matrix(X)) if sparse else torch.tensor(X)
    before = x.to_dense().clone()
    scaled = scale_features(x, how)
    assert scaled.layout == x.layout
    assert scaled.dtype == torch.float32
    expected = torch.tensor([exact(row, how) for row in X])
    torch.testing.assert_close(scaled.to_dense(), expected, rtol=2e-7, atol=0)
    assert torch.equal(x.to_dense(), before)


def test_row_sums_and_norms_are_one() -> None:
    generator = np.random.Generator(np.random.PCG64(0))
    matrix = sp.random(300, 80, 0.1, "csr", random_state=generator, dtype=np.float64)
    x, filled = from_scipy(matrix), torch.from_numpy(np.diff(matrix.indptr) > 0)
    sums = scale_features(x, "row").to_dense().sum(1)
    torch.testing.assert_close(sums, filled.float(), rtol=0, atol=5e-7)
    norms = scale_features(x, "row-l2").to_dense().norm(dim=1)
    torch.testing.assert_close(norms, filled.float(), rtol=0, atol=5e-7)


def test_the_pattern_is_kept() -> None:
    x = from_scipy(sp.csr_matrix(X))
    for how in SCALINGS:
        scaled = scale_features(x, how)
        assert torch.equal(scaled.crow_indices(), x.crow_indices())
        assert torch.equal(scaled.col_indices(), x.col_indices())


def test_an_unknown_scaling() -> None:
    with pytest.raises(ValueError, match="unknown feature scaling 'rows'; did you mean 'row'"):
        scale_features(torch.ones(2, 2), "rows")


def test_explicit_zeros_and_duplicates_do_not_come_through() -> None:
    matrix = sp.csr_matrix((np.array([1, 2, 0]), np.array([2, 2, 0]), np.array([0, 3])), (1, 3))
    x = from_scipy(matrix)
    assert (x.col_indices().tolist(), x.values().tolist()) == ([2], [3])
