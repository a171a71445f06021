# N nodes, F features, D hidden, C classes, E edges, K Gaussians.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GMMConv

from bagcn.baselines.monet import MoNet

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])
NEAR = {"atol": 1e-10, "rtol": 0.0}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def randomised(model: MoNet) -> MoNet:
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


def coordinates(model: MoNet, weights: Tensor) -> Tensor:
    """u of every pair of nodes, (N, N, R)."""
    inverse = weights.sum(1).pow(-0.5)
    both = torch.stack([inverse[:, None].expand(6, 6), inverse[None].expand(6, 6)], dim=-1)
    return torch.tanh(both @ model.mixture.transform.weight + model.mixture.transform.bias)


def test_dense_formula(x: Tensor) -> None:
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64) + 0.5
    model, weights = randomised(MoNet(5, 4, 3, num_layers=3, kernels=3)), received(weight)
    u, mixture, expected = coordinates(model, weights), model.mixture, x
    for i, layer in enumerate(model.layers):
        out = torch.zeros(6, 3 if i == 2 else 4, dtype=torch.float64)
        for k, linear in enumerate(layer.maps):
            distance = (u - mixture.mean[k]) / mixture.deviation[k]
            gaussian = weights * torch.exp(-0.5 * distance.square().sum(-1))  # (N, N)
            out = out + gaussian / gaussian.sum(1, keepdim=True) @ expected @ linear.weight
        expected = out.relu() if i < 2 else out
    torch.testing.assert_close(model(x, EDGES, weight), expected, **NEAR)


def test_convolutions_of_pytorch_geometric(x: Tensor) -> None:
    """One Gaussian at a time, divided by what it makes of ones."""
    model = randomised(MoNet(5, 4, 3, num_layers=1, kernels=2))
    u = coordinates(model, received(torch.ones(EDGES.shape[1])))
    target, source = received(torch.ones(EDGES.shape[1])).nonzero(as_tuple=True)
    edges, expected = torch.stack([source, target]), 0
    for k, linear in enumerate(model.layers[0].maps):
        sums = []
        for inputs, matrix in ((x, linear.weight), (torch.ones_like(x[:, :1]), torch.ones(1, 1))):
            theirs = GMMConv(*matrix.shape, dim=2, kernel_size=1, aggr="add", bias=False).double()
            with torch.no_grad():
                theirs.root.weight.zero_()
                theirs.g.copy_(matrix)
                theirs.mu.copy_(model.mixture.mean[k, None])
                theirs.sigma.copy_(model.mixture.deviation[k, None])
            sums.append(theirs(inputs, edges, u[target, source]))
        expected = expected + sums[0] / sums[1]
    torch.testing.assert_close(model(x, EDGES), expected, **NEAR)


def test_means_start_evenly_spaced() -> None:
    mean = MoNet(5, 4, 3, kernels=2).mixture.mean
    torch.testing.assert_close(mean, torch.tensor([[-0.75, -0.75], [0.25, 0.25]]))


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        MoNet(5, 4, 3, num_layers=0)
