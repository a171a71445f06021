"""The search; toy is 90 nodes in three classes, 20 / 30 of each class being asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bagcn.study import runner
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.runner import Machine
from bagcn.study.seeds import FIRST_TUNING_SEED
from bagcn.study.space import Choice, Range
from bagcn.study.tune import Budget, Outcome, provenance, tune
from bagcn.training import Result
from bagcn.training.memory import DoesNotFitError

pytest.importorskip("optuna")

HERE = Machine(device="cpu", workers=1)
SPACE = {
    "lr": Range(1e-3, 0.3, log=True),
    "dropout": Range(0.0, 0.8),
    "hidden_channels": Choice((4, 16)),
}


def recipe() -> Recipe:
    return load_recipe("gcn", "toy").changed({"epochs": 8, "hidden_channels": 16})


class Trainings:
    """Sees every population that is trained, and may change what it learns from."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.members: list[Any] = []
        self.tasks: list[Any] = []
        self.results: list[Result] = []
        self.poisoned = False
        self.fails: Exception | None = None
        self._real = runner.train_population
        monkeypatch.setattr(runner, "train_population", self._train)

    def _train(self, build: Any, task: Any, members: Any, *rest: Any, **more: Any) -> Iterator[Any]:
        self.members += members
        self.tasks.append(task)
        if self.fails:
            raise self.fails
        if self.poisoned:
            (split,) = {member.split.hash: member.split for member in members}.values()
            y = task.y.clone()
            y[split.test] = (y[split.test] + 1) % 3
            task = replace(task, y=y)
        for place, result in self._real(build, task, members, *rest, **more):
            self.results.append(result)
            yield place, result

    def settings(self) -> list[tuple[float, ...]]:
        return [tuple(member.settings.values()) for member in self.members]


@pytest.fixture
def trainings(toy: Path, monkeypatch: pytest.MonkeyPatch) -> Trainings:
    return Trainings(monkeypatch)


def search(budget: Budget, file: Path | None = None, **more: Any) -> Outcome:
    return tune(recipe(), SPACE, budget, HERE, file, **more)


def test_the_best_mean_of_the_validation_accuracies_wins(trainings: Trainings) -> None:
    told: list[tuple[int, float]] = []
    found = search(Budget(trials=6, seeds=2, batch=3), on_trial=lambda *a: told.append(a))
    assert (found.trials, found.runs, found.seeds) == (6, 12, 2)
    assert [done for done, _ in told] == [3, 6]
    assert told[-1][1] == found.validation
    means: dict[tuple[Any, ...], list[float]] = {}
    for member, result in zip(trainings.members, trainings.results, strict=True):
        means.setdefault(tuple(member.settings.items()), []).append(result.val)
    assert found.validation == pytest.approx(max(sum(v) / 2 for v in means.values()), abs=1e-6)
    winner = (("lr", found.recipe.train.lr), ("dropout", found.recipe.arguments["dropout"]))
    assert sum(means[winner]) / 2 == pytest.approx(found.validation)


def test_seeds_are_none_that_are_reported(trainings: Trainings) -> None:
    search(Budget(trials=3, seeds=2, batch=3))
    assert {member.seed for member in trainings.members} == {10_000, 10_001}
    assert FIRST_TUNING_SEED == 10_000


def test_the_recipe_as_it_is_is_tried_first(trainings: Trainings) -> None:
    search(Budget(trials=1, seeds=1))
    assert trainings.members[0].settings == {"lr": 0.01, "dropout": 0.5}


def test_a_recipe_that_is_silent_begins_with_the_models_defaults(trainings: Trainings) -> None:
    silent = replace(recipe(), arguments={"hidden_channels": 16})
    tune(silent, {"dropout": Range(0.0, 0.8)}, Budget(trials=1, seeds=1), HERE)
    assert trainings.members[0].settings == {"dropout": 0.5}


def test_a_choice_of_the_scaling_reaches_the_features(trainings: Trainings) -> None:
    space = {"scaling": Choice(("none", "row", "binary"))}
    tune(recipe(), space, Budget(trials=8, seeds=1, batch=8), HERE)
    features = {task.x.to_dense().numpy().tobytes() for task in trainings.tasks}
    assert len(trainings.tasks) > 1
    assert len(features) == len(trainings.tasks)


@pytest.mark.parametrize(
    ("space", "told"),
    [
        ({"hidden_channels": Range(4, 16)}, "hidden_channels must be a whole number; got 7.8"),
        ({"drpout": Range(0.0, 0.8)}, "unknown setting 'drpout'; did you mean 'dropout'"),
        ({"bias": Choice((True, "no"))}, "bias must be true or false; got no"),
    ],
)
def test_a_space_that_the_recipe_does_not_take(
    trainings: Trainings, space: dict[str, Range | Choice], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        tune(recipe(), space, Budget(trials=1, seeds=1), HERE)
    assert not trainings.members


def test_classes_of_test_nodes_change_nothing_that_is_chosen(trainings: Trainings) -> None:
    budget = Budget(trials=8, seeds=1, batch=4)
    clean = search(budget)
    clean_tests = [result.test for result in trainings.results]
    before = trainings.settings()
    trainings.members, trainings.results, trainings.poisoned = [], [], True
    poisoned = search(budget)
    assert trainings.settings() == before  # the very same proposals
    assert poisoned == clean
    tests = [result.test for result in trainings.results]
    assert tests != clean_tests  # that the poison was there: what is right without is now wrong
    assert all(one + two < 1 + 1e-6 for one, two in zip(clean_tests, tests, strict=True))


def test_a_search_goes_on_where_it_was_ended(trainings: Trainings, tmp_path: Path) -> None:
    file = tmp_path / "studies" / "trials.log"
    search(Budget(trials=3, seeds=1, batch=3), file)
    trainings.fails = KeyboardInterrupt()  # in the middle of a batch
    with pytest.raises(KeyboardInterrupt):
        search(Budget(trials=6, seeds=1, batch=3), file)
    trainings.fails, ended = None, len(trainings.members)
    found = search(Budget(trials=6, seeds=1, batch=3), file)
    assert (found.trials, found.runs) == (6, 6)
    assert len(trainings.members) == ended + 3
    settings = trainings.settings()
    assert len(set(settings)) == len(settings)  # nothing was proposed twice
    done = len(trainings.members)
    assert search(Budget(trials=6, seeds=1, batch=3), file) == found
    assert len(trainings.members) == done


def test_an_interrupted_first_batch_begins_with_the_recipe_again(
    trainings: Trainings, tmp_path: Path
) -> None:
    trainings.fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        search(Budget(trials=2, seeds=1, batch=2), tmp_path / "trials.log")
    trainings.fails, trainings.members = None, []
    search(Budget(trials=2, seeds=1, batch=2), tmp_path / "trials.log")
    assert {"lr": 0.01, "dropout": 0.5} in [member.settings for member in trainings.members]


def test_other_seeds_or_spaces_are_another_search(trainings: Trainings, tmp_path: Path) -> None:
    file = tmp_path / "trials.log"
    search(Budget(trials=2, seeds=1), file)
    assert search(Budget(trials=2, seeds=2), file).runs == 4
    wider = {**SPACE, "hidden_channels": Choice((4, 8, 16))}
    assert tune(recipe(), wider, Budget(trials=2, seeds=1), HERE, file).trials == 2
    assert len(trainings.members) == 2 + 4 + 2


def test_halving_spares_the_worse_their_other_seeds(trainings: Trainings) -> None:
    found = search(Budget(trials=4, seeds=3, batch=4, halving=2))
    assert found.runs == 4 + 2 + 1
    per_seed = [member.seed for member in trainings.members]
    assert per_seed == [10_000] * 4 + [10_001] * 2 + [10_002]
    first = sorted(trainings.results[:4], key=lambda result: -result.val)
    winner = trainings.members[-1].settings
    kept = [trainings.members[trainings.results.index(result)].settings for result in first[:2]]
    assert winner in kept or first[1].val == first[2].val


def test_what_does_not_fit_or_diverges_counts_nothing(
    trainings: Trainings, caplog: pytest.LogCaptureFixture
) -> None:
    lost = {"lr": Choice((1e38, 0.01))}
    found = tune(recipe(), lost, Budget(trials=4, seeds=1, batch=4), HERE)
    assert found.recipe.train.lr == 0.01
    trainings.fails = DoesNotFitError("a run needs 9 GiB", 9)
    assert search(Budget(trials=2, seeds=1, batch=2)).validation == 0.0
    assert "runs are left out: a run needs 9 GiB" in caplog.text


def test_it_says_how_the_settings_were_found(trainings: Trainings) -> None:
    found = replace(search(Budget(trials=1, seeds=3)), validation=0.8125)
    assert provenance(found, SPACE) == (
        "tuned here (trials: 1, runs: 3), validation 81.25 % over the seeds 10000..10002; "
        "searched: lr 0.001..0.3 log, dropout 0..0.8, hidden_channels 4|16"
    )
    with pytest.raises(ValueError, match="gcn declares no space to search"):
        tune(recipe(), {}, Budget(), HERE)


def test_without_optuna(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ValueError, match=r"tuning needs Optuna: pip install 'bagcn\[tune\]'"):
        search(Budget(trials=1))
