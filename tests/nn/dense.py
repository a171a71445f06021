"""The whole model as dense formulas, written from section 3 of the paper and from nothing else.

N nodes, F features, D hidden, C classes. It shares no code with :mod:`bagcn.nn`: the weights come
as a dictionary under the names of the model's state, everything else is spelled out in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Weights = dict[str, Tensor]
Masks = Sequence[Tensor | float]
EPSILON = 1e-5  # of batch normalisation
NO_MASKS: Masks = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Switches:
    """What can be chosen, in the words of the model's arguments; dropout is off."""

    fusion: str = "add"
    pair: str = "ego-local"
    attention: str = "exact"
    scale: float | None = None
    num_hops: int = 1
    activation: str = "none"
    inference: str = "gcn"
    consistency: float = 1.0
    temperature: float = 0.7
    target: str = "mean"
    warmup: int = 0
    confidence: float = 0.0
    field: str = "last"
    ego_supervision: float = 0.0


def adjacency(edges: Tensor, nodes: int, weights: Tensor | None = None) -> Tensor:
    """Â = D̃^-1/2 (A + I) D̃^-1/2, (N, N); an own loop stays what it is."""
    one_hot = torch.eye(nodes, dtype=torch.float64)
    if weights is None:
        weights = torch.ones(edges.shape[1], dtype=torch.float64)
    a = one_hot[edges[1]].T @ (weights[:, None] * one_hot[edges[0]])
    a = a + torch.diag((a.diagonal() == 0).double())
    degree = a.sum(dim=1)
    return a / (degree[:, None] * degree[None, :]) ** 0.5


def softmax(z: Tensor) -> Tensor:
    e = torch.exp(z - z.max(dim=1, keepdim=True).values.detach())
    return e / e.sum(dim=1, keepdim=True)


def norm(h: Tensor, w: Weights, name: str, training: bool) -> Tensor:
    """Batch normalisation: by the nodes' mean and variance, or by the running ones."""
    mean, variance = h.mean(dim=0), ((h - h.mean(dim=0)) ** 2).mean(dim=0)
    if not training:
        mean, variance = w[f"{name}.running_mean"], w[f"{name}.running_var"]
    return (h - mean) / (variance + EPSILON) ** 0.5 * w[f"{name}.weight"] + w[f"{name}.bias"]


def reach(a: Tensor, hops: int, field: str) -> Tensor:
    """Â^k, or the mean of Â^0 to Â^k: (N, N)."""
    powers = [torch.linalg.matrix_power(a, k) for k in range(hops + 1)]
    return powers[-1] if field == "last" else sum(powers[1:], powers[0]) / len(powers)


def views(
    w: Weights,
    x: Tensor,
    a: Tensor,
    s: Switches,
    training: bool,
    masks: Masks = NO_MASKS,
) -> tuple[Tensor, Tensor]:
    """Both predictors' outputs before the softmax: (N, C) each.

    The masks multiply the features of either view and what goes into either predictor.
    """
    local_hops = 0 if s.pair == "ego-ego" else s.num_hops
    ego_hops = s.num_hops if s.pair == "local-local" else 0
    a_local, a_ego = reach(a, local_hops, s.field), reach(a, ego_hops, s.field)
    # Eq. 1 and 2, with the normalisation "for every hidden layer"
    h_c = a_local @ (x * masks[0]) @ w["layer.local.linear.weight"]
    h_c = norm(h_c, w, "layer.local.norm", training).clamp(min=0)
    h_ego = a_ego @ (x * masks[1]) @ w["layer.ego.linear.weight"]
    h_ego = norm(h_ego, w, "layer.ego.norm", training).clamp(min=0)
    fused_c, fused_ego = h_c, h_ego
    if s.attention == "exact":
        scale = h_c.shape[1] ** -0.5 if s.scale is None else s.scale
        s_1 = softmax(scale * h_c @ w["layer.local_metric"] @ h_ego.T)  # Eq. 3, (N, N)
        s_2 = softmax(scale * h_ego @ w["layer.ego_metric"] @ h_c.T)  # Eq. 4
        h_c_a, h_ego_a = s_1 @ h_ego, s_2 @ h_c  # Eq. 5 and 6
        if s.fusion == "add":  # Eq. 7 and 8
            fused_c, fused_ego = h_c + h_c_a, h_ego + h_ego_a
        else:
            fused_c, fused_ego = h_c * h_c_a, h_ego * h_ego_a
    fused_c = norm(fused_c, w, "layer.local_norm", training)
    fused_ego = norm(fused_ego, w, "layer.ego_norm", training)
    if s.activation == "relu":
        fused_c, fused_ego = fused_c.clamp(min=0), fused_ego.clamp(min=0)
    gcn = a @ (fused_c * masks[2]) @ w["gcn_predictor.weight"] + w["gcn_predictor.bias"]
    fc = (fused_ego * masks[3]) @ w["fc_predictor.weight"] + w["fc_predictor.bias"]
    return gcn, fc


def logits(w: Weights, x: Tensor, a: Tensor, s: Switches) -> Tensor:
    """What the model predicts with: the GCN view, or the log of the views' mean probability."""
    gcn, fc = views(w, x, a, s, training=False)
    return gcn if s.inference == "gcn" else torch.log((softmax(gcn) + softmax(fc)) / 2)


def sharpened(average: Tensor, temperature: float) -> Tensor:
    """Eq. 13, element by element."""
    powers = average ** (1 / temperature)
    return powers / powers.sum(dim=1, keepdim=True)


def disagreement(probabilities: Sequence[Tensor], s: Switches) -> Tensor:
    """Eq. 12 with a constant target, or CL2; the mean over all nodes.

    Of more than two views, means over views (or pairs of views) take the place of the halves.
    """
    average = (sum(probabilities) / len(probabilities)).detach()
    if s.target == "pairwise":
        pairs = [(p, q) for i, p in enumerate(probabilities) for q in probabilities[:i]]
    else:
        pairs = [(sharpened(average, s.temperature), p) for p in probabilities]
    each = sum(((p - q) ** 2).sum(dim=1) for p, q in pairs) / len(pairs)
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(each)):
        if s.confidence == 0 or float(average[i].max()) > s.confidence:
            total = total + each[i]
    return total / len(each)


def entropy(p: Tensor, y: Tensor, labelled: Tensor) -> Tensor:
    """The labelled nodes' mean cross-entropy."""
    chosen = [-torch.log(p[i, y[i]]) for i in range(len(y)) if labelled[i]]
    return torch.stack(chosen).sum() / len(chosen)


def loss(
    w: Weights,
    x: Tensor,
    a: Tensor,
    y: Tensor,
    labelled: Tensor,
    epoch: int,
    s: Switches,
    passes: Sequence[Masks] = (NO_MASKS,),
) -> Tensor:
    """The total loss of a training step; every pass has masks of its own."""
    each = [views(w, x, a, s, training=True, masks=masks) for masks in passes]
    supervised = torch.zeros((), dtype=torch.float64)
    for gcn, fc in each:
        supervised = supervised + entropy(softmax(gcn), y, labelled) / len(each)
        supervised = supervised + s.ego_supervision * entropy(softmax(fc), y, labelled) / len(each)
    ramp = min(1.0, (epoch + 1) / s.warmup) if s.warmup else 1.0
    probabilities = [softmax(output) for pair in each for output in pair]
    return supervised + s.consistency * ramp * disagreement(probabilities, s)
