"""Attacks on trained models: edges are flipped until as many test nodes as possible are wrong.

The attack is PR-BCD, which follows the gradient through the weights of a random block of all
possible edges (`Geisler et al. 2021 <https://arxiv.org/abs/2110.14038>`_), as PyTorch Geometric
has it. It is adaptive: the gradient is the attacked model's own, attention included.

N nodes, F features, E directed edges.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from bagcn.data._names import unknown
from bagcn.ops import Matrix

__all__ = ["KINDS", "Attack", "Search", "flip_edges"]

KINDS = ("adaptive", "transfer")
"""With the gradient of the attacked model itself, or of another."""


@dataclass(frozen=True)
class Attack:
    """What is done to a trained model.

    Args:
        kind: one of :data:`KINDS`.
        budget: how many edges may be flipped, as a share of those that there are.
    """

    kind: str
    budget: float

    @classmethod
    def parse(cls, text: str) -> Attack:
        """Read ``"adaptive:0.05"``."""
        kind, _, number = text.partition(":")
        if kind not in KINDS:
            raise unknown("attack on a trained model", kind, KINDS)
        try:
            budget = float(number)
        except ValueError:
            budget = math.nan
        if not 0 < budget <= 1:
            raise ValueError(f"cannot read the attack {text!r}; expected {kind}:SHARE, above 0")
        return cls(kind, budget)


@dataclass(frozen=True)
class Search:
    """How hard the attack tries.

    Args:
        block: how many possible edges are looked at together.
        steps: along the gradient; for the last fifth of them the block stays as it is.
        lr: length of a step.
    """

    block: int = 100_000
    steps: int = 125
    lr: float = 1_000.0


def flip_edges(
    model: nn.Module,
    x: Matrix,
    edge_index: Tensor,
    y: Tensor,
    targets: Tensor,
    budget: float,
    *,
    seed: int = 0,
    search: Search | None = None,
) -> Tensor:
    """Return the edges (2, E') of the graph on which the model is wrong about many targets.

    Args:
        model: trained; its output must be differentiable in the weights of the edges.
        x: features (N, F), on the model's device.
        edge_index: edges (2, E), in both directions.
        y: classes (N,).
        targets: the nodes to be misclassified.
        budget: how many undirected edges may be added or removed, as a share of E / 2.
        seed: of the random blocks.
        search: how hard to try.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on import it says that it may change
        from torch_geometric.contrib.nn import PRBCDAttack

    search, device = search or Search(), y.device
    attack = PRBCDAttack(
        _Victim(model, x),
        block_size=search.block,
        epochs=search.steps,
        epochs_resampling=search.steps * 4 // 5,
        loss="tanh_margin",
        metric=_errors,
        lr=search.lr,
        log=False,
    )
    flips = math.floor(budget * edge_index.shape[1] / 2 + 1e-9)
    nodes = torch.empty(y.shape[0], 0, device=device)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        edges, _ = attack.attack(nodes, edge_index, y, flips, targets)
    changed: Tensor = edges
    return changed


class _Victim(nn.Module):
    """A model whose weights and features stand still."""

    def __init__(self, model: nn.Module, x: Matrix) -> None:
        super().__init__()
        self.model = model.requires_grad_(False).eval()
        self._x = x

    def forward(self, nodes: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Tensor:
        logits: Tensor = self.model(self._x, edge_index, edge_weight)
        return logits


def _errors(logits: Tensor, y: Tensor, targets: Tensor) -> Tensor:
    """Return the share of targets that are misclassified."""
    return (logits[targets].argmax(-1) != y[targets]).double().mean()
