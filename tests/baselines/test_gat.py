# N nodes, F features, D hidden, H heads, C classes, E edges.
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch_geometric.nn import GATConv

from bagcn.baselines.gat import GAT, GraphAttention

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 0, 2, 4, 4], [1, 0, 2, 1, 3, 2, 2, 0, 4, 0]])
NEAR = {"atol": 1e-10, "rtol": 0.0}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def dense_weights(weight: Tensor) -> Tensor:
    """Weights of what every node receives, itself included unless it does already."""
    dense = torch.zeros(6, 6, dtype=torch.float64)
    for (source, target), value in zip(EDGES.T.tolist(), weight, strict=True):
        dense[target, source] = value
    return dense + torch.diag((dense.diagonal() == 0).double())


def dense_layer(layer: GraphAttention, x: Tensor, weights: Tensor) -> Tensor:
    heads = []
    for h, block in enumerate(layer.linear.weight.chunk(layer.heads, dim=1)):
        z = x @ block
        scores = F.leaky_relu((z @ layer.target[h])[:, None] + (z @ layer.source[h])[None], 0.2)
        attention = torch.where(weights > 0, scores + weights.log(), -torch.inf).softmax(1)
        heads.append(attention @ z)
    out = torch.cat(heads, 1) if layer.concat else sum(heads) / layer.heads
    return out if layer.bias is None else out + layer.bias


def randomised(model: GAT) -> GAT:
    torch.manual_seed(4)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    return model.double().eval()


def test_dense_formula(x: Tensor) -> None:
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64) + 0.5
    model = randomised(GAT(5, 4, 3, num_layers=3, heads=3, out_heads=2))
    expected, weights = x, dense_weights(weight)
    for i, layer in enumerate(model.layers):
        expected = dense_layer(layer, expected, weights)
        expected = F.elu(expected) if i < 2 else expected
    torch.testing.assert_close(model(x, EDGES, weight), expected, **NEAR)


def test_edge_weights_carry_a_gradient(x: Tensor) -> None:
    weight = torch.rand(EDGES.shape[1], dtype=torch.float64).add(0.5).requires_grad_()
    model = randomised(GAT(5, 4, 3, num_layers=1, out_heads=2))
    (found,) = torch.autograd.grad(model(x, EDGES, weight).square().sum(), weight)
    dense = dense_layer(model.layers[0], x, dense_weights(weight)).square().sum()
    (expected,) = torch.autograd.grad(dense, weight)
    torch.testing.assert_close(found, expected, **NEAR)


def test_weight_zero_is_no_edge(x: Tensor) -> None:
    model, weight = randomised(GAT(5, 4, 3)), torch.ones(EDGES.shape[1], dtype=torch.float64)
    weight[2] = 0
    kept = torch.cat([EDGES[:, :2], EDGES[:, 3:]], dim=1)
    torch.testing.assert_close(model(x, EDGES, weight), model(x, kept), **NEAR)


@pytest.mark.parametrize("concat", [True, False])
def test_convolution_of_pytorch_geometric(x: Tensor, concat: bool) -> None:
    ours = GraphAttention(5, 4, 3, concat=concat).double()
    theirs = GATConv(5, 4, heads=3, concat=concat).double()
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.linear.weight.T)
        theirs.att_src.copy_(ours.source[None])
        theirs.att_dst.copy_(ours.target[None])
        theirs.bias.copy_(ours.bias.normal_())
    loops = (
        (EDGES[0] != EDGES[1]).nonzero().flatten()
    )  # theirs puts loops of its own in their place
    _, edges = GAT(5, 4, 3).double().prepare(x, EDGES)
    torch.testing.assert_close(ours(x, edges), theirs(x, EDGES[:, loops]), **NEAR)


def test_all_dropouts(x: Tensor) -> None:
    """With all input dropped, or all attention, or all values, only the last bias is left."""
    for rate in ("dropout", "attention_dropout", "value_dropout"):
        rates = {"dropout": 0.0, "attention_dropout": 0.0, rate: 1 - 1e-12}
        model = randomised(GAT(5, 4, 3, **rates)).train()
        torch.testing.assert_close(model(x, EDGES), model.layers[1].bias.expand(6, 3))


def test_dropped_values_still_attend(x: Tensor) -> None:
    layer = GraphAttention(5, 4, 3).double()
    _, edges = GAT(5, 4, 3).double().prepare(x, EDGES)
    torch.manual_seed(1)
    found = layer(x, edges, value_dropout=0.5)
    torch.manual_seed(1)
    mask = F.dropout(torch.ones(6, 3, 4, dtype=torch.float64), 0.5)
    weights, expected = dense_weights(torch.ones(EDGES.shape[1], dtype=torch.float64)), []
    for h, block in enumerate(layer.linear.weight.chunk(3, dim=1)):
        z = x @ block
        scores = F.leaky_relu((z @ layer.target[h])[:, None] + (z @ layer.source[h])[None], 0.2)
        attention = torch.where(weights > 0, scores, -torch.inf).softmax(1)
        expected.append(attention @ (z * mask[:, h]))
    torch.testing.assert_close(found, torch.cat(expected, 1), **NEAR)


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GAT(5, 4, 3, num_layers=0)
