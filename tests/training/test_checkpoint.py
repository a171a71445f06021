"""A run that was cut off at any moment and resumed ends bit for bit like one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from bagcn.training import (
    Checkpoint,
    Member,
    Result,
    TrainSettings,
    train,
    train_population,
)
from training.killed import trained
from training.plain import bagcn, gcn, graph


def same(one: Result, other: Result) -> None:
    """Every number and every weight to the last bit; only the time may differ."""
    first, second = asdict(one), asdict(other)
    for passing in ("seconds", "peak_memory"):
        first.pop(passing), second.pop(passing)
    weights, others = first.pop("weights"), second.pop("weights")
    assert first == second
    assert (weights is None) == (others is None)
    for name in weights or {}:
        assert torch.equal(weights[name], others[name]), name


def killed(file: Path, epochs: int, *arguments: str, at: int) -> int:
    """Start a training process and kill it when it tells this epoch; its last one comes back."""
    command = [sys.executable, str(Path(__file__).with_name("killed.py")), str(file), str(epochs)]
    told = 0
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [*command, *arguments], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            told = int(line)
            if told == at:
                process.kill()
    assert process.returncode == -signal.SIGKILL
    return told


def epoch_of(file: Path) -> int:
    with safe_open(file, framework="pt") as state:
        return int(state.get_tensor("epoch"))


def test_a_killed_run(tmp_path: Path) -> None:
    file, epochs = tmp_path / "run.safetensors", 150
    last = killed(file, epochs, at=40)
    assert 40 <= last < epochs
    saved = epoch_of(file)
    assert 39 <= saved <= last + 1
    done: list[int] = []
    resumed = trained(file, epochs, on_epoch=done.append)
    assert done == list(range(saved + 1, epochs + 1))
    same(resumed, trained(None, epochs))


def test_a_run_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    """The file of the checkpoint before is untouched, and what is torn goes away at the end."""
    file, epochs = tmp_path / "run.safetensors", 30
    assert killed(file, epochs, "torn", at=-1) == 9
    assert epoch_of(file) == 6
    assert len(list(tmp_path.iterdir())) == 2
    same(trained(file, epochs), trained(None, epochs))
    Checkpoint(file).remove()
    assert list(tmp_path.iterdir()) == []


class StoppedError(Exception):
    pass


def until(epoch: int) -> Any:
    """What ends a run after this epoch."""

    def stop(done: int) -> None:
        if done == epoch:
            raise StoppedError

    return stop


@pytest.mark.parametrize("stop", [2, 7, 24])
@pytest.mark.parametrize(
    ("build", "options"),
    [
        (bagcn(), {}),
        (bagcn(fusion="mul", warmup=9), {"ema": 0.9, "patience": 6}),
        (gcn(), {"decay": "first"}),
    ],
    ids=["add", "mul", "gcn"],
)
def test_stopped_after_any_epoch(
    tmp_path: Path, build: Any, options: dict[str, Any], stop: int
) -> None:
    task, split = graph(noise=2.0)
    settings = TrainSettings(epochs=25, **options)
    members = [Member(seed, split) for seed in (1, 2)]
    checkpoint = Checkpoint(tmp_path / "run", every=2, resume=True)
    whole = replace(checkpoint, path=tmp_path / "whole")  # members that ended stay in the stack
    expected = train(build, task, members, settings, keep_weights=True, checkpoint=whole)
    one_by_one = train(build, task, members[:1], settings, keep_weights=True)
    for count, wanted in ((2, expected), (1, one_by_one)):
        common = (build, task, members[:count], settings)
        own = replace(checkpoint, path=tmp_path / f"run-{count}")
        with suppress(StoppedError):  # unless patience ended it before
            train(*common, checkpoint=own, keep_weights=True, on_epoch=until(stop))
        assert own.path.exists() == (stop > 2)
        for found, result in zip(
            train(*common, checkpoint=own, keep_weights=True), wanted, strict=True
        ):
            same(found, result)


def test_without_resume_a_run_begins_anew(tmp_path: Path) -> None:
    task, split = graph()
    settings, checkpoint = TrainSettings(epochs=6), Checkpoint(tmp_path / "run", every=2)
    for _ in range(2):
        done: list[int] = []
        train(
            bagcn(), task, [Member(0, split)], settings, checkpoint=checkpoint, on_epoch=done.append
        )
        assert done == [1, 2, 3, 4, 5, 6]
    done.clear()
    again = replace(checkpoint, resume=True)
    train(bagcn(), task, [Member(0, split)], settings, checkpoint=again, on_epoch=done.append)
    assert done == []


def test_time_goes_on(tmp_path: Path) -> None:
    """What was spent before the kill counts."""
    task, split = graph()
    settings, members = TrainSettings(epochs=40), [Member(0, split)]
    checkpoint = Checkpoint(tmp_path / "run", every=40)
    whole = train(bagcn(), task, members, settings, checkpoint=checkpoint)[0]
    resumed = train(bagcn(), task, members, settings, checkpoint=replace(checkpoint, resume=True))[
        0
    ]
    assert resumed.seconds > 0.9 * whole.seconds


def test_a_population_goes_on_where_each_member_was(tmp_path: Path) -> None:
    task, split = graph()
    settings = TrainSettings(epochs=10)
    members = [Member(seed, split) for seed in (3, 4, 5)]
    checkpoint = Checkpoint(tmp_path / "states", every=4, identity="recipe", resume=True)
    options: dict[str, Any] = {"workers": 1, "checkpoint": checkpoint}
    expected = dict(train_population(bagcn(), task, members, settings, workers=1))
    finished = []

    def follow() -> None:
        done = train_population(bagcn(), task, members, settings, on_epoch=until(15), **options)
        for place, result in done:
            finished.append(place)
            same(result, expected[place])

    with pytest.raises(StoppedError):
        follow()
    assert finished == [0]
    files = list((tmp_path / "states").iterdir())
    assert len(files) == 1  # the finished member's is gone
    assert epoch_of(files[0]) == 4
    done: list[int] = []
    rest = train_population(
        bagcn(), task, members[1:], settings, total=3, on_epoch=done.append, **options
    )
    for place, result in rest:
        same(result, expected[place + 1])
    assert done[0] == 5
    assert list((tmp_path / "states").iterdir()) == []


def test_whose_checkpoint_it_is(tmp_path: Path) -> None:
    """Seed, split, settings and the caller's identity tell the files of members apart."""
    _, split = graph()
    other = replace(split, train=split.train[:-1])
    folder = Checkpoint(tmp_path, identity="a")
    member = Member(0, split, {"lr": 0.1})
    members = [
        [member],
        [replace(member, seed=1)],
        [replace(member, split=other)],
        [replace(member, settings={"lr": 0.2})],
        [member, replace(member, seed=1)],
    ]
    names = {folder.of(each).path.name for each in members}
    names.add(replace(folder, identity="b").of([member]).path.name)
    assert len(names) == 6
    assert folder.of([member]) == folder.of([Member(0, split, {"lr": 0.1})])


@pytest.mark.parametrize(
    "change",
    [{"identity": "other"}, {"build": bagcn(pair="ego-ego")}, {"epochs": 7}, {"seeds": (0, 1)}],
    ids=str,
)
def test_another_run_s_file_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    task, split = graph()
    known: dict[str, Any] = {
        "identity": "mine", "build": gcn(), "epochs": 6, "seeds": (0,)
    }  # fmt: skip

    def run(identity: str, build: Any, epochs: int, seeds: tuple[int, ...]) -> None:
        checkpoint = Checkpoint(tmp_path / "run", every=2, identity=identity, resume=True)
        members = [Member(seed, split) for seed in seeds]
        train(build, task, members, TrainSettings(epochs=epochs), checkpoint=checkpoint)

    run(**known)
    with pytest.raises(
        ValueError, match=r"run belongs to another run \(mine\): delete it, or resu"
    ):
        run(**{**known, **change})


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run"
    trained(file, 6)
    file.write_bytes(file.read_bytes()[:500])
    with pytest.raises(ValueError, match=r"run is no readable checkpoint \(.*\): delete it"):
        trained(file, 6)


def test_how_often_must_be_a_number_of_epochs(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="epochs between two checkpoints must be at least 1, got 0"
    ):
        Checkpoint(tmp_path, every=0)
