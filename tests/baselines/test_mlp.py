# N nodes, F features, D hidden, C classes.
from __future__ import annotations

import pytest
import torch
import torch_geometric.nn

from bagcn.baselines.mlp import MLP
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features


@pytest.mark.parametrize("bias", [True, False])
def test_dense_formula(bias: bool) -> None:
    model = MLP(FEATURES, 4, CLASSES, num_layers=3, bias=bias).double().eval()
    fix_parameters(model)
    expected = fixed_features().double()
    for i, linear in enumerate(model.linears):
        expected = expected @ linear.weight + (linear.bias if bias else 0)
        expected = expected.clamp_min(0) if i < 2 else expected
    found = model(fixed_features().double())
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)


def test_pytorch_geometric() -> None:
    ours = MLP(FEATURES, 4, CLASSES, num_layers=3).double().eval()
    theirs = torch_geometric.nn.MLP([FEATURES, 4, 4, CLASSES], norm=None).double().eval()
    fix_parameters(ours)
    with torch.no_grad():
        for linear, our in zip(theirs.lins, ours.linears, strict=True):
            linear.weight.copy_(our.weight.T)
            linear.bias.copy_(our.bias)
    x = fixed_features().double()
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=0)


def test_edges_change_nothing() -> None:
    model = MLP(FEATURES, 4, CLASSES).eval()
    x = fixed_features()
    torch.testing.assert_close(model(x, EDGES), model(x, EDGES[:, :0]), atol=0, rtol=0)


def test_dropout_precedes_every_map() -> None:
    model = MLP(FEATURES, 4, CLASSES, dropout=1.0 - 1e-12).double()
    with torch.no_grad():
        model.linears[0].bias.fill_(1.0)
        model.linears[1].bias.fill_(2.0)
    expected = torch.full((NODES, CLASSES), 2.0, dtype=torch.float64)
    torch.testing.assert_close(model(fixed_features().double()), expected)


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        MLP(5, 4, 3, num_layers=0)
