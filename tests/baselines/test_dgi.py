# N nodes, F features, D embedding, C classes.
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.baselines import dgi
from bagcn.baselines.dgi import DGI
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

EPOCH = torch.tensor(0)
NOTHING = torch.zeros(NODES, dtype=torch.bool)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> DGI:
    model = DGI(FEATURES, 4, CLASSES)
    fix_parameters(model)
    monkeypatch.setattr(dgi, "permutation", lambda like: shuffled())
    return model


def shuffled() -> Tensor:
    return wave(NODES, phase=0.1).argsort()


def loss_of(model: DGI, x: Tensor) -> Tensor:
    return model.objective(*model.prepare(x, EDGES), torch.zeros(NODES), NOTHING, EPOCH)


def test_outputs_of_the_authors_code(model: DGI) -> None:
    x = fixed_features()
    near = {"atol": 1e-5, "rtol": 0}
    embedding = model.embed(*model.prepare(x, EDGES))
    torch.testing.assert_close(embedding, recorded("dgi", "embedding"), **near)
    torch.testing.assert_close(loss_of(model, x), recorded("dgi", "loss"), **near)


def test_dense_formula(model: DGI) -> None:
    """One node at a time: is its row, given the summary, from the graph or from a shuffled one?"""
    model, x = model.double(), fixed_features().double()
    adjacency = torch.eye(NODES, dtype=torch.float64)
    adjacency[EDGES[1], EDGES[0]] = 1
    degree = adjacency.sum(1)
    adjacency = adjacency / (degree[:, None] * degree[None]).sqrt()
    weight, bias, slope = (
        model.convolution.linear.weight,
        model.convolution.bias,
        model.activation.weight,
    )

    def encoded(features: Tensor) -> Tensor:
        rows = adjacency @ features @ weight + bias
        return torch.where(rows > 0, rows, slope * rows)

    real, fake = encoded(x), encoded(x[shuffled()])
    summary = torch.sigmoid(sum(real) / NODES)
    terms = []
    for i in range(NODES):
        for row, truth in ((real[i], 1.0), (fake[i], 0.0)):
            score = torch.sigmoid(row @ model.discriminator @ summary + model.offset)
            terms.append(F.binary_cross_entropy(score, torch.tensor(truth).double()))
    expected = torch.stack(terms).mean()
    torch.testing.assert_close(loss_of(model, x), expected, atol=1e-10, rtol=0)


def test_labels_are_not_looked_at(model: DGI) -> None:
    graph, x = model.prepare(fixed_features(), EDGES)[1], fixed_features()
    unknown = torch.full((NODES,), -1)
    a = model.objective(x, graph, unknown, NOTHING, EPOCH)
    b = model.objective(x, graph, torch.arange(NODES) % CLASSES, ~NOTHING, EPOCH)
    torch.testing.assert_close(a, b, atol=0, rtol=0)
    assert {name for name, p in model.named_parameters() if not p.requires_grad} == {
        "probe.weight",
        "probe.bias",
    }
