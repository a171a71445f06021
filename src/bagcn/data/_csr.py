"""Sparse CSR tensors from arrays and SciPy matrices, without a dense copy on the way."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor


def csr_tensor(crow: Tensor, col: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """A sparse CSR tensor.

    PyTorch tells once per process that its CSR support is in beta; that is known here and
    nothing the caller can act on, so this one message is dropped, where it arises.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta", UserWarning)
        return torch.sparse_csr_tensor(crow, col, values, shape, check_invariants=True)


def from_scipy(matrix: sp.spmatrix) -> Tensor:
    """A SciPy matrix as a canonical float32 CSR tensor: columns sorted, no explicit zeros."""
    csr = sp.csr_matrix(matrix, dtype=np.float32, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    crow = torch.from_numpy(csr.indptr.astype(np.int64))
    col = torch.from_numpy(csr.indices.astype(np.int64))
    return csr_tensor(crow, col, torch.from_numpy(csr.data), csr.shape)


def to_scipy(x: Tensor) -> sp.csr_matrix:
    """A CSR tensor as a SciPy matrix that shares its memory where it can."""
    arrays = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
    return sp.csr_matrix(arrays, shape=tuple(x.shape))
