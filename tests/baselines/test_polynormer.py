# N nodes, F features, H heads, D hidden of a head, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from bagcn.baselines.polynormer import Polynormer, linear_attention
from bagcn.data.synthetic import synthetic_graph
from bagcn.training import Member, Task, TrainSettings, train
from battery import check_all, split_of
from fixed import CLASSES, EDGES, FEATURES, fix_parameters, fixed_features, recorded, wave

SIZES = {"local_layers": 2, "global_layers": 2, "num_heads": 2}
RATES = {"in_dropout": 0.1, "dropout": 0.2, "global_dropout": 0.2}


def fixed_model(local_epochs: int) -> Polynormer:
    model = Polynormer(FEATURES, 4, CLASSES, **SIZES, local_epochs=local_epochs).eval()
    fix_parameters(model)
    return model


@pytest.mark.parametrize("local_epochs", [0, 2])
def test_battery(local_epochs: int) -> None:
    epochs = (-1, local_epochs)  # one in each stage
    settings = SIZES | RATES | {"local_epochs": local_epochs}
    check_all(lambda f, c: Polynormer(f, 4, c, **settings), epochs=epochs)


@pytest.mark.parametrize("stage", ["local", "global"])
def test_outputs_of_the_authors_code(stage: str) -> None:
    model = fixed_model(local_epochs=1 if stage == "local" else 0)
    with torch.no_grad():
        found = model(fixed_features(), EDGES)
    torch.testing.assert_close(found, recorded("polynormer", stage), atol=1e-5, rtol=0)


def test_dense_linear_attention() -> None:
    query, key, value = (wave(9, 4, 2, phase=p).double() for p in range(3))
    scores = torch.einsum("idh,jdh->hij", query.exp(), key.exp())  # (H, N, N)
    expected = torch.einsum("hij,jdh->idh", scores / scores.sum(-1, keepdim=True), value)
    found = linear_attention(query.exp(), key.exp(), value)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_dense_local_attention() -> None:
    layer = fixed_model(0).local.layers[0].double()
    x = wave(12, 8, phase=0.0).double()
    adjacency = torch.eye(12, dtype=torch.bool).index_put(tuple(EDGES.flip(0)), torch.tensor(True))
    sent = (x @ layer.message.weight).view(12, 2, 4)
    expected = []
    for head in range(2):
        source, target = (sent[:, head] @ vector[head] for vector in (layer.source, layer.target))
        scores = nn.functional.leaky_relu(target[:, None] + source[None], 0.2)
        expected.append(scores.masked_fill(~adjacency, -torch.inf).softmax(-1) @ sent[:, head])
    _, edges = fixed_model(0).double().prepare(x, EDGES)
    found = layer._attend(x, edges)
    torch.testing.assert_close(found, torch.cat(expected, dim=1), atol=1e-12, rtol=0)


def test_the_global_stage_sleeps_until_its_epoch() -> None:
    """Before it neither a gradient nor decay moves its parameters."""
    data = synthetic_graph(60, num_classes=3, num_features=8, noise=1.0)
    members = [Member(seed, split_of(data)) for seed in (0, 1)]
    settings = TrainSettings(epochs=3, weight_decay=0.1, decay={"local": 1.0})

    def build(features: int, classes: int) -> nn.Module:
        return Polynormer(features, 4, classes, **SIZES, local_epochs=3, global_decay=0.1)

    torch.manual_seed(0)
    initial = build(8, 3).state_dict()
    weights = train(build, Task.from_data(data), members, settings, keep_weights=True)[0].weights
    assert weights is not None
    assert not weights["stage"]
    for name in initial:
        moved = not torch.equal(weights[name], initial[name])
        assert moved == name.startswith("local"), name


def test_the_stage_follows_the_epoch() -> None:
    model = fixed_model(2)
    x, edges = model.prepare(fixed_features(), EDGES)
    y, labelled = torch.arange(12) % 3, torch.ones(12, dtype=torch.bool)
    for epoch, case in ((1, "local"), (2, "global"), (0, "local")):
        loss = model.objective(x, edges, y, labelled, torch.tensor(epoch))
        logits = recorded("polynormer", case)
        torch.testing.assert_close(loss, nn.functional.cross_entropy(logits, y))
        torch.testing.assert_close(model(x, edges), logits, atol=1e-5, rtol=0)


def test_global_decay_is_that_of_the_optimiser() -> None:
    """The penalty's gradient is the decay times the weight, and none before the stage."""
    model = fixed_model(1)
    x, edges = model.prepare(fixed_features(), EDGES)
    y, labelled = torch.arange(12) % 3, torch.ones(12, dtype=torch.bool)
    weight = model.everywhere.linear.weight

    def gradient(decay: float, epoch: int) -> Tensor:
        model.global_decay = decay
        loss = model.objective(x, edges, y, labelled, torch.tensor(epoch))
        return torch.autograd.grad(loss, weight)[0]

    torch.testing.assert_close(gradient(0.3, 1) - gradient(0.0, 1), 0.3 * weight.detach())
    assert gradient(0.3, 0).abs().max() == 0


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="must be at least 1, got 0 and 2"):
        Polynormer(5, 4, 3, local_layers=0)
