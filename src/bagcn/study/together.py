"""Recipes that differ in real numbers only, trained as one population: fast on a GPU.

Each run is recorded as its own recipe's, as if it had been trained for itself.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from bagcn.study.models import card_of
from bagcn.study.recipe import Recipe
from bagcn.study.record import Run, record_of
from bagcn.study.runner import Machine, graph, pick_device, planned, trained
from bagcn.study.store import Record, Store
from bagcn.training import Member, TrainSettings

__all__ = ["Job", "run_together", "together", "value_of"]

_OWN = {field.name for field in fields(Recipe)} - {"train", "arguments"}

Job = tuple[Recipe, Sequence[int]]
"""A recipe and its seeds."""


def value_of(recipe: Recipe, name: str) -> Any:
    """Return a setting's value: the model's default where the recipe is silent."""
    if name in TrainSettings.names():
        return getattr(recipe.train, name)
    if name in _OWN:
        return getattr(recipe, name)
    card = card_of(recipe.model)
    parameters = inspect.signature(card.model).parameters
    defaults = {key: parameter.default for key, parameter in parameters.items()}
    return {**defaults, **dict(card.arguments), **recipe.arguments}.get(name)


def run_together(
    jobs: Sequence[Job],
    store: Store,
    machine: Machine | None = None,
    *,
    names: Sequence[str] = ("lr", "weight_decay"),
) -> Iterator[Record]:
    """Run all jobs, yield each record when it is in the store; nothing is looked up there.

    Args:
        jobs: recipes and their seeds.
        store: gets the records.
        machine: where to compute.
        names: see :func:`together`.
    """
    machine = machine or Machine()
    for group in together(jobs, names):
        for run, result, device in _population(group, names, machine):
            record = record_of(run, result, device)
            store.add([record])
            yield record


def together(jobs: Sequence[Job], names: Sequence[str]) -> list[list[Job]]:
    """Return the populations that the jobs form.

    Args:
        jobs: recipes and their seeds.
        names: settings that may differ within a population: ``"split"``, and real numbers that
            every module of the model reads from its attribute of that name in each step.
    """
    groups: dict[str, list[Job]] = {}
    for recipe, seeds in jobs:
        groups.setdefault(_common(recipe, names), []).append((recipe, seeds))
    return list(groups.values())


def _common(recipe: Recipe, names: Sequence[str]) -> str:
    """Return all that members must share, as text."""
    settings = {key: value for key, value in recipe.settings().items() if key not in names}
    free = [name for name in names if _real(value_of(recipe, name))]
    for part in ("train", "arguments"):
        settings[part] = {key: v for key, v in settings[part].items() if key not in free}
    return json.dumps([settings, free], sort_keys=True, default=str)


def _real(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _population(group: Sequence[Job], names: Sequence[str], machine: Machine) -> Iterator[Any]:
    """Train the group's runs and yield each with its result and the device."""
    device, first = pick_device(machine.device), group[0][0]
    _, task = graph(first, machine)
    runs = [run for recipe, seeds in group for run in planned(recipe, seeds, machine)]
    own = [n for n in names if n != "split" and _differs(n, runs)]
    members = [_member(run, own) for run in runs]
    for place, result in trained(first, task, members, machine):
        yield runs[place], result, device


def _differs(name: str, runs: Sequence[Run]) -> bool:
    return len({repr(value_of(run.recipe, name)) for run in runs}) > 1


def _member(run: Run, names: Sequence[str]) -> Member:
    return Member(run.seed, run.split, {name: value_of(run.recipe, name) for name in names})
