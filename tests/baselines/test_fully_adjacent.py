# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from bagcn.baselines.fully_adjacent import GCNFA
from battery import check_all

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])
EVERYONE = torch.ones(6, 6).nonzero().T
NEAR = {"atol": 1e-10, "rtol": 0.0}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def convolved(weight: Tensor, bias: Tensor, x: Tensor, edges: Tensor, weights: Tensor) -> Tensor:
    layer = GCNConv(*weight.shape).double()
    with torch.no_grad():
        layer.lin.weight.copy_(weight.T)
        layer.bias.copy_(bias)
    return layer(x, edges, weights)


@pytest.mark.parametrize("norm", [False, True])
def test_battery(norm: bool) -> None:
    check_all(lambda f, c: GCNFA(f, 8, c, norm=norm))


@pytest.mark.parametrize("norm", [False, True])
def test_last_layer_is_a_convolution_over_all_pairs(x: Tensor, norm: bool) -> None:
    torch.manual_seed(4)
    weights = torch.rand(EDGES.shape[1], dtype=torch.float64) + 0.5
    model = GCNFA(5, 4, 3, num_layers=3, norm=norm).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    h = x
    for layer in model.convolutions:
        h = convolved(layer.linear.weight, layer.bias, h, EDGES, weights).relu()
    all_pairs = torch.ones(36, dtype=torch.float64)
    seen = convolved(model.everyone.weight, model.everyone.bias, h, EVERYONE, all_pairs)
    h = h + seen.relu()
    if norm:
        centred = h - h.mean(1, keepdim=True)
        spread = (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
        h = centred / spread * model.norm.weight + model.norm.bias
    expected = h @ model.output.weight + model.output.bias
    torch.testing.assert_close(model(x, EDGES, weights), expected, **NEAR)


def test_too_few_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 2, got 1"):
        GCNFA(5, 4, 3, num_layers=1)
