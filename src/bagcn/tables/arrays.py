"""Features that are numbers already: one scaling for all of them, learnt and applied.

N nodes, F features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bagcn.data import SCALINGS, scale_features
from bagcn.data._names import unknown
from bagcn.tables.graph import Graph

__all__ = ["ARRAY_SCALINGS", "ArrayEncoder"]

Array = np.ndarray
ARRAY_SCALINGS = ("auto", "standard", *SCALINGS)


@dataclass(frozen=True, eq=False)
class ArrayEncoder:
    """A scaling of feature arrays.

    Args:
        scaling: ``"standard"`` for columns of mean 0 and deviation 1, or a name of
            :data:`bagcn.data.SCALINGS`.
        width: F.
        mean: of each column, (F,), for ``"standard"``.
        scale: the deviation of each column, (F,), for ``"standard"``.
    """

    scaling: str
    width: int
    mean: Array | None = None
    scale: Array | None = None

    @classmethod
    def fit(cls, x: Tensor, scaling: str = "auto") -> ArrayEncoder:
        """Learn the scaling; ``"auto"`` is by rows for sparse features, by columns for dense."""
        if scaling not in ARRAY_SCALINGS:
            raise unknown("feature scaling", scaling, ARRAY_SCALINGS)
        _finite(x)
        if scaling == "auto":
            scaling = "row" if _mostly_zero(x) else "standard"
        if scaling != "standard":
            return cls(scaling, x.shape[1])
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(_dense(x).double().numpy())
        return cls(scaling, x.shape[1], scaler.mean_, scaler.scale_)

    @property
    def names(self) -> list[str]:
        """Return a name for each feature."""
        return [f"x{i}" for i in range(self.width)]

    def transform(self, graph: Graph) -> Tensor:
        """Return the scaled features, (N, F)."""
        x = graph.x
        if x is None or x.shape[1] != self.width:
            there = "none" if x is None else x.shape[1]
            raise ValueError(
                f"the model was trained on {self.width} features, but this graph has {there}"
            )
        _finite(x)
        if self.mean is None or self.scale is None:
            return scale_features(x, self.scaling)
        scaled = (_dense(x).double() - torch.from_numpy(self.mean)) / torch.from_numpy(self.scale)
        return scaled.float()

    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what was learnt, as JSON and as arrays."""
        arrays = {n: a for n, a in (("mean", self.mean), ("scale", self.scale)) if a is not None}
        return {"kind": "array", "scaling": self.scaling, "width": self.width}, arrays

    @classmethod
    def restored(cls, saved: dict[str, Any], arrays: dict[str, Array]) -> ArrayEncoder:
        """Return the encoder that :meth:`saved` describes."""
        return cls(saved["scaling"], saved["width"], arrays.get("mean"), arrays.get("scale"))


def _mostly_zero(x: Tensor) -> bool:
    """Say whether the features are counts or indicators: no negative one, and most are zero."""
    if x.layout == torch.sparse_csr:
        return True
    return bool((x >= 0).all()) and int(x.count_nonzero()) < 0.2 * x.numel()


def _dense(x: Tensor) -> Tensor:
    return x if x.layout == torch.strided else x.to_dense()


def _finite(x: Tensor) -> None:
    stored = x.values() if x.layout == torch.sparse_csr else x
    if not torch.isfinite(stored).all():
        raise ValueError("the features hold NaN or infinite values: fill or drop them first")
