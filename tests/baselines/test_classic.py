# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GATConv, GCNConv, SAGEConv

from bagcn.baselines.classic import Block, ClassicGNN, Convolution, Norm
from battery import check_all

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])
LOOPS = torch.tensor([[0, 1, 2, 3, 5], [0, 1, 2, 3, 5]])  # node 4 has one already
NEAR = {"atol": 1e-10, "rtol": 0.0}
CONVOLUTIONS: tuple[Convolution, ...] = ("gcn", "sage", "gat")


@pytest.fixture
def x() -> Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def randomised(model: ClassicGNN) -> ClassicGNN:
    torch.manual_seed(4)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double().eval()


def theirs(block: Block, convolution: Convolution, x: Tensor) -> Tensor:
    """The same layer in PyTorch Geometric, as the authors' code builds it."""
    layer: Any
    with torch.no_grad():
        ours: Any = block.convolution
        if convolution == "gcn":
            layer = GCNConv(x.shape[1], 4).double()
            layer.lin.weight.copy_(ours.linear.weight.T)
            layer.bias.copy_(ours.bias)
        elif convolution == "sage":
            layer = SAGEConv(x.shape[1], 4).double()
            layer.lin_l.weight.copy_(ours.received.weight.T)
            layer.lin_l.bias.copy_(ours.received.bias)
            layer.lin_r.weight.copy_(ours.own.weight.T)
        else:
            layer = GATConv(x.shape[1], 4, add_self_loops=False, bias=False).double()
            layer.lin.weight.copy_(ours.linear.weight.T)
            layer.att_src.copy_(ours.source[None])
            layer.att_dst.copy_(ours.target[None])
    out: Tensor = layer(x, torch.cat([EDGES, LOOPS], dim=1))
    return out


def normalised(block: Block, norm: Norm, x: Tensor) -> Tensor:
    if norm == "none":
        return x
    kept: Any = block.norm
    if norm == "batch":
        scaled = (x - kept.running_mean) / (kept.running_var + 1e-5).sqrt()
    else:
        centred = x - x.mean(1, keepdim=True)
        scaled = centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
    return scaled * kept.weight + kept.bias


ALL_PARTS = {"norm": "batch", "residual": True, "input_linear": True, "jumping": True}


@pytest.mark.parametrize(
    ("convolution", "parts"),
    [
        ("gcn", {}),
        ("gcn", ALL_PARTS),
        ("sage", ALL_PARTS),
        ("gat", {"norm": "layer", "residual": True}),
    ],
)
def test_battery(convolution: Convolution, parts: dict[str, Any]) -> None:
    check_all(lambda f, c: ClassicGNN(f, 8, c, convolution=convolution, **parts))


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
@pytest.mark.parametrize("switch", [False, True])
def test_formula(x: Tensor, convolution: Convolution, norm: Norm, switch: bool) -> None:
    parts = {"residual": switch, "input_linear": switch, "jumping": switch, "norm": norm}
    model = randomised(ClassicGNN(5, 4, 3, convolution=convolution, num_layers=3, **parts))
    for block in model.blocks:
        if norm == "batch":
            block.norm.running_mean.normal_()
            block.norm.running_var.uniform_(0.5, 2.0)
    h, layers = x, []
    if switch:
        h = x @ model.input.weight + model.input.bias
    for block in model.blocks:
        out = theirs(block, convolution, h)
        out = out + h @ block.residual.weight + block.residual.bias if switch else out
        h = normalised(block, norm, out).relu()
        layers.append(h)
    h = layers[0] + layers[1] + layers[2] if switch else layers[2]
    expected = h @ model.output.weight + model.output.bias
    torch.testing.assert_close(model(x, EDGES), expected, **NEAR)


@pytest.mark.parametrize("convolution", CONVOLUTIONS)
def test_weight_two_is_two_edges(x: Tensor, convolution: Convolution) -> None:
    model, weight = randomised(ClassicGNN(5, 4, 3, convolution=convolution)), torch.ones(10)
    weight[3] = 2
    doubled = torch.cat([EDGES, EDGES[:, 3:4]], dim=1)
    torch.testing.assert_close(model(x, EDGES, weight.double()), model(x, doubled), **NEAR)


def test_dropout_follows_every_layer_and_spares_the_features(x: Tensor) -> None:
    model = randomised(ClassicGNN(5, 4, 3, dropout=1 - 1e-12)).train()
    torch.testing.assert_close(model(x, EDGES), model.output.bias.expand(6, 3))
    model.dropout = 0.0
    torch.testing.assert_close(model(x, EDGES), model.eval()(x, EDGES), **NEAR)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="convolution must be one of gcn, sage, gat; got 'gin'"):
        ClassicGNN(5, 4, 3, convolution="gin")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="norm must be one of none, layer, batch; got 'graph'"):
        ClassicGNN(5, 4, 3, norm="graph")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        ClassicGNN(5, 4, 3, num_layers=0)
    with pytest.raises(ValueError, match="3 heads cannot share 4 hidden channels evenly"):
        ClassicGNN(5, 4, 3, convolution="gat", heads=3)
