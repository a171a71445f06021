# N nodes, F features, D embedding, C classes.
from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from bagcn.baselines import sugrl
from bagcn.baselines.sugrl import SUGRL, _neighbours
from bagcn.ops import normalized_adjacency
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

NOTHING = torch.zeros(NODES, dtype=torch.bool)
SETTINGS = {
    "mlp_channels": 7,
    "num_negatives": 3,
    "structure_weight": 10.0,
    "neighbour_weight": 5.0,
    "bound_weight": 2.0,
    "margin": 0.3,
    "bound_margin": 0.2,
    "input_dropout": 0.0,
    "dropout": 0.0,
}


def orders() -> Iterator[Tensor]:
    return (wave(NODES, phase=phase).argsort() for phase in (0.1, 1.1, 2.1))


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Callable[[], SUGRL]:
    def model() -> SUGRL:
        drawn = orders()
        monkeypatch.setattr(sugrl, "permutation", lambda like: next(drawn))
        model = SUGRL(FEATURES, 4, CLASSES, **SETTINGS)  # type: ignore[arg-type]
        fix_parameters(model)
        return model

    return model


def loss_of(model: SUGRL, x: Tensor, epoch: int) -> Tensor:
    graph = model.prepare(x, EDGES)
    return model.objective(*graph, torch.zeros(NODES), NOTHING, torch.tensor(epoch))


@pytest.mark.parametrize("mlp_channels", [12, 0])
def test_battery(mlp_channels: int) -> None:
    check_all(lambda f, c: SUGRL(f, 16, c, mlp_channels=mlp_channels))


def test_outputs_of_the_authors_code(build: Callable[[], SUGRL]) -> None:
    model, x = build(), fixed_features()
    embedding = model.embed(*model.prepare(x, EDGES))
    torch.testing.assert_close(embedding, recorded("sugrl", "embedding"), atol=1e-5, rtol=0)
    expected = recorded("sugrl", "loss")
    torch.testing.assert_close(loss_of(model, x, 95), expected, atol=1e-5, rtol=0)


def test_dense_formula(build: Callable[[], SUGRL]) -> None:
    """Node by node, with the neighbours looked up in a list."""
    model, x = build().double(), fixed_features().double()
    beside = [sorted({i, *EDGES[0][EDGES[1] == i].tolist()}) for i in range(NODES)]
    degree = [len(nodes) for nodes in beside]
    first, second = model.layers
    anchor = (x @ first.weight + first.bias).relu() @ second.weight + second.bias
    near = torch.stack(
        [sum(anchor[j] / (degree[i] * degree[j]) ** 0.5 for j in beside[i]) for i in range(NODES)]
    )
    turns = [4, 6, 8, 10, 12]  # of epoch 3
    around = torch.stack(
        [sum(anchor[beside[i][t % degree[i]]] for t in turns) / 5 for i in range(NODES)]
    )

    def distance(rows: Tensor) -> Tensor:
        return (anchor - rows + 1e-6).square().sum(1).sqrt()

    expected = torch.zeros((), dtype=torch.float64)
    for order in orders():
        far = distance(anchor[order])
        for i in range(NODES):
            close, alike = distance(near)[i], distance(around)[i]
            expected += 10 * max(close - far[i] + 0.3, 0) / NODES
            expected += 5 * max(alike - far[i] + 0.3, 0) / NODES
            expected += 2 * max(far[i] - close - 0.5, 0) / 3
    torch.testing.assert_close(loss_of(model, x, 3), expected, atol=1e-10, rtol=0)


def test_every_neighbour_has_its_turn() -> None:
    """Of a node with three neighbours and itself, five epochs in a row show all four."""
    graph = normalized_adjacency(EDGES, num_nodes=NODES)
    identity = torch.eye(NODES)
    shown = sum(_neighbours(identity, graph, torch.tensor(epoch)) for epoch in range(4))
    assert isinstance(shown, Tensor)
    expected = normalized_adjacency(EDGES, num_nodes=NODES, norm="none").to_dense()
    torch.testing.assert_close((shown > 0).float(), expected)
    torch.testing.assert_close(shown.sum(1), torch.full((NODES,), 4.0))


def test_the_bound_pulls_only_negatives(build: Callable[[], SUGRL]) -> None:
    """The third term's distance to the positive is a constant, so Â's dropout has no gradient."""
    model = build()
    model.structure_weight = model.neighbour_weight = 0.0
    x, graph = model.prepare(fixed_features(), EDGES)
    values = graph.values.clone().requires_grad_()
    loss = model.objective(
        x, graph.with_values(values), torch.zeros(NODES), NOTHING, torch.tensor(0)
    )
    assert float(loss.detach()) > 0
    assert not torch.autograd.grad(loss, values)[0].any()


def test_no_negatives() -> None:
    with pytest.raises(ValueError, match="num_negatives must be at least 1, got 0"):
        SUGRL(5, 4, 3, num_negatives=0)
