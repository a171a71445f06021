# N nodes, F features, D hidden.
from __future__ import annotations

import math

import pytest
import torch

from bagcn.ops import Linear, SparseMatrix


def features() -> torch.Tensor:
    return torch.randn(8, 5, generator=torch.Generator().manual_seed(0)).clamp(min=0)


@pytest.mark.parametrize("bias", [True, False])
def test_equals_torchs(bias: bool) -> None:
    ours, theirs = Linear(5, 3, bias=bias), torch.nn.Linear(5, 3, bias=bias)
    with torch.no_grad():
        ours.weight.copy_(theirs.weight.T)
        if ours.bias is not None:
            ours.bias.copy_(theirs.bias)
    expected = theirs(features())
    torch.testing.assert_close(ours(features()), expected)
    sparse = SparseMatrix.from_csr(features().to_sparse_csr())
    torch.testing.assert_close(ours(sparse), expected)
    (2 * ours(sparse)).square().sum().backward()
    (2 * expected).square().sum().backward()
    assert theirs.weight.grad is not None
    torch.testing.assert_close(ours.weight.grad, theirs.weight.grad.T)


@pytest.mark.parametrize(
    ("init", "bound", "bias_bound"),
    [("glorot", math.sqrt(6 / 700), 0.0), ("kaiming", 1 / 20, 1 / 20)],
)
def test_initial_values(init: str, bound: float, bias_bound: float) -> None:
    """Uniform up to the bound: its deviation is bound / sqrt(3)."""
    torch.manual_seed(0)
    layer = Linear(400, 300, init=init)
    weight, bias = layer.weight.detach(), layer.bias
    assert bias is not None
    assert 0.999 * bound < float(weight.abs().max()) <= bound
    assert float(weight.std()) == pytest.approx(bound / math.sqrt(3), rel=0.01)
    assert float(bias.detach().abs().max()) == pytest.approx(bias_bound, rel=0.05)
