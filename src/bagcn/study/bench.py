"""Models on data sets, every cell by its recipe, under one protocol.

A cell whose model does not fit into the machine leaves a line with its need in the store; another
machine may still run it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bagcn import __version__
from bagcn.data import DATASETS
from bagcn.data._names import unknown
from bagcn.study.environment import commit, hardware, versions
from bagcn.study.models import card_of
from bagcn.study.recipe import NoRecipeError, Recipe, load_recipe, recipe_file
from bagcn.study.runner import Machine, pick_device, run
from bagcn.study.seeds import FIRST_TUNING_SEED
from bagcn.study.store import Record, Store
from bagcn.training.memory import DoesNotFitError

__all__ = ["Cell", "cells", "failure_of", "recipe_in", "run_cell"]


@dataclass(frozen=True)
class Cell:
    """One model on one data set.

    Args:
        model: its name.
        dataset: its name.
        recipe: what is run; ``None`` where there is none.
        why: why there is none.
    """

    model: str
    dataset: str
    recipe: Recipe | None
    why: str = ""

    def __str__(self) -> str:
        return f"{self.model} on {self.dataset}"


def cells(
    models: Sequence[str],
    datasets: Sequence[str],
    variant: str = "official",
    changes: Mapping[str, Any] | None = None,
    folder: Path | None = None,
) -> list[Cell]:
    """Return all pairs, data set by data set, so that each is loaded once.

    Args:
        models: names.
        datasets: names.
        variant: of the recipes, as :func:`bagcn.study.recipe.load_recipe` takes it.
        changes: to every recipe.
        folder: with recipe files of your own.
    """
    for dataset in datasets:
        if dataset not in DATASETS:
            raise unknown("data set", dataset, DATASETS)
    return [
        _cell(model, dataset, variant, changes or {}, folder)
        for dataset in dict.fromkeys(datasets)
        for model in dict.fromkeys(models)
    ]


def _cell(
    model: str, dataset: str, variant: str, changes: Mapping[str, Any], folder: Path | None
) -> Cell:
    try:
        recipe = load_recipe(model, dataset, variant, recipe_in(folder, model))
    except NoRecipeError as error:
        return Cell(model, dataset, None, str(error))
    return Cell(model, dataset, recipe.changed(changes).checked(changes))


def recipe_in(folder: Path | None, model: str) -> Path:
    """Return the model's recipe file: in the folder if there is one, else the package's."""
    card = card_of(model)
    own = folder / f"{card.name}.toml" if folder else None
    return own if own and own.exists() else recipe_file(card.name)


def run_cell(
    recipe: Recipe,
    seeds: Sequence[int],
    store: Store,
    machine: Machine,
    *,
    force: bool = False,
    on_epoch: Callable[[int], None] | None = None,
    on_record: Callable[[Record], None] | None = None,
) -> str:
    """Run the seeds that are not stored yet; return what the machine lacked, else nothing.

    Args:
        recipe: what to run.
        seeds: one a run.
        store: where the records are kept.
        machine: where and how to compute.
        force: run what is stored already once more.
        on_epoch: called now and then with the number of epochs done in all new runs.
        on_record: called with every record, stored before or new.
    """
    if recipe.variant == "tuned" and max(seeds) >= FIRST_TUNING_SEED:
        raise ValueError(
            f"seeds from {FIRST_TUNING_SEED} on were used for tuning: report smaller ones"
        )
    try:
        for record in run(recipe, seeds, store, machine, force=force, on_epoch=on_epoch):
            if on_record is not None:
                on_record(record)
    except DoesNotFitError as error:
        store.add([failure_of(recipe, error, machine)])
        return str(error)
    return ""


def failure_of(recipe: Recipe, error: DoesNotFitError, machine: Machine) -> Record:
    """Return the line that says what the recipe needs and this machine does not have."""
    parts = f"{recipe.hash} {__version__} does not fit"
    return {
        "id": hashlib.sha256(parts.encode()).hexdigest()[:12],
        "model": recipe.model,
        "dataset": recipe.dataset,
        "variant": recipe.variant,
        "recipe": recipe.hash,
        "settings": recipe.settings(),
        "failure": str(error),
        "need": error.need,
        "hardware": hardware(pick_device(machine.device)),
        "versions": {"bagcn": __version__, **versions()},
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
