"""Adam over stacked parameters: every member has its own learning rate and weight decay.

M members. torch.optim has one learning rate a parameter group, and a stacked parameter can be in
one group only; the update itself is the same, and a test holds it to torch.optim.Adam.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

__all__ = ["adam_state", "adam_step", "decay_factors"]

Tensors = dict[str, Tensor]

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


def adam_state(parameters: Tensors) -> Tensors:
    """Return the state before the first step: both moments of every parameter, and the count."""
    state = {f"first.{name}": torch.zeros_like(p) for name, p in parameters.items()}
    state |= {f"second.{name}": torch.zeros_like(p) for name, p in parameters.items()}
    device = next(iter(parameters.values())).device
    return state | {"steps": torch.zeros((), dtype=torch.float64, device=device)}


@torch.no_grad()
def adam_step(
    parameters: Tensors, gradients: Tensors, state: Tensors, lr: Tensor, decay: Tensors
) -> None:
    """Update the parameters and the state in place.

    Args:
        parameters: by name, each (M, ...).
        gradients: the same.
        state: from :func:`adam_state`.
        lr: (M,).
        decay: the weight decay (M,) of those parameters that have one.
    """
    steps = state["steps"].add_(1)
    rate = (lr / (1 - BETA_1**steps)).to(lr.dtype)  # (M,)
    correction = (1 - BETA_2**steps).sqrt().to(lr.dtype)
    for name, parameter in parameters.items():
        gradient, shape = gradients[name], (-1, *[1] * (parameter.dim() - 1))
        if name in decay:
            gradient = gradient + decay[name].view(shape) * parameter
        first = state[f"first.{name}"].lerp_(gradient, 1 - BETA_1)
        second = state[f"second.{name}"]
        second.mul_(BETA_2).addcmul_(gradient, gradient, value=1 - BETA_2)
        scale = (second.sqrt() / correction).add_(EPSILON)
        parameter.sub_(rate.view(shape) * first / scale)


def decay_factors(parameters: Tensors, which: str | Mapping[str, float]) -> dict[str, float]:
    """Return the factor on the weight decay for those (stacked) parameters that it acts on.

    Args:
        parameters: by name, each (M, ...), in the order of the model.
        which: as in :class:`~bagcn.training.TrainSettings`.
    """
    weights = [name for name, tensor in parameters.items() if tensor.dim() > 2]
    if isinstance(which, str):
        chosen = {"all": list(parameters), "weights": weights, "first": weights[:1]}[which]
        return dict.fromkeys(chosen, 1.0)
    longest = {
        name: max((p for p in which if name.startswith(p)), key=len, default=None)
        for name in parameters
    }
    unused = set(which) - set(longest.values())
    if unused:
        raise ValueError(
            f"decay names {', '.join(sorted(unused))}, but the model's parameters are "
            f"{', '.join(parameters)}"
        )
    return {name: which[prefix] for name, prefix in longest.items() if prefix is not None}
