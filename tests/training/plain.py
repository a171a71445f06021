"""Training as one would write it by hand: one model, torch's own Adam, lists of numbers.

N nodes, C classes. What :func:`bagcn.training.train` returns is held to this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bagcn.baselines.gcn import GCN
from bagcn.data import Split, synthetic_graph
from bagcn.nn import BAGCN
from bagcn.ops import random_stream, stream_key
from bagcn.training import Task

Build = Callable[[int, int], nn.Module]


@dataclass
class Run:
    """The curves of a run and where it was at its best."""

    loss: list[float] = field(default_factory=list)
    val: list[float] = field(default_factory=list)
    val_loss: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)

    @property
    def best(self) -> int:
        """The epoch of the best validation accuracy; among equals of the lowest loss, the first."""
        ranked = [
            (-val, loss, i)
            for i, (val, loss) in enumerate(zip(self.val, self.val_loss, strict=True))
        ]
        return min(ranked)[2]


def graph(nodes: int = 90, noise: float = 1.0, seed: int = 0) -> tuple[Task, Split]:
    data = synthetic_graph(
        nodes, num_classes=3, regions_per_class=2, num_features=12, noise=noise, seed=seed,
        train_per_class=5, val_per_class=8,
    )  # fmt: skip
    parts = (data[f"{part}_mask"].nonzero().flatten() for part in ("train", "val", "test"))
    return Task.from_data(data), Split("synthetic", *parts)


def bagcn(**arguments: Any) -> Build:
    return lambda features, classes: BAGCN(features, 8, classes, **arguments)


def gcn(dropout: float = 0.5) -> Build:
    return lambda features, classes: GCN(features, 8, classes, dropout=dropout)


def train_plainly(
    build: Build,
    task: Task,
    split: Split,
    seed: int,
    *,
    epochs: int,
    lr: float = 0.01,
    weight_decay: float = 5e-4,
    patience: int = 0,
    keyed: bool = True,
) -> Run:
    """Train one model; masks come from the seed and the epoch, or from torch's own generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: Any = build(task.num_features, task.num_classes)
        optimizer = torch.optim.Adam(_groups(model, weight_decay), lr=lr)
        x, adjacency = model.prepare(task.x, task.edge_index)
        run = Run()
        for epoch in range(epochs):
            model.train()
            optimizer.zero_grad()
            with random_stream(_key(seed, epoch)) if keyed else nullcontext():
                loss = _objective(model, x, adjacency, task, split, epoch)
            loss.backward()
            optimizer.step()
            model.eval()
            with torch.no_grad():
                _note(run, float(loss.detach()), model(x, adjacency), task.y, split)
            if patience and len(run.loss) - 1 - run.best >= patience:
                break
        return run


def _groups(model: nn.Module, weight_decay: float) -> list[Mapping[str, Any]]:
    """Matrices decay, biases and norms do not."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": others}]


def _key(seed: int, epoch: int) -> Tensor:
    """Seeds are unsigned numbers, keys signed ones."""
    numbers = (torch.tensor(n, dtype=torch.int32) for n in (seed - 2**31, epoch))
    return stream_key(*numbers)


def _objective(model: Any, x: Any, adjacency: Any, task: Task, split: Split, epoch: int) -> Tensor:
    if hasattr(model, "objective"):
        labelled = torch.zeros(task.num_nodes, dtype=torch.bool)
        labelled[split.train] = True
        out: Tensor = model.objective(x, adjacency, task.y, labelled, torch.tensor(epoch))
        return out
    return F.cross_entropy(model(x, adjacency)[split.train], task.y[split.train])


def _note(run: Run, loss: float, logits: Tensor, y: Tensor, split: Split) -> None:
    assert math.isfinite(loss)
    right = (logits.argmax(dim=1) == y).float()
    run.loss.append(loss)
    run.val.append(float(right[split.val].mean()))
    run.val_loss.append(float(F.cross_entropy(logits[split.val], y[split.val])))
    run.test.append(float(right[split.test].mean()))
