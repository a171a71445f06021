"""One scaling for features that are numbers already."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from bagcn.data._csr import from_scipy
from bagcn.tables.arrays import ArrayEncoder
from bagcn.tables.graph import Graph


def graph(x: torch.Tensor | None) -> Graph:
    nothing = torch.empty(2, 0, dtype=torch.int64)
    return Graph(np.arange(3), np.full(3, None), nothing, x=x)


def csr(x: torch.Tensor) -> torch.Tensor:
    return from_scipy(sp.csr_matrix(x.numpy()))


DENSE = torch.tensor([[1.0, -2.0, 5.0], [3.0, 0.5, 5.0], [2.0, 9.0, 5.0]])
COUNTS = torch.tensor([[0.0, 0, 0, 0, 0, 2], [0, 0, 0, 0, 0, 0], [4, 0, 0, 0, 0, 0]])


def test_dense_features_are_standardised_by_what_was_learnt() -> None:
    encoder = ArrayEncoder.fit(DENSE)
    assert encoder.scaling == "standard"
    mean, scale = DENSE.mean(0), DENSE.std(0, correction=0)
    scale[2] = 1  # a constant column is only shifted
    assert torch.allclose(encoder.transform(graph(DENSE)), (DENSE - mean) / scale)
    other = DENSE + 1
    assert torch.allclose(encoder.transform(graph(other)), (other - mean) / scale)
    assert encoder.names == ["x0", "x1", "x2"]


@pytest.mark.parametrize("x", [COUNTS, csr(COUNTS)], ids=["dense", "sparse"])
def test_counts_are_scaled_by_rows(x: torch.Tensor) -> None:
    encoder = ArrayEncoder.fit(x)
    assert encoder.scaling == "row"
    found = encoder.transform(graph(x)).to_dense()
    assert torch.equal(found, COUNTS / COUNTS.sum(1, keepdim=True).clamp(min=1))


@pytest.mark.parametrize("scaling", ["standard", "row", "binary", "none"])
def test_it_survives_json(scaling: str) -> None:
    encoder = ArrayEncoder.fit(DENSE.abs(), scaling)
    saved, arrays = encoder.saved()
    restored = ArrayEncoder.restored(json.loads(json.dumps(saved)), arrays)
    assert torch.equal(
        restored.transform(graph(DENSE.abs())), encoder.transform(graph(DENSE.abs()))
    )


def test_another_width_is_refused() -> None:
    encoder = ArrayEncoder.fit(DENSE)
    for x, there in ((DENSE[:, :2], "2"), (None, "none")):
        with pytest.raises(ValueError, match=f"trained on 3 features, but this graph has {there}"):
            encoder.transform(graph(x))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
def test_nan_and_infinite_features_are_refused(value: float, sparse: bool) -> None:
    def broken(x: torch.Tensor) -> Any:
        x = x.clone()
        x[0, 0] = value
        return csr(x) if sparse else x

    with pytest.raises(ValueError, match="the features hold NaN or infinite values: fill or drop"):
        ArrayEncoder.fit(broken(DENSE))
    with pytest.raises(ValueError, match="the features hold NaN or infinite values: fill or drop"):
        ArrayEncoder.fit(DENSE, "none").transform(graph(broken(DENSE)))


def test_an_unknown_scaling() -> None:
    with pytest.raises(ValueError, match=r"unknown feature scaling 'rows'; did you mean 'row'\?"):
        ArrayEncoder.fit(DENSE, "rows")
