"""A model on a graph, in the names that the graph's owner uses.

N nodes, F features, C classes.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from bagcn.explain.opened import Weights
from bagcn.explain.shortcuts import Explanation, explain_nodes
from bagcn.ops import Matrix, SparseMatrix
from bagcn.tables.encoders import Encoder

__all__ = ["Named"]


@dataclass(frozen=True, eq=False)
class Named:
    """What explanations are made from and written with.

    Args:
        model: a trained BAGCN model.
        x: features (N, F) in the form the model computes with.
        graph: the prepared adjacency.
        y: known classes (N,), -1 where unknown.
        ids: of the nodes, as their owner has them.
        classes: likewise.
        features: their names.
        train: the nodes whose classes were learnt from.
        temperature: what the logits are divided by.
        encoder: what made the features; if given, they are told as they were before it.
    """

    model: nn.Module
    x: Matrix
    graph: SparseMatrix
    y: Tensor
    ids: Sequence[Any]
    classes: Sequence[Any]
    features: Sequence[str]
    train: Tensor
    temperature: float = 1.0
    encoder: Encoder | None = None

    @classmethod
    def from_classifier(cls, classifier: Any) -> Named:
        """Take a fitted :class:`bagcn.NodeClassifier`."""
        device = classifier._device()
        model = classifier.model_.to(device)
        x, graph = classifier.task_.prepared_for(model, device)
        return cls(
            model=model,
            x=x,
            graph=graph,
            y=classifier.task_.y,
            ids=classifier.ids_.tolist(),
            classes=classifier.classes_.tolist(),
            features=[str(name) for name in classifier.feature_names_],
            train=classifier.split_.train,
            temperature=classifier.temperature_,
            encoder=classifier.encoder_,
        )

    @property
    def num_nodes(self) -> int:
        """Return N."""
        return len(self.ids)

    @cached_property
    def names(self) -> list[str]:
        """Return the ids as texts."""
        return [str(value) for value in self.ids]

    @cached_property
    def probabilities(self) -> Tensor:
        """Return the class probabilities of all nodes, (N, C)."""
        with torch.no_grad():
            logits: Tensor = self.model.eval()(self.x, self.graph)
        return (logits / self.temperature).softmax(-1).cpu()

    def explain(self, nodes: Tensor, top: int, weights: Weights = "prediction") -> Explanation:
        """Explain these nodes."""
        return explain_nodes(
            self.model,
            self.x,
            self.graph,
            nodes.to(self.graph.device),
            top,
            weights=weights,
            temperature=self.temperature,
        )

    def position(self, wanted: Any) -> int:
        """Return the number of the node with this id, or with an id that reads like it."""
        for known, asked in ((self.ids, wanted), (self.names, str(wanted))):
            if asked in known:
                return known.index(asked)
        raise ValueError(
            f"there is no node with the id {wanted!r}; the nearest are {self._nearest(str(wanted))}"
        )

    def _nearest(self, wanted: str) -> str:
        """Return ids that differ in their last number, the nearest first, else those alike."""
        stem, number = _numbered(wanted)
        same = []
        for name in self.names:
            own_stem, own = _numbered(name)
            if own_stem == stem and own >= 0 <= number:
                same.append((abs(own - number), name))
        near = [name for _, name in sorted(same)[:3]]
        return ", ".join(near or difflib.get_close_matches(wanted, self.names) or self.names[:3])


def _numbered(name: str) -> tuple[str, int]:
    """Split off the whole number at the end; -1 if there is none."""
    found = re.fullmatch(r"(.*?)([0-9]+)", name, re.DOTALL)
    return (name, -1) if found is None else (found[1], int(found[2]))
