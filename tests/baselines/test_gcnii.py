# N nodes, F features, D hidden, C classes, E edges, L layers.
from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import GCN2Conv

from bagcn.baselines.gcnii import GCNII
from bagcn.training import Member, Task, TrainSettings, train
from battery import split_of
from dense import some_weights
from fixed import CLASSES, EDGES, FEATURES, fix_parameters, fixed_features, recorded


def fixed_model() -> GCNII:
    model = GCNII(FEATURES, 4, CLASSES, num_layers=5, alpha=0.2, theta=0.7)
    fix_parameters(model)
    return model


def test_outputs_of_the_authors_code() -> None:
    found = fixed_model().eval()(fixed_features(), EDGES).log_softmax(1)
    torch.testing.assert_close(found, recorded("gcnii", "log_softmax"), atol=1e-5, rtol=0)


def test_convolution_of_pytorch_geometric() -> None:
    model = fixed_model().double().eval()
    x, weight = fixed_features().double(), some_weights(EDGES)
    first = hidden = (x @ model.first.weight + model.first.bias).relu()
    for layer, parameter in enumerate(model.weights, 1):
        theirs = GCN2Conv(4, alpha=0.2, theta=0.7, layer=layer).double()
        with torch.no_grad():
            theirs.weight1.copy_(parameter)
            hidden = theirs(hidden, first, EDGES, weight).relu()
    expected = hidden @ model.last.weight + model.last.bias
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


def test_members_may_differ_in_theta(tiny_graph: object) -> None:
    task, split = Task.from_data(tiny_graph), split_of(tiny_graph)
    settings = TrainSettings(epochs=3)
    both = [Member(4, split, {"theta": theta}) for theta in (0.3, 1.5)]
    together = train(lambda f, c: GCNII(f, 8, c, num_layers=3), task, both, settings)
    for member, result in zip(both, together, strict=True):
        theta = member.settings["theta"]
        build = lambda f, c, theta=theta: GCNII(f, 8, c, num_layers=3, theta=theta)  # noqa: E731
        alone = train(build, task, [Member(4, split)], settings)[0]
        assert result.curves["loss"] == pytest.approx(alone.curves["loss"], abs=1e-4)
    assert together[0].curves["loss"] != pytest.approx(together[1].curves["loss"], abs=1e-4)


def test_gradient_of_edge_weights() -> None:
    model = fixed_model().double().eval()
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GCNII(5, 4, 3, num_layers=0)
