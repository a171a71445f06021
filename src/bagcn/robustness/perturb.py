"""A perturbed graph by its name: what a recipe's ``graph`` means.

``KIND:LEVEL:DRAW`` is random damage, ``add-edges:0.5:1`` say; ``KIND:LEVEL`` is a ready attack,
``metattack:0.15`` say. N nodes, F features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from bagcn.data import load
from bagcn.data._names import unknown
from bagcn.data.prognn import ATTACKS, SPLIT, load_attacked
from bagcn.robustness.noise import add_edges, add_feature_noise, mask_features, remove_edges

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["EDGE_NOISE", "FEATURE_NOISE", "KINDS", "Perturbation"]

EDGE_NOISE: dict[str, Callable[[Tensor, int, float, int], Tensor]] = {
    "add-edges": add_edges,
    "remove-edges": remove_edges,
}
FEATURE_NOISE: dict[str, Callable[[Tensor, float, int], Tensor]] = {
    "feature-noise": add_feature_noise,
    "feature-mask": mask_features,
}
KINDS = (*EDGE_NOISE, *FEATURE_NOISE, *ATTACKS)
"""All that can be done to a graph before a model is trained on it."""


@dataclass(frozen=True)
class Perturbation:
    """What is done to a graph.

    Args:
        kind: one of :data:`KINDS`.
        level: how much of it; 0 is nothing.
        draw: which of the random graphs of that kind; ready attacks have only one.
    """

    kind: str
    level: float
    draw: int = 0

    @classmethod
    def parse(cls, text: str) -> Perturbation:
        """Read ``"add-edges:0.5:1"`` or ``"metattack:0.15"``."""
        kind, *numbers = text.split(":")
        if kind not in KINDS:
            raise unknown("perturbation", kind, KINDS)
        try:
            level, draw = float(numbers[0]), int(numbers[1]) if len(numbers) > 1 else 0
        except (ValueError, IndexError):
            level, draw = -1.0, -1
        if level < 0 or draw < 0 or len(numbers) != (1 if kind in ATTACKS else 2):
            form = f"{kind}:LEVEL" if kind in ATTACKS else f"{kind}:LEVEL:DRAW"
            raise ValueError(f"cannot read the perturbation {text!r}; expected {form}")
        return cls(kind, level, draw)

    def __str__(self) -> str:
        text = f"{self.kind}:{self.level:g}"
        return text if self.split else f"{text}:{self.draw}"

    @property
    def split(self) -> str:
        """Return the split that the graph was attacked for; nothing of random damage."""
        return SPLIT if self.kind in ATTACKS else ""

    def load(self, name: str, data_dir: Path | None = None, offline: bool = False) -> Data:
        """Load the data set with the edges that are left."""
        if self.split:
            return load_attacked(name, self.kind, self.level, data_dir=data_dir)
        data = load(name, data_dir=data_dir, offline=offline)
        if self.kind in EDGE_NOISE:
            change = EDGE_NOISE[self.kind]
            data.edge_index = change(data.edge_index, data.num_nodes, self.level, self.draw)
        return data

    def features(self, x: Tensor) -> Tensor:
        """Return the features (N, F) that are left, of features that are scaled already.

        After the scaling, because noise before it would drown the rows' sums and make every
        entry of binary features a one.
        """
        change = FEATURE_NOISE.get(self.kind)
        return x if change is None else change(x, self.level, self.draw)
