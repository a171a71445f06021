# N nodes, F features, D hidden, C classes, E edges, K hops.
from __future__ import annotations

import torch
import torch_geometric.nn

from bagcn.baselines.appnp import APPNP
from bagcn.ops import dropout, random_stream
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features


def fixed_model(**arguments: float) -> APPNP:
    model = APPNP(FEATURES, 4, CLASSES, **arguments).double()
    fix_parameters(model)
    return model


def test_dense_formula() -> None:
    """Ten steps are the first ten terms of a series, written out here."""
    model = fixed_model(alpha=0.3, bias=True).eval()
    x, weight = fixed_features().double(), some_weights(EDGES)
    walk = 0.7 * dense_adjacency(EDGES, weight, NODES)
    series = torch.linalg.matrix_power(walk, 10)
    for k in range(10):
        series = series + 0.3 * torch.linalg.matrix_power(walk, k)
    hidden = (x @ model.first.weight + model.first.bias).clamp_min(0)
    expected = series @ (hidden @ model.second.weight + model.second.bias)
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_propagation_of_pytorch_geometric() -> None:
    model, x = fixed_model(num_hops=7, alpha=0.2).eval(), fixed_features().double()
    local = (x @ model.first.weight).relu() @ model.second.weight
    theirs = torch_geometric.nn.APPNP(K=7, alpha=0.2)
    torch.testing.assert_close(model(x, EDGES), theirs(local, EDGES), atol=1e-10, rtol=0)


def test_edges_are_dropped_in_training_only() -> None:
    """With all entries gone in every step, what is left is alpha times the node's own."""
    model = fixed_model(alpha=0.2, dropout=0.0, edge_dropout=1.0 - 1e-12)
    x = fixed_features().double()
    local = (x @ model.first.weight).relu() @ model.second.weight
    torch.testing.assert_close(model.train()(x, EDGES), 0.2 * local)
    assert not torch.allclose(model.eval()(x, EDGES), 0.2 * local)


def test_edges_are_dropped_anew_in_every_step() -> None:
    model, x = fixed_model(num_hops=2, alpha=0.0, dropout=0.0).train(), fixed_features().double()
    _, adjacency = model.prepare(x, EDGES)
    key = torch.tensor(7, dtype=torch.int32)
    with random_stream(key):
        found = model(x, adjacency)
    with random_stream(key):
        first, second = (dropout(adjacency, 0.5).to_dense() for _ in range(2))
    local = (x @ model.first.weight).relu() @ model.second.weight
    torch.testing.assert_close(found, second @ first @ local, atol=1e-10, rtol=0)
    assert not torch.equal(first, second)


def test_gradient_of_edge_weights() -> None:
    model = fixed_model().eval()
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)
