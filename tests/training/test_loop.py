# M members, T epochs.
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from bagcn.baselines.gcn import GCN
from bagcn.nn import BAGCN
from bagcn.ops import cross_entropy
from bagcn.training import Member, Result, TrainSettings, loop, train
from bagcn.training.capture import current
from bagcn.training.stack import Stack
from training.plain import Run, bagcn, gcn, graph, train_plainly

OFF = {"input_dropout": 0.0, "dropout": 0.0}
SETTINGS = TrainSettings(epochs=25, lr=0.01)


def close(found: Result, expected: Result | Run, tolerance: float = 1e-5) -> None:
    """The same losses within the tolerance, the same accuracies."""
    wanted = expected.curves if isinstance(expected, Result) else vars(expected)
    for name in ("loss", "val_loss"):
        assert found.curves[name] == pytest.approx(wanted[name], abs=tolerance)
    for name in ("val", "test"):
        assert found.curves[name] == pytest.approx(wanted[name], abs=1e-6)


@pytest.mark.parametrize("arguments", [{}, {"fusion": "mul", "warmup": 9}, OFF], ids=str)
def test_equals_a_plain_loop(arguments: dict[str, Any]) -> None:
    """Objective, masks, Adam, evaluation and the choice of the epoch."""
    task, split = graph()
    expected = train_plainly(bagcn(**arguments), task, split, 4, epochs=25)
    found = train(bagcn(**arguments), task, [Member(4, split)], SETTINGS)[0]
    close(found, expected)
    best = expected.best
    assert found.best_epoch == best
    assert found.epochs == 25
    assert (found.val, found.test) == pytest.approx((expected.val[best], expected.test[best]))
    assert found.val_loss == pytest.approx(expected.val_loss[best], abs=1e-5)


@pytest.mark.parametrize("build", [bagcn(**OFF), bagcn(), gcn(0.0), gcn()])
def test_a_member_equals_its_run_alone(build: Any) -> None:
    task, split = graph()
    members = [Member(seed, split) for seed in (0, 1, 2**40 + 7)]
    together = train(build, task, members, SETTINGS)
    assert together[0].curves["loss"] != together[1].curves["loss"]
    for member, result in zip(members, together, strict=True):
        close(result, train(build, task, [member], SETTINGS)[0])
        assert result.seed == member.seed


def test_members_with_splits_of_their_own() -> None:
    task, split = graph()
    other = replace(split, train=split.train[::2], val=split.test[:10], test=split.test[10:])
    members = [Member(0, split), Member(0, other)]
    for member, result in zip(members, train(bagcn(), task, members, SETTINGS), strict=True):
        close(result, train_plainly(bagcn(), task, member.split, 0, epochs=25))


OWN = {
    "lr": (0.001, 0.03),
    "weight_decay": (0.0, 0.05),
    "dropout": (0.0, 0.5),
    "input_dropout": (0.2, 0.7),
    "consistency": (0.0, 3.0),
    "temperature": (0.3, 1.0),
    "confidence": (0.0, 0.5),
}


@pytest.mark.parametrize("names", [*((name,) for name in OWN), tuple(OWN)], ids=", ".join)
def test_members_with_settings_of_their_own(names: tuple[str, ...]) -> None:
    """Each is the run that its settings would give alone, as plain arguments."""
    task, split = graph()
    few = replace(SETTINGS, epochs=12)  # at a large rate rounding grows from epoch to epoch
    members = [Member(3, split, {name: OWN[name][i] for name in names}) for i in range(2)]
    together = train(bagcn(), task, members, few)
    assert together[0].curves["loss"] != together[1].curves["loss"]
    for member, result in zip(members, together, strict=True):
        own = dict(member.settings)
        common = {name: own.pop(name) for name in ("lr", "weight_decay") if name in own}
        close(result, train(bagcn(**own), task, [Member(3, split)], replace(few, **common))[0])


class Weighted(GCN):
    """A setting with the name of parameters within."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes, dropout=0.0)
        self.weight = 1.0

    def objective(self, x: Any, graph: Any, y: Any, labelled: Any, epoch: Any) -> Any:
        return self.weight * cross_entropy(self(x, graph), y, labelled)


def test_a_setting_is_not_taken_for_a_parameter_of_its_name() -> None:
    task, split = graph()
    members = [Member(3, split, {"weight": weight}) for weight in (0.5, 3.0)]
    together = train(lambda f, c: Weighted(f, 8, c), task, members, SETTINGS)
    losses = [result.curves["loss"][0] for result in together]
    plain = train(gcn(0.0), task, [Member(3, split)], SETTINGS)[0].curves["loss"][0]
    assert losses == pytest.approx([0.5 * plain, 3 * plain], rel=1e-6)


def test_a_diverging_member_is_reported_and_harms_nobody() -> None:
    task, split = graph()
    members = [Member(i, split, {"lr": lr}) for i, lr in enumerate((0.01, 1e38, 0.01))]
    results = train(bagcn(), task, members, SETTINGS)
    for i in (0, 2):
        assert results[i].check() is results[i]
        close(results[i], train(bagcn(), task, [Member(i, split)], SETTINGS)[0])
    # the first loss is computed before the first, fatal step
    assert results[1].diverged == 1
    assert results[1].epochs == 2
    assert torch.tensor(results[1].curves["loss"]).isfinite().tolist() == [True, False]
    with pytest.raises(ValueError, match="seed 1: the loss became NaN or infinite in epoch 2; try"):
        results[1].check()


def test_a_run_that_diverges_alone_stops() -> None:
    task, split = graph()
    done: list[int] = []
    settings = replace(SETTINGS, lr=1e38)
    result = train(bagcn(), task, [Member(0, split)], settings, on_epoch=done.append)[0]
    assert result.diverged == 1
    assert done == [1, 2]


def test_early_stopping_equals_a_plain_loops() -> None:
    task, split = graph()
    settings = TrainSettings(epochs=80, patience=4)
    members = [Member(seed, split) for seed in range(4)]
    results = train(bagcn(), task, members, settings)
    assert len({result.epochs for result in results}) > 1
    for result in results:
        expected = train_plainly(bagcn(), task, split, result.seed, epochs=80, patience=4)
        assert result.epochs == len(expected.loss) < 80
        assert result.best_epoch == expected.best == result.epochs - 5
        close(result, expected, tolerance=1e-4)


def test_members_that_ended_leave_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others go on as if alone: their weights, moments, masks and settings with them."""
    sizes: list[int] = []
    narrow = Stack.narrow

    def noted(stack: Stack, keep: Tensor) -> None:
        narrow(stack, keep)
        sizes.append(stack.size)

    monkeypatch.setattr(Stack, "narrow", noted)
    task, split = graph()
    settings = TrainSettings(epochs=40, patience=3, ema=0.9)
    rates = (0.1, 0.0001, 0.03, 0.001, 0.05, 0.01)
    members = [
        Member(seed, split, {"lr": lr, "dropout": lr**0.5, "weight_decay": lr / 10})
        for seed, lr in enumerate(rates)
    ]
    together = train(bagcn(), task, members, settings, keep_weights=True)
    alone = [train(bagcn(), task, [m], settings, keep_weights=True)[0] for m in members]
    assert len({result.epochs for result in alone}) > 2
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 3
    for result, expected in zip(together, alone, strict=True):
        close(result, expected, 1e-4)
        assert (result.seed, result.epochs) == (expected.seed, expected.epochs)
        assert (result.best_epoch, result.test) == (expected.best_epoch, expected.test)
        assert result.together == len(members)
        assert result.seconds > 0
        assert result.weights is not None
        assert expected.weights is not None
        for name, tensor in expected.weights.items():
            torch.testing.assert_close(result.weights[name], tensor, atol=1e-3, rtol=1e-3)


def test_the_same_twice_bit_for_bit() -> None:
    task, split = graph()
    members = [Member(seed, split) for seed in (5, 6)]
    first, second = (train(bagcn(), task, members, SETTINGS, keep_weights=True) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        assert one.curves == two.curves
        assert one.weights is not None
        assert two.weights is not None
        assert all(torch.equal(tensor, two.weights[name]) for name, tensor in one.weights.items())


def test_training_makes_its_device_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streams and graphs are of the current GPU, whatever GPU their tensors are on."""
    assert current(torch.device("cuda:1")).idx == 1
    seen: list[torch.device] = []

    def noted(device: torch.device) -> torch.cuda.device:
        seen.append(device)
        return current(device)

    monkeypatch.setattr(loop, "current", noted)
    task, split = graph()
    train(gcn(), task, [Member(0, split)], TrainSettings(epochs=1), device="cpu")
    assert seen == [torch.device("cpu")]


def test_the_users_generator_is_left_alone() -> None:
    task, split = graph()
    state = torch.random.get_rng_state()
    train(bagcn(), task, [Member(0, split)], replace(SETTINGS, epochs=2))
    assert torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("seeds", [(2,), (2, 3)])
def test_kept_weights_are_those_of_the_best_epoch(seeds: tuple[int, ...]) -> None:
    task, split = graph(noise=2.0)
    members = [Member(seed, split) for seed in seeds]
    for result in train(bagcn(), task, members, SETTINGS, keep_weights=True):
        assert 0 < result.best_epoch < 24
        assert result.weights is not None
        model = BAGCN(task.num_features, 8, task.num_classes)
        model.load_state_dict(result.weights)
        with torch.no_grad():
            logits = model.eval()(task.x, task.edge_index)
        right = (logits.argmax(1) == task.y)[split.test].float().mean()
        assert float(right) == pytest.approx(result.test)


def test_averaged_weights() -> None:
    """With ``ema`` the predictions are those of a moving average that starts quickly."""
    task, split = graph()
    settings = TrainSettings(epochs=12, ema=0.6)
    result = train(gcn(0.0), task, [Member(1, split)], settings, keep_weights=True)[0]
    plain = train(gcn(0.0), task, [Member(1, split)], replace(settings, ema=0.0))[0]
    assert result.curves["loss"] == plain.curves["loss"]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = GCN(task.num_features, 8, task.num_classes, dropout=0.0)
    groups = [
        {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 5e-4},
        {"params": [p for p in model.parameters() if p.dim() < 2]},
    ]
    optimizer = torch.optim.Adam(groups, lr=0.01)
    average = {name: p.detach().clone() for name, p in model.named_parameters()}
    losses = []
    for epoch in range(12):
        optimizer.zero_grad()
        logits = model(task.x, task.edge_index)
        torch.nn.functional.cross_entropy(logits[split.train], task.y[split.train]).backward()
        optimizer.step()
        share = min(0.6, (epoch + 1) / (epoch + 10))
        for name, p in model.named_parameters():
            average[name] = share * average[name] + (1 - share) * p.detach()
        out = torch.func.functional_call(model, average, (task.x, task.edge_index))
        validated = torch.nn.functional.cross_entropy(out[split.val], task.y[split.val])
        losses.append(float(validated.detach()))
    assert result.curves["val_loss"] == pytest.approx(losses, abs=1e-5)


def test_errors() -> None:
    task, split = graph()
    empty = split.val[:0]
    with pytest.raises(ValueError, match="the split 'synthetic' has no val nodes"):
        train(bagcn(), task, [Member(0, replace(split, val=empty))], SETTINGS)
    with pytest.raises(ValueError, match="the split 'synthetic' has no train nodes"):
        train(bagcn(), task, [Member(0, replace(split, train=empty))], SETTINGS)
    with pytest.raises(ValueError, match="must set the same names; got lr and none"):
        train(bagcn(), task, [Member(0, split, {"lr": 0.1}), Member(1, split)], SETTINGS)
    with pytest.raises(
        ValueError, match="sharpness cannot differ between members: no part of BAGCN"
    ):
        train(bagcn(), task, [Member(0, split, {"sharpness": 1.0})], SETTINGS)
