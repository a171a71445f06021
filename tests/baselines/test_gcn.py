# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import GCNConv

from bagcn.baselines.gcn import GCN, GraphConvolution

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def dense_adjacency(weight: torch.Tensor) -> torch.Tensor:
    """Build it entry by entry: node 4 has a self-loop already, node 5 no edge at all."""
    adjacency = torch.zeros(6, 6, dtype=torch.float64)
    for (source, target), value in zip(EDGES.T.tolist(), weight.tolist(), strict=True):
        adjacency[target, source] += value
    for node in range(6):
        if adjacency[node, node] == 0:
            adjacency[node, node] = 1
    degree = adjacency.sum(1)
    return adjacency / (degree[:, None] * degree[None]).sqrt()


@pytest.mark.parametrize("bias", [True, False])
def test_dense_formula(x: torch.Tensor, bias: bool) -> None:
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64) + 0.5
    model = GCN(5, 4, 3, num_layers=3, bias=bias).double().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    expected, adjacency = x, dense_adjacency(weight)
    for i, convolution in enumerate(model.convolutions):
        expected = adjacency @ expected @ convolution.linear.weight
        expected = expected + convolution.bias if bias else expected
        expected = expected.relu() if i < 2 else expected
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_convolution_of_pytorch_geometric(x: torch.Tensor) -> None:
    ours, theirs = GCN(5, 4, 4, num_layers=1).double(), GCNConv(5, 4).double()
    convolution = ours.convolutions[0]
    assert isinstance(convolution, GraphConvolution)
    with torch.no_grad():
        theirs.lin.weight.copy_(convolution.linear.weight.T)
        convolution.bias.normal_()
        theirs.bias.copy_(convolution.bias)
    torch.testing.assert_close(ours.eval()(x, EDGES), theirs(x, EDGES), atol=1e-10, rtol=0)


def test_dropout_precedes_every_convolution(x: torch.Tensor) -> None:
    model = GCN(5, 4, 3, dropout=1.0 - 1e-12).double()
    with torch.no_grad():
        model.convolutions[0].bias.fill_(1.0)
        model.convolutions[1].bias.fill_(2.0)
    torch.testing.assert_close(model(x, EDGES), torch.full((6, 3), 2.0, dtype=torch.float64))


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GCN(5, 4, 3, num_layers=0)
