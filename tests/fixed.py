"""A graph and weights that are the same everywhere: made of sines, without a generator.

Recorded outputs of other people's code were made with these, so that no weights need be kept.
N nodes, F features.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
from torch import Tensor, nn

NODES, FEATURES, CLASSES = 12, 6, 3
EDGES = torch.tensor(
    [
        [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 6, 7, 7, 8, 8, 9, 9, 10, 2, 7, 1, 9],
        [1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 0, 5, 7, 6, 8, 7, 9, 8, 10, 9, 7, 2, 9, 1],
    ]
)
"""A ring of six, a path of five, two bridges, and node 11 alone; both directions."""


def fixed_features() -> Tensor:
    """Return features (N, F)."""
    return wave(NODES, FEATURES, phase=0.5)


def wave(*shape: int, phase: float) -> Tensor:
    """Return numbers in [-1, 1] of this shape, as float64 sines rounded to float32.

    The square keeps the rows of a matrix from being shifts of one sine, whose rank would be two.
    """
    k = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return torch.sin(0.37 * k * k + 1.7 * k + phase).view(shape).float()


def fix_parameters(model: nn.Module, scale: float = 0.5) -> None:
    """Set the i-th parameter of the model to ``scale`` times a wave of phase i."""
    with torch.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(scale * wave(*parameter.shape, phase=float(index)))


def recorded(name: str, case: str) -> Tensor:
    """Return what the authors' code computed for the fixed graph and weights."""
    file = Path(__file__).parent / "baselines" / "recorded" / f"{name}.json"
    return torch.tensor(json.loads(file.read_text("utf-8"))[case])
