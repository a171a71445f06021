# N nodes, F features, D hidden, H heads, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, GPSConv

from bagcn.baselines.graphgps import GPSLayer, GraphGPS
from battery import check_all
from fixed import CLASSES, EDGES, FEATURES, fix_parameters, fixed_features, wave

NEAR = {"atol": 1e-10, "rtol": 0.0}


@pytest.mark.parametrize("num_heads", [1, 4])
def test_battery(num_heads: int) -> None:
    check_all(lambda f, c: GraphGPS(f, 8, c, num_heads=num_heads, dropout=0.2))


def copied(ours: GPSLayer) -> GPSConv:
    """Return PyTorch Geometric's layer with the weights and statistics of ours."""
    channels = ours.first.in_channels
    theirs = GPSConv(channels, GCNConv(channels, channels), heads=ours.attention.num_heads).double()
    maps = [
        (ours.convolution.linear.weight, theirs.conv.lin.weight),
        (ours.attention.inner.weight, theirs.attn.in_proj_weight),
        (ours.attention.outer.weight, theirs.attn.out_proj.weight),
        (ours.first.weight, theirs.mlp[0].weight),
        (ours.second.weight, theirs.mlp[3].weight),
    ]
    biases = [
        (ours.convolution.bias, theirs.conv.bias),
        (ours.attention.inner.bias, theirs.attn.in_proj_bias),
        (ours.attention.outer.bias, theirs.attn.out_proj.bias),
        (ours.first.bias, theirs.mlp[0].bias),
        (ours.second.bias, theirs.mlp[3].bias),
    ]
    with torch.no_grad():
        for source, target in maps:
            target.copy_(source.T)
        for source, target in biases:
            target.copy_(source)
    for norm, other in zip(ours.norms, (theirs.norm1, theirs.norm2, theirs.norm3), strict=True):
        other.module.load_state_dict(norm.state_dict())
    return theirs.train(ours.training)


def fixed_layer(num_heads: int) -> GPSLayer:
    layer = GPSLayer(8, num_heads, dropout=0.0).double()
    fix_parameters(layer)
    for i, norm in enumerate(layer.norms):
        norm.running_mean.copy_(wave(8, phase=50.0 + i))
        norm.running_var.copy_(1.5 + wave(8, phase=60.0 + i))
    return layer


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("num_heads", [1, 4])
def test_layer_of_pytorch_geometric(num_heads: int, training: bool) -> None:
    ours = fixed_layer(num_heads).train(training)
    theirs = copied(ours)
    inputs = [wave(12, 8, phase=0.2).double().requires_grad_() for _ in range(2)]
    _, adjacency = GraphGPS(8, 8, 3).double().prepare(inputs[0], EDGES)
    found, expected = ours(inputs[0], adjacency), theirs(inputs[1], EDGES)
    torch.testing.assert_close(found, expected, **NEAR)
    upstream = wave(12, 8, phase=0.7).double()
    for out in (found, expected):
        out.backward(upstream)
    torch.testing.assert_close(inputs[0].grad, inputs[1].grad, **NEAR)
    torch.testing.assert_close(
        ours.attention.inner.weight.grad, theirs.attn.in_proj_weight.grad.T, **NEAR
    )
    torch.testing.assert_close(ours.norms[1].running_var, theirs.norm2.module.running_var, **NEAR)


def test_layers_between_two_linear_maps() -> None:
    model = GraphGPS(FEATURES, 8, CLASSES, num_layers=2).double().eval()
    fix_parameters(model)
    x: Tensor = fixed_features().double()
    h = x @ model.linear.weight + model.linear.bias
    for layer in model.layers:
        h = copied(layer)(h, EDGES)
    expected = h @ model.classifier.weight + model.classifier.bias
    torch.testing.assert_close(model(x, EDGES), expected, **NEAR)


def test_initial_weights_are_those_of_multihead_attention() -> None:
    torch.manual_seed(0)
    attention, theirs = GPSLayer(64, 4, 0.0).attention, nn.MultiheadAttention(64, 4)
    for ours, other in (
        (attention.inner.weight, theirs.in_proj_weight),
        (attention.outer.weight, theirs.out_proj.weight),
    ):
        torch.testing.assert_close(ours.abs().max(), other.abs().max(), atol=0, rtol=0.01)
    assert attention.inner.bias.abs().max() == attention.outer.bias.abs().max() == 0


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GraphGPS(5, 4, 3, num_layers=0)
    with pytest.raises(ValueError, match="3 heads cannot share 4 hidden channels evenly"):
        GraphGPS(5, 4, 3, num_heads=3)
