"""NodeClassifier: fit, predict, save and load, with scikit-learn's conventions.

N nodes, F features, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from bagcn.calibration import FEWEST, expected_calibration_error, fit_temperature
from bagcn.ops import Matrix, as_matrix
from bagcn.study.models import argument_names, build_model
from bagcn.tables.encoders import fit_encoder
from bagcn.tables.graph import Graph, Layout
from bagcn.tables.ids import match
from bagcn.tables.inputs import as_graph
from bagcn.tables.labels import class_names, encode, stratified_split
from bagcn.tables.structure import StructureEncoder
from bagcn.tables.summary import describe
from bagcn.training import Member, Result, Task, TrainSettings, train

__all__ = ["NodeClassifier"]

Array = np.ndarray
EXACT_UP_TO = {"cpu": 10_000, "cuda": 100_000}  # nodes; beyond, attention="auto" is "none"


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify the nodes of a graph of which a few are labelled.

    ``predict()`` without a graph is *transductive*: it returns the classes of the graph the model
    was fitted on, whose features and edges, but not the hidden labels, it saw while training.
    ``predict(graph)`` is *inductive*: the weights, the feature encoders and the running
    statistics of the batch normalisation stay as they were fitted, and everything else is
    computed from the given graph. The attention goes over all nodes of that graph, so adding
    nodes to it can change the prediction of every other node, if only slightly.

    ``clone``, ``get_params`` and ``ParameterGrid`` of scikit-learn work as usual. What takes rows
    out of X, such as ``cross_val_score`` and ``GridSearchCV``, does not: nodes cannot be taken out
    of a graph without changing it. Compare settings by ``result_.val`` instead, the accuracy on
    the validation nodes.

    Args:
        model: a name that ``bagcn models`` lists.
        hidden_channels: width of the hidden layer.
        input_dropout: of the features.
        dropout: before the predictors.
        attention: ``"exact"``, ``"none"``, or ``"auto"``: exact for graphs that are small enough.
        inference: ``"mean"`` of both views, or ``"gcn"``.
        warmup: epochs over which the consistency loss grows to its full weight.
        model_params: further arguments of the model.
        lr: learning rate.
        weight_decay: of the weight matrices.
        epochs: at most so many.
        patience: stop when validation has not improved for so many epochs; 0 never stops early.
        members: how many are trained, from different initial weights; the one with the best
            validation accuracy is kept.
        train_share: of the labelled nodes, where the split is drawn.
        val_share: of the labelled nodes; the rest tests.
        scaling: of features that are arrays: ``"auto"``, ``"standard"``, ``"row"``, ``"row-l2"``,
            ``"binary"`` or ``"none"``.
        no_features: what is used in place of features, also of those that there are:
            ``"structural"``, what surrounds a node, or ``"random-walk"``, where it is.
        device: ``"auto"`` is a GPU where there is one.
        random_state: an integer, for the same result every time on the same machine, or None.

    Attributes:
        model_: the fitted module, in evaluation mode, with the weights of the best epoch.
        task_: the graph it was fitted on: scaled features, edges, classes with -1 for unknown.
        ids_: the owner's ids in the order of the nodes, (N,).
        classes_: the owner's classes in the order of the logits, (C,).
        known_: the class of each labelled node, None for the others, (N,) objects.
        feature_names_: a name for each column of ``task_.x``.
        split_: who trained, validated and tested.
        encoder_: what turns a graph's columns into features.
        temperature_: what the logits are divided by, fitted on the validation nodes; 1 if these
            are fewer than ten.
        arguments_: what the model was built with.
        seed_: of the split and of training.
        result_: of training: accuracies, epochs, curves; not of a loaded model.
        metrics_: the numbers that the bundle keeps.
    """

    def __init__(
        self,
        model: str = "bagcn-add",
        *,
        hidden_channels: int = 64,
        input_dropout: float = 0.5,
        dropout: float = 0.3,
        attention: str = "auto",
        inference: str = "mean",
        warmup: int = 50,
        model_params: Mapping[str, Any] | None = None,
        lr: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 200,
        patience: int = 60,
        members: int = 1,
        train_share: float = 0.6,
        val_share: float = 0.2,
        scaling: str = "auto",
        no_features: str | None = None,
        device: str = "auto",
        random_state: int | None = 0,
    ) -> None:
        self.model = model
        self.hidden_channels = hidden_channels
        self.input_dropout = input_dropout
        self.dropout = dropout
        self.attention = attention
        self.inference = inference
        self.warmup = warmup
        self.model_params = model_params
        self.lr = lr
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.patience = patience
        self.members = members
        self.train_share = train_share
        self.val_share = val_share
        self.scaling = scaling
        self.no_features = no_features
        self.device = device
        self.random_state = random_state

    def fit(
        self,
        graph: Any,
        y: Any = None,
        *,
        edges: Any = None,
        features: Any = None,
        layout: Layout | None = None,
        on_epoch: Callable[[int], None] | None = None,
    ) -> NodeClassifier:
        """Learn from the labelled nodes of a graph.

        Args:
            graph: a PyTorch Geometric ``Data``, a NetworkX graph, a SciPy adjacency or a pandas
                frame of nodes; see :func:`bagcn.tables.as_graph`.
            y: the classes, or the name of the column that holds them.
            edges: a frame of edges, with a frame of nodes.
            features: of the nodes, with a SciPy adjacency.
            layout: what the columns mean, where that is not plain.
            on_epoch: called after each epoch with its number.
        """
        self._prepare(as_graph(graph, y, edges=edges, features=features, layout=layout))
        return self._learn(on_epoch)

    def predict(self, graph: Any = None, *, edges: Any = None, features: Any = None) -> Array:
        """Return the class of every node, (N,): of the fitted graph, or of the one given."""
        probabilities = self.predict_proba(graph, edges=edges, features=features)
        classes: Array = self.classes_[probabilities.argmax(axis=1)]
        return classes

    def predict_proba(self, graph: Any = None, *, edges: Any = None, features: Any = None) -> Array:
        """Return calibrated probabilities (N, C), the columns in the order of ``classes_``."""
        check_is_fitted(self, "model_")
        owned = None
        if graph is not None:
            owned = as_graph(
                graph, edges=edges, features=features, layout=self.layout_, labelled=False
            )
        probabilities: Array = (self._logits(owned) / self.temperature_).softmax(-1).numpy()
        return probabilities

    def score(
        self, graph: Any = None, y: Any = None, *, edges: Any = None, features: Any = None
    ) -> float:
        """Return the accuracy: on the test nodes, or on all labelled nodes of the graph given."""
        check_is_fitted(self, "model_")
        if graph is None:
            nodes = self.split_.test
            if not len(nodes):
                raise ValueError("the split has no test nodes: give a graph with labels to score")
            truth, predicted = self.task_.y[nodes].numpy(), self.predict()[nodes]
            return float((self.classes_[truth] == predicted).mean())
        owned = as_graph(graph, y, edges=edges, features=features, layout=self.layout_)
        known = np.array([label is not None for label in owned.labels])
        return float((owned.labels[known] == self.predict(owned)[known]).mean())

    def explain(self, node: Any, top: int = 10) -> dict[str, Any]:
        """Return why a node of the fitted graph is predicted as it is.

        Args:
            node: its id.
            top: how many of the distant nodes that the prediction rests on.

        Returns:
            Plain data; see :func:`bagcn.explain.reasons.reasons`.
        """
        check_is_fitted(self, "model_")
        from bagcn.explain.named import Named
        from bagcn.explain.reasons import reasons

        return reasons(Named.from_classifier(self), node, top)

    def save(self, path: str | Path) -> None:
        """Write the fitted model as a folder; see :mod:`bagcn.bundle`."""
        check_is_fitted(self, "model_")
        from bagcn import bundle

        bundle.save(self, path)

    @staticmethod
    def load(path: str | Path, device: str = "auto") -> NodeClassifier:
        """Read a folder that :meth:`save` wrote."""
        from bagcn import bundle

        return bundle.load(path, device)

    def _prepare(self, owned: Graph) -> NodeClassifier:
        """Learn the encoders, share out the labels, encode: all that comes before training."""
        self._device()
        self.seed_ = self._seed()
        self.layout_, self.counts_ = owned.layout, owned.counts
        self.ids_, self.known_ = owned.ids, owned.labels
        self.classes_ = class_names(owned.labels)
        y = encode(owned.labels, self.classes_)
        self.split_ = owned.split or stratified_split(
            y, self.classes_, self.seed_, self.train_share, self.val_share
        )
        if not (len(self.split_.train) and len(self.split_.val)):
            raise ValueError("the split leaves no labelled node to train, or none to validate")
        self.encoder_ = fit_encoder(owned, self.scaling, self.no_features)
        self.feature_names_ = self.encoder_.names
        x = self.encoder_.transform(owned)
        self.task_ = Task(x, owned.edge_index, y, owned.edge_weight, len(self.classes_))
        return self

    def _learn(self, on_epoch: Callable[[int], None] | None = None) -> NodeClassifier:
        """Train on what was prepared, keep the best epoch, calibrate on the validation nodes."""
        self.arguments_ = self._arguments()
        self.result_ = self._train(on_epoch)
        self._build(self.result_.weights or {})
        self._calibrate()
        return self

    def _train(self, on_epoch: Callable[[int], None] | None) -> Result:
        if self.members < 1:
            raise ValueError(f"members must be at least 1, got {self.members}")
        settings = TrainSettings(
            epochs=self.epochs,
            lr=self.lr,
            weight_decay=self.weight_decay,
            patience=self.patience,
        )
        seeds = range(self.seed_, self.seed_ + self.members)
        results = [
            train(
                self._maker(),
                self.task_,
                [Member(seed, self.split_)],
                settings,
                device=self._device(),
                on_epoch=on_epoch,
                keep_weights=True,
            )[0].check()
            for seed in seeds
        ]
        return max(results, key=lambda result: (result.val, -result.val_loss))

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of the model, without those it does not know."""
        known = argument_names(self.model)
        wanted = {
            "hidden_channels": self.hidden_channels,
            "input_dropout": self.input_dropout,
            "dropout": self.dropout,
            "attention": self._attention(),
            "inference": self.inference,
            "warmup": self.warmup,
        }
        own = {name: value for name, value in wanted.items() if name in known}
        return own | dict(self.model_params or {})

    def _attention(self) -> str:
        if self.attention != "auto":
            return self.attention
        limit = EXACT_UP_TO.get(self._device().type, EXACT_UP_TO["cpu"])
        return "exact" if self.task_.num_nodes <= limit else "none"

    def _maker(self) -> Callable[[int, int], nn.Module]:
        return partial(build_model, self.model, self.arguments_)

    def _build(self, weights: Mapping[str, Tensor]) -> None:
        self.model_ = self._maker()(self.task_.num_features, self.task_.num_classes)
        self.model_.load_state_dict(weights)
        self.model_.eval()

    def _device(self) -> torch.device:
        there = torch.cuda.is_available()
        if self.device == "auto":
            return torch.device("cuda" if there else "cpu")
        try:
            device = torch.device(self.device)
        except RuntimeError:
            raise ValueError(
                f"expected a device like auto, cpu or cuda, got {self.device!r}"
            ) from None
        if device.type == "cuda" and not there:
            raise ValueError("this machine or this build of torch has no GPU: use cpu or auto")
        return device

    def _seed(self) -> int:
        if self.random_state is None:
            return int(np.random.SeedSequence().generate_state(1)[0])
        return int(self.random_state)

    @torch.no_grad()
    def _logits(self, owned: Graph | None = None) -> Tensor:
        """Return the logits (N, C) of the fitted graph, or of another one."""
        device = self._device()
        if owned is not None:
            self._check_places(owned)
        model = self.model_.to(device)
        if owned is None:
            graph = self.task_.prepared_for(model, device)
        else:
            graph = _prepared(model, self.encoder_.transform(owned), owned, device)
        logits: Tensor = model(*graph)
        return logits.float().cpu()

    def _check_places(self, owned: Graph) -> None:
        """Refuse to predict by places that mean nothing in the graph given."""
        encoder = self.encoder_
        if not isinstance(encoder, StructureEncoder) or encoder.structure != "random-walk":
            return
        if (match(self.ids_, owned.ids) < 0).all():
            raise ValueError(
                "the features say where in its graph a node is (random-walk), and this graph has "
                "no node of the one the model was trained on: train with structural features"
            )

    def _calibrate(self) -> None:
        """Fit the temperature if validation nodes suffice; note what it does to the errors."""
        logits, y, split = self._logits().numpy(), self.task_.y.numpy(), self.split_
        enough = len(split.val) >= FEWEST
        self.temperature_ = fit_temperature(logits[split.val], y[split.val]) if enough else 1.0
        self.metrics_: dict[str, Any] = _training_metrics(self.result_)
        self.metrics_ |= {"temperature": self.temperature_, "data": describe(self)}
        for part in ("val", "test"):
            nodes = getattr(split, part).numpy()
            if len(nodes):
                self.metrics_[f"{part}_calibration_error"] = {
                    "before": expected_calibration_error(logits[nodes], y[nodes]),
                    "after": expected_calibration_error(logits[nodes], y[nodes], self.temperature_),
                }


def _prepared(
    model: nn.Module, x: Tensor, owned: Graph, device: torch.device
) -> tuple[Matrix, Any]:
    """Return a new graph in the form that the model computes with."""
    matrix, edges = as_matrix(x).to(device), owned.edge_index.to(device)
    weight = None if owned.edge_weight is None else owned.edge_weight.to(device)
    prepare = getattr(model, "prepare", None)
    return (matrix, edges) if prepare is None else prepare(matrix, edges, weight)


def _training_metrics(result: Result) -> dict[str, Any]:
    test = None if np.isnan(result.test) else result.test
    return {
        "val_accuracy": result.val,
        "test_accuracy": test,
        "best_epoch": result.best_epoch + 1,
        "epochs": result.epochs,
        "seconds": result.seconds,
        "seed": result.seed,
    }
