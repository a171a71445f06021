# N nodes, F features, D hidden, C classes, E edges, L layers.
from __future__ import annotations

import pytest
import torch
import torch_geometric.nn

from bagcn.baselines.jknet import JKNet, LSTMAttention
from battery import check_all
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features

MODES = ("cat", "max", "lstm")


@pytest.mark.parametrize("mode", MODES)
def test_battery(mode: str) -> None:
    check_all(lambda f, c: JKNet(f, 8, c, num_layers=2, mode=mode))


@pytest.mark.parametrize("mode", MODES)
def test_pytorch_geometric(mode: str) -> None:
    ours = JKNet(FEATURES, 4, CLASSES, num_layers=3, mode=mode).double().eval()
    theirs = torch_geometric.nn.GCN(FEATURES, 4, 3, CLASSES, jk=mode).double().eval()
    fix_parameters(ours)
    with torch.no_grad():
        for their, our in zip(theirs.convs, ours.convolutions, strict=True):
            their.lin.weight.copy_(our.linear.weight.T)
            their.bias.copy_(our.bias)
        theirs.lin.weight.copy_(ours.linear.weight.T)
        theirs.lin.bias.copy_(ours.linear.bias)
        if mode == "lstm":
            copy_lstm(ours.attention, theirs.jk)
        x, weight = fixed_features().double(), some_weights(EDGES)
        expected = theirs(x, EDGES, edge_weight=weight)
    torch.testing.assert_close(ours(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def copy_lstm(ours: LSTMAttention, theirs: torch.nn.Module) -> None:
    for direction, suffix in enumerate(("", "_reverse")):
        for kind, linears in (("ih", ours.inputs), ("hh", ours.states)):
            getattr(theirs.lstm, f"weight_{kind}_l0{suffix}").copy_(linears[direction].weight.T)
            getattr(theirs.lstm, f"bias_{kind}_l0{suffix}").copy_(linears[direction].bias)
    theirs.att.weight.copy_(ours.score.weight.T)  # its bias moves all layers alike


def test_dense_formula_of_concatenation() -> None:
    model = JKNet(FEATURES, 4, CLASSES, num_layers=3).double().eval()
    fix_parameters(model)
    x, weight = fixed_features().double(), some_weights(EDGES)
    adjacency, hidden = dense_adjacency(EDGES, weight, NODES), x
    expected = model.linear.bias.repeat(NODES, 1)
    for convolution, rows in zip(model.convolutions, model.linear.weight.split(4), strict=True):
        hidden = (adjacency @ hidden @ convolution.linear.weight + convolution.bias).clamp_min(0)
        expected = expected + hidden @ rows
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        JKNet(5, 4, 3, num_layers=0)
    with pytest.raises(ValueError, match="mode must be one of cat, max, lstm; got 'sum'"):
        JKNet(5, 4, 3, mode="sum")
