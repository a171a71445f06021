"""Feature scaling, for sparse CSR and dense features. F features, N nodes."""

from __future__ import annotations

import torch
from torch import Tensor

from ._csr import csr_tensor
from ._names import unknown

SCALINGS: tuple[str, ...] = ("row", "row-l2", "binary", "none")
"""The scalings :func:`scale_features` knows."""


def scale_features(x: Tensor, how: str) -> Tensor:
    """Scale the features of every node; the input is left as it is.

    Args:
        x: Features of shape (N, F), sparse CSR or dense; the result has the same layout.
        how: ``"row"`` divides a row by the sum of its absolute values (so it sums to one where
            the features are counts or frequencies), ``"row-l2"`` by its Euclidean norm,
            ``"binary"`` replaces every non-zero value by one, ``"none"`` changes nothing.
            Rows of zeros stay zero.
    """
    if how not in SCALINGS:
        raise unknown("feature scaling", how, SCALINGS)
    if how == "none":
        return x
    if x.layout == torch.sparse_csr:
        return _with_values(x, _scale_values(x, how))
    if how == "binary":
        return (x != 0).to(x.dtype)
    norm = torch.linalg.vector_norm(x, ord=_ORDER[how], dim=1, keepdim=True)  # (N, 1)
    return x / _safe(norm)


_ORDER = {"row": 1, "row-l2": 2}


def _scale_values(x: Tensor, how: str) -> Tensor:
    values = x.values()
    if how == "binary":
        return (values != 0).to(values.dtype)
    nodes = torch.arange(x.shape[0], device=x.device)
    row = torch.repeat_interleave(nodes, x.crow_indices().diff())  # (nnz,)
    # Summed in double: the order of a large sum should not show in the result.
    powers = values.abs().double() ** _ORDER[how]
    total = powers.new_zeros(x.shape[0]).index_add_(0, row, powers)
    norm = _safe(total ** (1 / _ORDER[how]))[row]
    return (values / norm).to(values.dtype)


def _safe(norm: Tensor) -> Tensor:
    return torch.where(norm == 0, 1, norm)


def _with_values(x: Tensor, values: Tensor) -> Tensor:
    return csr_tensor(x.crow_indices(), x.col_indices(), values, (x.shape[0], x.shape[1]))
