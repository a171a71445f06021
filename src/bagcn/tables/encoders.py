"""From a graph's columns to the features that models take: learnt once, applied to any graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from bagcn.tables.arrays import ArrayEncoder
from bagcn.tables.graph import Graph

__all__ = ["Encoder", "fit_encoder", "restored_encoder"]

Array = np.ndarray


class Encoder:
    """An encoder of graphs."""

    def __init__(self, inner: ArrayEncoder) -> None:
        self.inner = inner

    @property
    def names(self) -> list[str]:
        """Return a name for each feature."""
        return self.inner.names

    def transform(self, graph: Graph) -> Tensor:
        """Return the features (N, F), dense or sparse CSR."""
        if graph.x is None:
            raise ValueError("the model was trained with features, but this graph has none")
        return self.inner.transform(graph.x)

    def saved(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what was learnt, as JSON and as arrays."""
        return self.inner.saved()


def restored_encoder(saved: dict[str, Any], arrays: dict[str, Array]) -> Encoder:
    """Return the encoder that ``saved()`` describes."""
    return Encoder(ArrayEncoder.restored(saved, arrays))


def fit_encoder(graph: Graph, scaling: str, no_features: str | None) -> Encoder:
    """Learn the encoder of a graph's features."""
    if graph.x is None:
        raise ValueError("this graph has no features")
    return Encoder(ArrayEncoder.fit(graph.x, scaling))
