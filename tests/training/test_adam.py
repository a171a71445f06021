# M members.
from __future__ import annotations

import pytest
import torch

from bagcn.training import TrainSettings
from bagcn.training.adam import adam_state, adam_step, decay_factors

SHAPES = {"first.weight": (4, 3), "first.bias": (3,), "second.weight": (3, 2), "scale": ()}


def test_every_member_is_moved_as_by_torchs_adam() -> None:
    """Each with its own learning rate and weight decay."""
    generator = torch.Generator().manual_seed(0)
    rates, decays = (0.1, 0.003, 0.02), (0.0, 0.5, 0.01)
    start = {
        n: torch.randn(3, *s, generator=generator, dtype=torch.float64) for n, s in SHAPES.items()
    }
    stacked = {name: tensor.clone() for name, tensor in start.items()}
    state = adam_state(stacked)
    alone = [{n: t[m].clone().requires_grad_() for n, t in start.items()} for m in range(3)]
    optimizers = [
        torch.optim.Adam(
            [
                {"params": [p for n, p in own.items() if n.endswith("weight")], "weight_decay": wd},
                {"params": [p for n, p in own.items() if not n.endswith("weight")]},
            ],
            lr=lr,
        )
        for own, lr, wd in zip(alone, rates, decays, strict=True)
    ]
    lr = torch.tensor(rates, dtype=torch.float64)
    decay = dict.fromkeys(("first.weight", "second.weight"), torch.tensor(decays).double())
    for _ in range(7):
        gradients = {
            n: torch.randn(t.shape, generator=generator, dtype=t.dtype) for n, t in stacked.items()
        }
        adam_step(stacked, gradients, state, lr, decay)
        for m, (own, optimizer) in enumerate(zip(alone, optimizers, strict=True)):
            for name, parameter in own.items():
                parameter.grad = gradients[name][m].clone()
            optimizer.step()
    for m, own in enumerate(alone):
        for name, parameter in own.items():
            torch.testing.assert_close(stacked[name][m], parameter.detach(), rtol=1e-6, atol=1e-8)


def test_what_the_weight_decay_acts_on() -> None:
    parameters = {name: torch.zeros(2, *shape) for name, shape in SHAPES.items()}
    assert decay_factors(parameters, "weights") == {"first.weight": 1.0, "second.weight": 1.0}
    assert decay_factors(parameters, "first") == {"first.weight": 1.0}
    assert decay_factors(parameters, "all") == dict.fromkeys(SHAPES, 1.0)
    longest = decay_factors(parameters, {"first": 0.5, "first.bias": 0.0, "scale": 2.0})
    assert longest == {"first.weight": 0.5, "first.bias": 0.0, "scale": 2.0}
    with pytest.raises(
        ValueError, match=r"decay names third, but the model's parameters are first"
    ):
        decay_factors(parameters, {"third": 1.0})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"patience": -1}, "patience must be at least 0, got -1"),
        ({"lr": 0.0}, "lr must be above 0"),
        ({"weight_decay": -1.0}, "weight_decay must not be negative"),
        ({"ema": 1.0}, "ema must be at least 0 and below 1"),
        ({"decay": "some"}, "decay must be one of weights, first, all; got 'some'"),
    ],
)
def test_settings_that_make_no_sense(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        TrainSettings(**wrong)
