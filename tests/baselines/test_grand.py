# N nodes, F features, D hidden, C classes.
from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from bagcn.baselines import grand
from bagcn.baselines.grand import GRAND
from bagcn.ops import random_stream, stream_key
from battery import check_all
from fixed import (
    CLASSES,
    EDGES,
    FEATURES,
    NODES,
    fix_parameters,
    fixed_features,
    recorded,
    wave,
)

SETTINGS: dict[str, Any] = {
    "num_hops": 3,
    "num_views": 3,
    "drop_node": 0.3,
    "input_dropout": 0.0,
    "dropout": 0.0,
    "weight": 0.7,
    "temperature": 0.5,
}
Y = torch.arange(NODES) % CLASSES
LABELLED = torch.zeros(NODES, dtype=torch.bool).index_fill(0, torch.tensor([0, 1, 5, 9]), True)
EPOCH = torch.tensor(0)


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """Let the three views of a step drop the nodes that the record was made with."""
    values = [(wave(NODES, 1, phase=phase) + 1) / 2 for phase in (0.1, 1.1, 2.1)]
    pending = iter(values)
    monkeypatch.setattr(grand, "uniform", lambda like: next(pending).to(like))
    return values


def build(**changes: Any) -> GRAND:
    model = GRAND(FEATURES, 4, CLASSES, **{**SETTINGS, **changes})
    fix_parameters(model)
    return model


@pytest.mark.parametrize(
    "settings", [{}, {"norm": True}, {"input_dropout": 0.0}], ids=["plain", "norm", "linear"]
)
def test_battery(settings: dict[str, Any]) -> None:
    check_all(lambda f, c: GRAND(f, 16, c, **settings))


@pytest.mark.usefixtures("draws")
@pytest.mark.parametrize("norm", [False, True])
def test_outputs_of_the_authors_code(norm: bool) -> None:
    """A step, and the predictions after it: the running averages have seen three batches."""
    model, case = build(norm=norm), "norm_" if norm else ""
    x, graph = model.prepare(fixed_features(), EDGES)
    loss = model.train().objective(x, graph, Y, LABELLED, EPOCH)
    torch.testing.assert_close(loss, recorded("grand", f"{case}loss"), atol=1e-5, rtol=0)
    logits = model.eval()(x, graph)
    torch.testing.assert_close(logits, recorded("grand", f"{case}logits"), atol=1e-5, rtol=0)


def test_dense_formula(draws: list[Tensor]) -> None:
    """Powers of a dense matrix, every probability on its own."""
    model, x = build().double(), fixed_features().double()
    adjacency = torch.eye(NODES, dtype=torch.float64)
    adjacency[EDGES[1], EDGES[0]] = 1
    degree = adjacency.sum(1)
    adjacency = adjacency / (degree[:, None] * degree[None]).sqrt()
    mixed = sum(torch.linalg.matrix_power(adjacency, k) for k in range(4)) / 4

    def probabilities(factor: Tensor) -> Tensor:
        hidden = (mixed @ (factor * x) @ model.first.weight + model.first.bias).relu()
        exponentials = (hidden @ model.second.weight + model.second.bias).exp()
        return exponentials / exponentials.sum(1, keepdim=True)

    views = [probabilities((draw >= 0.3).double()) for draw in draws]
    average = sum(views) / 3
    target = (average**2 / (average**2).sum(1, keepdim=True)).detach()
    truth = [i for i in range(NODES) if LABELLED[i]]
    supervised = -sum(view[i, Y[i]].log() for view in views for i in truth) / (3 * len(truth))
    distance = sum(((view - target) ** 2).sum() for view in views) / (3 * NODES)
    expected = supervised + 0.7 * distance
    graph = model.prepare(x, EDGES)
    found = model.train().objective(*graph, Y, LABELLED, EPOCH)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
    for name, parameter in model.named_parameters():
        ours = torch.autograd.grad(found, parameter, retain_graph=True)[0]
        theirs = torch.autograd.grad(expected, parameter, retain_graph=True)[0]
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0, msg=name)
    after = model.eval()(*graph).softmax(1)
    torch.testing.assert_close(
        after, probabilities(torch.tensor(0.7, dtype=torch.float64)), atol=1e-10, rtol=0
    )


@pytest.mark.parametrize("training", [True, False])
def test_mapping_first_is_the_same(training: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of linear map and propagation changes nothing, sparse features or dense."""
    model = build().double().train(training)
    x, graph = model.prepare(fixed_features().double().to_sparse_csr(), EDGES)
    key = stream_key(torch.tensor(1, dtype=torch.int32), torch.tensor(2, dtype=torch.int32))
    with random_stream(key):
        mapped_first = model(x, graph)
    monkeypatch.setattr(GRAND, "_needs_dense", lambda self: True)
    with random_stream(key):
        propagated_first = model(x, graph)
    torch.testing.assert_close(mapped_first, propagated_first, atol=1e-12, rtol=0)


def test_input_dropout_acts_on_propagated_features() -> None:
    """With one kept node in a connected graph, more than its own features can be dropped."""
    model = build(drop_node=0.0, input_dropout=1 - 1e-9).train()
    with torch.no_grad():
        model.first.bias.fill_(1.0)
        expected = (torch.ones(1, 4) @ model.second.weight + model.second.bias).expand(NODES, -1)
    torch.testing.assert_close(model(fixed_features(), EDGES), expected)


def test_no_views() -> None:
    with pytest.raises(ValueError, match="num_views must be at least 1, got 0"):
        GRAND(5, 4, 3, num_views=0)
