# N nodes, F features, D hidden, C classes, E edges, K hops.
from __future__ import annotations

import torch

from bagcn.baselines.dagnn import DAGNN
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features, recorded


def fixed_model() -> DAGNN:
    model = DAGNN(FEATURES, 4, CLASSES, num_hops=3)
    fix_parameters(model)
    return model


def test_outputs_of_the_authors_code() -> None:
    found = fixed_model().eval()(fixed_features(), EDGES)
    torch.testing.assert_close(found, recorded("dagnn", "logits"), atol=1e-5, rtol=0)


def test_dense_formula() -> None:
    model = fixed_model().double().eval()
    x, weight = fixed_features().double(), some_weights(EDGES)
    adjacency = dense_adjacency(EDGES, weight, NODES)
    z = (x @ model.first.weight + model.first.bias).clamp_min(0)
    z = z @ model.second.weight + model.second.bias
    expected = torch.zeros(NODES, CLASSES, dtype=torch.float64)
    for node in range(NODES):
        for k in range(4):
            reached = torch.linalg.matrix_power(adjacency, k)[node] @ z  # (C,)
            score = reached @ model.score.weight[:, 0] + model.score.bias[0]
            expected[node] += reached / (1 + torch.exp(-score))
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_dropout_precedes_both_maps() -> None:
    """With everything dropped, all nodes start from the second bias."""
    model = fixed_model().double()
    model.dropout = 1.0 - 1e-12
    constant = DAGNN(FEATURES, 4, CLASSES, num_hops=3).double().eval()
    constant.load_state_dict(model.state_dict())
    with torch.no_grad():
        constant.second.weight.zero_()
    x = fixed_features().double()
    torch.testing.assert_close(model.train()(x, EDGES), constant(x, EDGES))


def test_gradient_of_edge_weights() -> None:
    model = fixed_model().double().eval()
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)
