"""Search for settings on validation accuracy, whole populations of trials at a time.

Optuna proposes (ask) and learns (tell); the trials of a batch that differ in real numbers only are
trained as one population. Halving drops the worse trials of a batch before they cost all seeds.
"""

from __future__ import annotations

import hashlib
import logging
import math
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bagcn.study.recipe import Recipe
from bagcn.study.runner import Machine, graph, planned, trained
from bagcn.study.seeds import FIRST_TUNING_SEED
from bagcn.study.space import Choice, Range, Space, space_text
from bagcn.study.together import value_of
from bagcn.training import Member
from bagcn.training.memory import DoesNotFitError

if TYPE_CHECKING:
    import optuna

__all__ = ["Budget", "Outcome", "provenance", "tune"]

logger = logging.getLogger(__name__)

Settings = dict[str, Any]


@dataclass(frozen=True)
class Budget:
    """What a search may cost.

    Args:
        trials: settings to try.
        seeds: runs of every trial.
        batch: trials that are proposed, and trained, together.
        halving: after each seed only one in so many trials of a batch goes on; 1 keeps all.
        seconds: begin no further batch after this long.
    """

    trials: int = 30
    seeds: int = 3
    batch: int = 10
    halving: int = 1
    seconds: float = float("inf")


@dataclass(frozen=True)
class Outcome:
    """What a search found.

    Args:
        recipe: the best settings.
        validation: their mean validation accuracy.
        seeds: over which.
        trials: settings that were tried, in all.
        runs: what they cost.
    """

    recipe: Recipe
    validation: float
    seeds: int
    trials: int
    runs: int


def provenance(found: Outcome, space: Space) -> str:
    """Say in a sentence how the settings were found: trials, seeds, space."""
    last = FIRST_TUNING_SEED + found.seeds - 1
    return (
        f"tuned here (trials: {found.trials}, runs: {found.runs}), validation "
        f"{100 * found.validation:.2f} % over the seeds {FIRST_TUNING_SEED}..{last}; "
        f"searched: {space_text(space)}"
    )


def tune(
    recipe: Recipe,
    space: Space,
    budget: Budget,
    machine: Machine,
    study_file: Path | None = None,
    on_trial: Callable[[int, float], None] | None = None,
) -> Outcome:
    """Search the space and return the recipe with the best mean validation accuracy.

    The test nodes are never looked at. The recipe's own settings are the first trial where they
    lie within the space.

    Args:
        recipe: where to start from; it also holds what is not searched.
        space: what is searched.
        budget: what it may cost.
        machine: where to compute.
        study_file: keeps the trials, and is continued if it exists.
        on_trial: called with the number of finished trials and the best accuracy so far.
    """
    if not space:
        raise ValueError(f"the recipe of {recipe.model} declares no space to search")
    search = _Search(recipe, space, machine)
    study = _study(f"{recipe.model} {recipe.dataset} {_hash(recipe, space, budget)}", study_file)
    if not _finished(study):
        search.enqueue_start(study)
    deadline = time.monotonic() + budget.seconds
    while (done := len(_finished(study))) < budget.trials and time.monotonic() < deadline:
        count = min(budget.batch, budget.trials - done)
        trials = [search.ask(study) for _ in range(count)]
        scores = search.scores([settings for _, settings in trials], budget)
        for (trial, _), score in zip(trials, scores, strict=True):
            trial.set_user_attr("runs", score.runs)
            study.tell(trial, score.mean)
        if on_trial:
            on_trial(len(_finished(study)), _outcome(search, study, budget).validation)
    return _outcome(search, study, budget)


@dataclass(frozen=True)
class _Score:
    mean: float
    runs: int


class _Search:
    """Turns proposals into validation accuracies."""

    def __init__(self, recipe: Recipe, space: Space, machine: Machine) -> None:
        self.recipe, self.space, self.machine = recipe, space, machine
        for name, dimension in space.items():  # what the recipe refuses is not worth a trial
            for value in _examples(dimension):
                recipe.changed({name: value})

    def enqueue_start(self, study: optuna.Study) -> None:
        """Let the recipe as it is be the first trial."""
        start = {name: value_of(self.recipe, name) for name in self.space}
        if all(_within(start[name], dimension) for name, dimension in self.space.items()):
            study.enqueue_trial(start)

    def ask(self, study: optuna.Study) -> tuple[optuna.trial.Trial, Settings]:
        """Return a trial and its settings."""
        trial = study.ask()
        for name, dimension in self.space.items():
            if isinstance(dimension, Choice):
                trial.suggest_categorical(name, list(dimension.values))
            else:
                trial.suggest_float(name, dimension.low, dimension.high, log=dimension.log)
        return trial, self.settings(trial.params)

    def settings(self, proposed: Settings) -> Settings:
        """Return what is proposed with as many digits as a recipe file gets."""
        return {
            name: value if self._is_choice(name) else float(f"{value:.4g}")
            for name, value in proposed.items()
        }

    def scores(self, proposals: Sequence[Settings], budget: Budget) -> list[_Score]:
        """Return every proposal's mean validation accuracy over the seeds it got."""
        found: list[list[float]] = [[] for _ in proposals]
        alive = list(range(len(proposals)))
        if budget.halving == 1:
            rounds = [range(budget.seeds)]
        else:
            rounds = [range(k, k + 1) for k in range(budget.seeds)]
        for seeds in rounds:
            jobs = [(i, FIRST_TUNING_SEED + k) for i in alive for k in seeds]
            for i, value in self._validated(proposals, jobs):
                found[i].append(value)
            alive.sort(key=lambda i: -statistics.fmean(found[i]))
            alive = alive[: max(1, -(-len(alive) // budget.halving))]
        return [_Score(statistics.fmean(values), len(values)) for values in found]

    def _validated(
        self, proposals: Sequence[Settings], jobs: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[int, float]]:
        """Train the jobs (proposal, seed), those of equal choices together."""

        def choices(job: tuple[int, int]) -> str:
            return repr([v for n, v in proposals[job[0]].items() if self._is_choice(n)])

        for _, same in groupby(sorted(jobs, key=choices), key=choices):
            group = list(same)
            yield from self._population(proposals, group)

    def _population(
        self, proposals: Sequence[Settings], jobs: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[int, float]]:
        first = proposals[jobs[0][0]]
        recipe = self.recipe.changed({n: v for n, v in first.items() if self._is_choice(n)})
        _, task = graph(recipe, self.machine)  # a choice may be of the scaling
        splits = {
            run.seed: run.split
            for run in planned(recipe, sorted({seed for _, seed in jobs}), self.machine)
        }
        members = [
            Member(
                seed,
                splits[seed],
                {n: v for n, v in proposals[i].items() if not self._is_choice(n)},
            )
            for i, seed in jobs
        ]
        left = dict(enumerate(i for i, _ in jobs))
        try:
            for position, result in trained(recipe, task, members, self.machine):
                failed = result.diverged is not None or result.best_epoch < 0
                yield left.pop(position), 0.0 if failed else result.val
        except DoesNotFitError as error:
            logger.warning("%d runs are left out: %s", len(left), error)
            yield from ((i, 0.0) for i in left.values())

    def _is_choice(self, name: str) -> bool:
        return isinstance(self.space[name], Choice)


def _examples(dimension: Range | Choice) -> Sequence[Any]:
    """Return all choices, or a number of the range that is not whole."""
    if isinstance(dimension, Choice):
        return dimension.values
    return [dimension.low + (dimension.high - dimension.low) / math.pi]


def _within(value: Any, dimension: Range | Choice) -> bool:
    if isinstance(dimension, Choice):
        return value in dimension.values
    return isinstance(value, int | float) and dimension.low <= value <= dimension.high


def _hash(recipe: Recipe, space: Space, budget: Budget) -> str:
    """Return what changes with all that makes trials comparable."""
    text = f"{recipe.hash} {space_text(space)} {budget.seeds} {budget.halving}"
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _study(name: str, file: Path | None) -> optuna.Study:
    """Open the study, kept in a journal file if one is named."""
    try:
        import optuna
    except ModuleNotFoundError:
        raise ValueError("tuning needs Optuna: pip install 'bagcn[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = None
    if file is not None:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        file.parent.mkdir(parents=True, exist_ok=True)
        storage = JournalStorage(JournalFileBackend(str(file)))
    study = optuna.create_study(
        study_name=name, storage=storage, load_if_exists=True, direction="maximize"
    )
    for trial in study.trials:
        if trial.state == optuna.trial.TrialState.RUNNING:  # when the search was ended
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        study.sampler = optuna.samplers.TPESampler(
            seed=len(study.trials),  # else what is resumed proposes the first settings again
            n_startup_trials=10,
            constant_liar=True,  # or the trials of a batch are too much alike
        )
    return study


def _finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return [trial for trial in study.trials if trial.value is not None]


def _outcome(search: _Search, study: optuna.Study, budget: Budget) -> Outcome:
    """Return the best of the trials that got all seeds."""
    trials = _finished(study)
    runs = sum(trial.user_attrs["runs"] for trial in trials)
    whole = [trial for trial in trials if trial.user_attrs["runs"] >= budget.seeds]
    best = max(whole, key=lambda trial: trial.value or 0.0)
    assert best.value is not None
    recipe = search.recipe.changed(search.settings(best.params))
    return Outcome(recipe, best.value, budget.seeds, len(trials), runs)
