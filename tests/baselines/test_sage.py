# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import SAGEConv

from bagcn.baselines.sage import Aggregator, GraphSAGE

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])
NEAR = {"atol": 1e-10, "rtol": 0.0}
AGGREGATORS: tuple[Aggregator, ...] = ("mean", "maxpool", "meanpool")


@pytest.fixture
def x() -> Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def randomised(model: GraphSAGE) -> GraphSAGE:
    torch.manual_seed(4)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double().eval()


def received(weight: Tensor) -> Tensor:
    """Weights of what every node receives, itself included unless it does already."""
    dense = torch.zeros(6, 6, dtype=torch.float64)
    for (source, target), value in zip(EDGES.T.tolist(), weight, strict=True):
        dense[target, source] = value
    return dense + torch.diag((dense.diagonal() == 0).double())


def aggregated(x: Tensor, weights: Tensor, aggregator: Aggregator) -> Tensor:
    if aggregator == "maxpool":
        return torch.stack(
            [(weights[i, weights[i] > 0][:, None] * x[weights[i] > 0]).amax(0) for i in range(6)]
        )
    return weights @ x / weights.sum(1, keepdim=True)


@pytest.mark.parametrize("aggregator", AGGREGATORS)
def test_dense_formula(x: Tensor, aggregator: Aggregator) -> None:
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64) + 0.5
    model = randomised(GraphSAGE(5, 4, 3, aggregator=aggregator, num_layers=3, pool_channels=2))
    expected, weights = x, received(weight)
    for i, layer in enumerate(model.layers):
        messages = expected if layer.pool is None else (expected @ layer.pool.weight).relu()
        neighbours = aggregated(messages, weights, aggregator) @ layer.received.weight
        out = expected @ layer.own.weight + neighbours + layer.bias
        out = torch.stack([row / max(1.0, row.norm().item()) for row in out])
        expected = out.relu() if i < 2 else out
    torch.testing.assert_close(model(x, EDGES, weight), expected, **NEAR)


def test_convolution_of_pytorch_geometric(x: Tensor) -> None:
    ours, theirs = randomised(GraphSAGE(5, 4, 3, num_layers=1)), SAGEConv(5, 3).double()
    layer = ours.layers[0]
    with torch.no_grad():
        theirs.lin_l.weight.copy_(layer.received.weight.T)
        theirs.lin_l.bias.copy_(layer.bias)
        theirs.lin_r.weight.copy_(layer.own.weight.T)
    target, source = received(torch.ones(EDGES.shape[1])).nonzero(as_tuple=True)
    expected = theirs(x, torch.stack([source, target]))
    expected = expected / expected.norm(dim=1, keepdim=True).clamp(min=1)
    torch.testing.assert_close(ours(x, EDGES), expected, **NEAR)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="one of mean, maxpool, meanpool; got 'lstm'"):
        GraphSAGE(5, 4, 3, aggregator="lstm")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GraphSAGE(5, 4, 3, num_layers=0)
