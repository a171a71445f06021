"""Recipes and seeds in, records out; toy is 90 nodes in three classes, split by the seed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import torch

from bagcn.study import record as recording
from bagcn.study import runner
from bagcn.study.models import MODELS
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.runner import Machine, graph, pick_device, planned, run
from bagcn.study.seeds import parse_seeds
from bagcn.study.store import Store
from bagcn.training import Member, train

HERE = Machine(device="cpu", workers=1)


def recipe(model: str = "gcn", **changes: Any) -> Recipe:
    return load_recipe(model, "toy").changed({"epochs": 6, **changes})


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The seeds of every population that was trained."""
    seen: list[list[int]] = []
    real = runner.train_population

    def spy(build: Any, task: Any, members: Any, *rest: Any, **options: Any) -> Iterator[Any]:
        seen.append([member.seed for member in members])
        return real(build, task, members, *rest, **options)

    monkeypatch.setattr(runner, "train_population", spy)
    return seen


def test_a_record_holds_what_training_returns_and_what_decided_it(
    toy: Path, tmp_path: Path
) -> None:
    (found,) = run(recipe(lr=0.02), [4], Store(tmp_path / "runs"), HERE)
    _, task = graph(recipe(), HERE)
    (planned_run,) = planned(recipe(lr=0.02), [4], HERE)
    settings = recipe(lr=0.02).train
    expected = train(recipe().build, task, [Member(4, planned_run.split)], settings)[0]
    for name in ("test", "val", "val_loss"):
        assert found[name] == pytest.approx(getattr(expected, name), abs=1e-6)
    assert (found["best_epoch"], found["epochs"]) == (expected.best_epoch, 6)
    assert found["curve"]["epoch"] == [1, 2, 3, 4, 5, 6]
    assert found["curve"]["loss"] == pytest.approx(expected.curves["loss"], abs=1e-5)
    assert found["settings"]["train"]["lr"] == 0.02
    assert found["recipe"] == recipe(lr=0.02).hash
    assert found["split"] == {"name": "per-class:20/30", "hash": planned_run.split.hash}
    assert (found["seed"], found["model"], found["dataset"]) == (4, "gcn", "toy")
    assert found["hardware"]["device"] == "cpu"
    assert found["versions"]["torch"] == version("torch")
    assert json.loads((tmp_path / "runs" / "gcn.jsonl").read_text("utf-8")) == found


def test_a_stored_run_is_not_run_again_unless_forced(
    toy: Path, tmp_path: Path, trainings: list[list[int]]
) -> None:
    store = Store(tmp_path / "runs")
    first = list(run(recipe(), [0, 1], store, HERE))
    again = list(run(recipe(), [0, 1, 2], store, HERE))
    assert trainings == [[0, 1], [2]]
    assert again[:2] == first
    forced = list(run(recipe(), [1], store, HERE, force=True))
    assert trainings == [[0, 1], [2], [1]]
    assert forced[0]["id"] == first[1]["id"]
    assert forced[0]["test"] == first[1]["test"]
    assert len((store.path / "gcn.jsonl").read_text("utf-8").splitlines()) == 4
    assert len(list(store)) == 3
    list(run(recipe(lr=0.5), [0], store, HERE))
    list(run(recipe("mlp"), [0], store, HERE))
    assert trainings[3:] == [[0], [0]]


def test_what_is_finished_is_stored_before_it_is_told(toy: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "runs")
    running = run(recipe(), [0, 1, 2], store, HERE)
    first = next(running)
    assert store.ids() == {first["id"]}
    running.close()  # an interrupt
    assert len(list(run(recipe(), [0, 1, 2], store, HERE))) == 3
    assert len((store.path / "gcn.jsonl").read_text("utf-8").splitlines()) == 3


def test_ids_change_with_recipe_seed_split_and_version(
    toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here,) = planned(recipe(), [0], HERE)
    others = [
        planned(recipe(lr=0.02), [0], HERE)[0],
        planned(recipe(), [1], HERE)[0],
        planned(recipe(split="random:0.5/0.2"), [0], HERE)[0],
        replace(here, split=replace(here.split, test=here.split.test[1:])),
    ]
    assert len({here.id, *(other.id for other in others)}) == 5
    assert planned(recipe(), [0], HERE)[0].id == here.id
    before = here.id
    monkeypatch.setattr(recording, "__version__", "0.0.0")
    assert here.id != before


def test_a_diverged_run_is_kept_as_one(toy: Path, tmp_path: Path) -> None:
    (found,) = run(recipe(lr=1e38), [0], Store(tmp_path / "runs"), HERE)
    assert found["diverged"] == 1
    assert found["curve"]["loss"][-1] is None


@pytest.mark.parametrize("model", MODELS)
def test_deterministic_kernels_are_there_for_every_model(toy: Path, model: str) -> None:
    """On a CPU; and that torch is left as it was."""
    try:
        settings = load_recipe(model, "toy").changed({"epochs": 2, "patience": 0})
    except ValueError:
        pytest.skip(f"{model} has no recipe")
    machine = replace(HERE, deterministic=True)
    asked = []
    (one,) = run(
        settings,
        [0],
        None,
        machine,
        on_epoch=lambda _: asked.append(torch.are_deterministic_algorithms_enabled()),
    )
    assert asked == [True, True]
    assert not torch.are_deterministic_algorithms_enabled()
    (two,) = run(settings, [0], None, machine)
    assert one["curve"] == two["curve"]


def test_devices() -> None:
    assert pick_device("cpu").type == "cpu"
    assert pick_device("auto").type in ("cpu", "cuda")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="no GPU: use --device cpu or auto"):
            pick_device("cuda")


def test_seeds_as_people_write_them() -> None:
    assert parse_seeds("3") == [0, 1, 2]
    assert parse_seeds("5..7") == [5, 6, 7]
    assert parse_seeds("9,1,4,1") == [1, 4, 9]
    for wrong in ("0", "7..5", "a", "1..", "-3", ""):
        with pytest.raises(ValueError, match="cannot read the seeds"):
            parse_seeds(wrong)
