"""What training asks of a model: one method, and four that it may have.

N nodes, F features, C classes, D embedding. The loop looks for the methods by name; there is no
base class to inherit from.
"""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from bagcn.ops import Linear, Matrix

__all__ = ["Embeds", "HasObjective", "Model", "Prepares"]


class Model(Protocol):
    """Any module that predicts the classes of all nodes."""

    def __call__(self, x: Matrix, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        """Return logits (N, C) from features and the edges, or from what was prepared."""

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""


class Prepares(Protocol):
    """A model with something to compute from the graph once: Â, its powers, a rewiring."""

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, Any]:
        """Return features and graph in the form that all other methods take."""


class HasObjective(Protocol):
    """A model whose loss is more than the cross-entropy of the labelled nodes."""

    def objective(
        self, x: Matrix, graph: Any, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        """Return the loss of one step; ``labelled`` (N,) says whose ``y`` may be looked at."""


class Embeds(Protocol):
    """A model that learns without labels; its predictions are ``probe(embed(x, graph))``.

    No epoch of it is validated. After training, a logistic regression on the embeddings is put
    into ``probe``, whose parameters require no gradient. What is kept are the weights of the
    lowest training loss where training may stop early, else those of the last epoch.
    """

    probe: Linear

    def embed(self, x: Matrix, graph: Any) -> Tensor:
        """Return embeddings (N, D)."""
