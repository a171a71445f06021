"""Predictions and attention as dense N×N formulas in float64, with any of the attention masked.

N nodes, D hidden, C classes. It shares no code with :mod:`bagcn.explain`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nn.dense import Switches, norm, reach

Weights = dict[str, Tensor]


def trained_like(model: nn.Module, seed: int) -> nn.Module:
    """Give every parameter and every running statistic a value of its own, as training does."""
    generator = torch.Generator().manual_seed(seed)
    for name, tensor in model.state_dict().items():
        if tensor.is_floating_point():
            drawn = torch.randn(tensor.shape, generator=generator)
            tensor.copy_(drawn.abs() + 0.3 if "norm.weight" in name or "var" in name else drawn)
            if "running_mean" in name:
                tensor.mul_(0.1)
    return model.eval()


def weights_of(model: nn.Module) -> Weights:
    return {name: value.detach().double() for name, value in model.state_dict().items()}


def hidden(w: Weights, x: Tensor, a: Tensor, s: Switches) -> tuple[Tensor, Tensor]:
    """H_c and H_ego, (N, D) each."""
    hops = {
        "ego-local": (s.num_hops, 0),
        "ego-ego": (0, 0),
        "local-local": (s.num_hops, s.num_hops),
    }
    out = []
    for name, k in zip(("local", "ego"), hops[s.pair], strict=True):
        h = reach(a, k, s.field) @ x @ w[f"layer.{name}.linear.weight"]
        out.append(norm(h, w, f"layer.{name}.norm", training=False).clamp(min=0))
    return out[0], out[1]


def attention(w: Weights, x: Tensor, a: Tensor, s: Switches) -> tuple[Tensor, Tensor]:
    """Scores before the softmax, of S_1 and S_2: (N, N) each."""
    h_c, h_ego = hidden(w, x, a, s)
    scale = h_c.shape[1] ** -0.5 if s.scale is None else s.scale
    return scale * h_c @ w["layer.local_metric"] @ h_ego.T, scale * h_ego @ w[
        "layer.ego_metric"
    ] @ h_c.T


def masked_softmax(scores: Tensor, allowed: Tensor) -> Tensor:
    e = torch.exp(scores - scores.max(dim=1, keepdim=True).values) * allowed
    return e / e.sum(dim=1, keepdim=True)


def predict(
    w: Weights,
    x: Tensor,
    a: Tensor,
    s: Switches,
    allowed_1: Tensor | None = None,
    allowed_2: Tensor | None = None,
) -> Tensor:
    """Class probabilities (N, C); a key that is not allowed for a query takes no part."""
    everything = torch.ones(len(a), len(a), dtype=torch.bool)
    h_c, h_ego = hidden(w, x, a, s)
    e_1, e_2 = attention(w, x, a, s)
    s_1 = masked_softmax(e_1, everything if allowed_1 is None else allowed_1)
    s_2 = masked_softmax(e_2, everything if allowed_2 is None else allowed_2)
    if s.fusion == "add":
        h_c, h_ego = h_c + s_1 @ h_ego, h_ego + s_2 @ h_c
    else:
        h_c, h_ego = h_c * (s_1 @ h_ego), h_ego * (s_2 @ h_c)
    h_c = norm(h_c, w, "layer.local_norm", training=False)
    h_ego = norm(h_ego, w, "layer.ego_norm", training=False)
    if s.activation == "relu":
        h_c, h_ego = h_c.clamp(min=0), h_ego.clamp(min=0)
    gcn = a @ h_c @ w["gcn_predictor.weight"] + w["gcn_predictor.bias"]
    fc = h_ego @ w["fc_predictor.weight"] + w["fc_predictor.bias"]
    if s.inference == "gcn":
        return gcn.softmax(1)
    return (gcn.softmax(1) + fc.softmax(1)) / 2
