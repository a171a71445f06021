"""A model on a graph, in the names that the graph's owner uses.

N nodes, F features, C classes.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bagcn.explain.shortcuts import Explanation, explain_nodes
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["Named"]


@dataclass(frozen=True, eq=False)
class Named:
    """What explanations are made from and written with.

    Args:
        model: a trained BAGCN model.
        x: features (N, F) in the form the model computes with.
        graph: the prepared adjacency.
        y: known classes (N,), -1 where unknown.
        ids: of the nodes, as texts.
        classes: their names.
        features: their names.
        train: the nodes whose classes were learnt from.
        temperature: what the logits are divided by.
    """

    model: nn.Module
    x: Matrix
    graph: SparseMatrix
    y: Tensor
    ids: Sequence[str]
    classes: Sequence[str]
    features: Sequence[str]
    train: Tensor
    temperature: float = 1.0

    @classmethod
    def from_classifier(cls, classifier: Any) -> Named:
        """Take a fitted :class:`bagcn.NodeClassifier`."""
        device = next(classifier.model_.parameters()).device
        x, graph = classifier.task_.prepared_for(classifier.model_, device)
        return cls(
            model=classifier.model_,
            x=x,
            graph=graph,
            y=classifier.task_.y,
            ids=[str(value) for value in classifier.ids_.tolist()],
            classes=[str(value) for value in classifier.classes_.tolist()],
            features=[str(name) for name in classifier.feature_names_],
            train=classifier.split_.train,
            temperature=classifier.temperature_,
        )

    @property
    def num_nodes(self) -> int:
        """Return N."""
        return len(self.ids)

    @cached_property
    def probabilities(self) -> Tensor:
        """Return the class probabilities of all nodes, (N, C)."""
        with torch.no_grad():
            logits: Tensor = self.model.eval()(self.x, self.graph)
        return (logits / self.temperature).softmax(-1).cpu()

    def explain(self, nodes: Tensor, top: int) -> Explanation:
        """Explain these nodes."""
        return explain_nodes(
            self.model, self.x, self.graph, nodes, top, temperature=self.temperature
        )

    def position(self, wanted: str) -> int:
        """Return the number of the node with this id, or raise naming the nearest ids."""
        for place, name in enumerate(self.ids):
            if name == wanted:
                return place
        raise ValueError(f"there is no node {wanted!r}; the nearest are {self._nearest(wanted)}")

    def _nearest(self, wanted: str) -> str:
        try:
            numbers = np.array([float(name) for name in self.ids])
            order = np.argsort(np.abs(numbers - float(wanted)), kind="stable")[:3].tolist()
            near = [self.ids[place] for place in order]
        except ValueError:  # ids that are no numbers: those that read alike
            near = difflib.get_close_matches(wanted, self.ids, n=3, cutoff=0.0)
        return ", ".join(near)
