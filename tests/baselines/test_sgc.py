# N nodes, F features, C classes, E edges, K hops.
from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import SGConv

from bagcn.baselines.sgc import SGC
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features


@pytest.mark.parametrize("bias", [True, False])
def test_dense_formula(bias: bool) -> None:
    model = SGC(FEATURES, CLASSES, num_hops=3, bias=bias).double().eval()
    fix_parameters(model)
    x, weight = fixed_features().double(), some_weights(EDGES)
    smooth = torch.linalg.matrix_power(dense_adjacency(EDGES, weight, NODES), 3) @ x
    expected = smooth @ model.linear.weight + (model.bias if bias else 0)
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_convolution_of_pytorch_geometric() -> None:
    ours = SGC(FEATURES, CLASSES, num_hops=2).double().eval()
    theirs = SGConv(FEATURES, CLASSES, K=2).double()
    fix_parameters(ours)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.linear.weight.T)
        theirs.lin.bias.copy_(ours.bias)
    x = fixed_features().double()
    torch.testing.assert_close(ours(x, EDGES), theirs(x, EDGES), atol=1e-10, rtol=0)


def test_gradient_of_edge_weights() -> None:
    model = SGC(FEATURES, CLASSES).double().eval()
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)
