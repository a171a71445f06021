# N nodes, D embedding, C classes.
from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import Tensor, nn

from bagcn.data import Split
from bagcn.ops import Linear
from bagcn.training import Member, Task, TrainSettings, train
from bagcn.training.probe import NEVER, STRENGTHS, fit_probe

NODES, WIDTH = 90, 5


def clouds(classes: int, noise: float = 2.5) -> tuple[Tensor, Tensor, Split]:
    """Return points around one centre a class, their classes and a split."""
    generator = torch.Generator().manual_seed(classes)
    y = torch.arange(NODES) % classes
    centres = torch.randn(classes, WIDTH, generator=generator) * 2 + 10
    points = centres[y] + noise * torch.randn(NODES, WIDTH, generator=generator)
    parts = (torch.arange(0, 30), torch.arange(30, 60), torch.arange(60, 90))
    return points * torch.tensor([1.0, 5.0, 0.1, 1.0, 100.0]), y, Split("clouds", *parts)


def chosen_by_scikit_learn(x: Tensor, y: Tensor, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Return classes and log-probabilities of the strongest of the best on validation."""
    values, labels = x.double().numpy(), y.numpy()
    train, val = split.train.numpy(), split.val.numpy()
    candidates = [
        make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=1000)) for c in STRENGTHS
    ]
    scores = [
        m.fit(values[train], labels[train]).score(values[val], labels[val]) for m in candidates
    ]
    best = candidates[int(np.argmax(scores))]
    return best.predict(values), best.predict_log_proba(values)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_predictions_of_scikit_learn(classes: int) -> None:
    x, y, split = clouds(classes)
    weight, bias = fit_probe(x.double(), y, split, classes)
    predicted, log_probabilities = chosen_by_scikit_learn(x, y, split)
    logits = x.double() @ weight + bias
    np.testing.assert_array_equal(logits.argmax(1).numpy(), predicted)
    np.testing.assert_allclose(logits.log_softmax(1).numpy(), log_probabilities, atol=1e-8)
    assert 0.5 < float((predicted == y.numpy()).mean()) < 1  # neither trivial nor hopeless


@pytest.mark.parametrize("known", [[0, 2, 3], [1, 3]])
def test_class_without_training_nodes(known: list[int]) -> None:
    """It is never predicted, and the others are what scikit-learn makes of them alone."""
    x, y, split = clouds(4)
    seen = torch.isin(y[split.train], torch.tensor(known))
    split = Split("clouds", split.train[seen], split.val, split.test)
    weight, bias = fit_probe(x.double(), y, split, 4)
    predicted, log_probabilities = chosen_by_scikit_learn(x, y, split)
    logits = x.double() @ weight + bias
    np.testing.assert_array_equal(logits.argmax(1).numpy(), predicted)
    assert set(predicted.tolist()) == set(known)
    own = logits.log_softmax(1)[:, known].numpy()
    np.testing.assert_allclose(own, log_probabilities, atol=1e-6)
    missing = [c for c in range(4) if c not in known]
    assert (bias[missing] == NEVER).all()
    assert torch.isfinite(nn.functional.cross_entropy(logits, y))


def test_ties_go_to_the_stronger_regularisation() -> None:
    """Points that all strengths tell apart: the strongest is taken."""
    x, y, split = clouds(2, noise=0.01)
    weight, bias = fit_probe(x.double(), y, split, 2)
    scaler = StandardScaler().fit(x[split.train].numpy())
    strongest = LogisticRegression(C=STRENGTHS[0], max_iter=1000)
    strongest.fit(scaler.transform(x[split.train].numpy()), y[split.train].numpy())
    margin = (x.double() @ weight + bias).diff(dim=1).squeeze(1)
    expected = strongest.decision_function(scaler.transform(x.numpy()))
    np.testing.assert_allclose(margin.numpy(), expected, atol=1e-5)


class Turning(nn.Module):
    """Embeds by a learnt scale, whose best value the objective passes in the middle of training."""

    def __init__(self, in_channels: int, classes: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(in_channels))
        self.probe = Linear(in_channels, classes).requires_grad_(False)

    def embed(self, x: Tensor, graph: Tensor) -> Tensor:
        return x * self.scale + x

    def objective(
        self, x: Tensor, graph: Tensor, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        pull = torch.where(epoch < 6, 1.0, -1.0)
        return (pull * (self.scale - 2).square()).mean() + torch.where(epoch < 6, 0.0, 100.0)

    def forward(self, x: Tensor, graph: Tensor) -> Tensor:
        out: Tensor = self.probe(self.embed(x, graph))
        return out


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize(("patience", "best", "epochs"), [(0, 11, 12), (3, 5, 9)])
def test_which_weights_are_embedded(keep: bool, patience: int, best: int, epochs: int) -> None:
    """Those of the last epoch, or of the lowest loss where training may stop early."""
    x, y, split = clouds(3)
    task = Task(x, torch.zeros(2, 0, dtype=torch.int64), y)
    settings = TrainSettings(epochs=12, lr=0.1, patience=patience, weight_decay=0.0)
    result = train(Turning, task, [Member(0, split)], settings, keep_weights=keep)[0].check()
    assert (result.best_epoch, result.epochs) == (best, epochs)
    reference = Turning(WIDTH, 3)
    state = torch.zeros(WIDTH)
    optimizer = torch.optim.Adam([reference.scale], lr=0.1)
    for epoch in range(best + 1):
        optimizer.zero_grad()
        reference.objective(x, x, y, y > 0, torch.tensor(epoch)).backward()
        optimizer.step()
        state = reference.scale.detach()
    weight, bias = fit_probe(x * state + x, y, split, 3)
    logits = (x * state + x) @ weight + bias
    right = logits.argmax(1) == y
    assert result.test == pytest.approx(float(right[split.test].float().mean()))
    assert result.val == pytest.approx(float(right[split.val].float().mean()))
    if keep:
        assert result.weights is not None
        torch.testing.assert_close(result.weights["scale"], state)
        torch.testing.assert_close(result.weights["probe.weight"], weight)
        torch.testing.assert_close(result.weights["probe.bias"], bias)


def test_averaged_weights_are_embedded() -> None:
    x, y, split = clouds(3)
    task = Task(x, torch.zeros(2, 0, dtype=torch.int64), y)
    settings = TrainSettings(epochs=2, lr=0.1, weight_decay=0.0, ema=0.9)
    result = train(Turning, task, [Member(0, split)], settings, keep_weights=True)[0].check()
    reference = Turning(WIDTH, 3)
    optimizer = torch.optim.Adam([reference.scale], lr=0.1)
    average = reference.scale.detach().clone()
    for epoch in range(2):
        optimizer.zero_grad()
        reference.objective(x, x, y, y > 0, torch.tensor(epoch)).backward()
        optimizer.step()
        share = (1 + epoch) / (10 + epoch)
        average = share * average + (1 - share) * reference.scale.detach()
    weight, _ = fit_probe(x * average + x, y, split, 3)
    assert result.weights is not None
    torch.testing.assert_close(result.weights["scale"], average)
    torch.testing.assert_close(result.weights["probe.weight"], weight)


def test_no_epoch_is_validated() -> None:
    x, y, split = clouds(3)
    task = Task(x, torch.zeros(2, 0, dtype=torch.int64), y)
    settings = TrainSettings(epochs=4, weight_decay=0.0)
    results = train(Turning, task, [Member(s, split) for s in (0, 1)], settings)
    for result in results:
        assert all(np.isnan(result.curves[name]).all() for name in ("val", "val_loss", "test"))
        assert 0.5 < result.test <= 1
