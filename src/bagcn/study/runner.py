"""Recipes and seeds in, records out: what is in the store already is not run again."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from bagcn import __version__
from bagcn.data import Split, load, make_split, scale_features
from bagcn.data.prognn import SPLIT as PROGNN
from bagcn.data.prognn import prognn_split
from bagcn.robustness.perturb import Perturbation
from bagcn.study.models import card_of
from bagcn.study.recipe import Recipe
from bagcn.study.record import Run, record_of
from bagcn.study.store import Record, Store
from bagcn.training import Checkpoint, Member, Result, Task, train_population

__all__ = ["Machine", "graph", "pick_device", "planned", "run", "trained"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Machine:
    """Where and how runs are computed; nothing here changes what a run is.

    Args:
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        data_dir: folder with the data sets.
        offline: download nothing.
        max_memory: bytes that a population may take.
        workers: processes on a CPU.
        deterministic: ask torch for deterministic kernels.
    """

    device: str = "auto"
    data_dir: Path | None = None
    offline: bool = False
    max_memory: int | None = None
    workers: int | None = None
    deterministic: bool = False


def pick_device(wanted: str) -> torch.device:
    """Return the device: of ``"auto"`` the GPU if there is one."""
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ValueError("this machine or this build of torch has no GPU: use --device cpu or auto")
    return torch.device(wanted)


@lru_cache(maxsize=2)
def _data(name: str, data_dir: Path | None, offline: bool, perturbation: str) -> Any:
    if perturbation:
        return Perturbation.parse(perturbation).load(name, data_dir, offline)
    return load(name, data_dir=data_dir, offline=offline)


def graph(recipe: Recipe, machine: Machine) -> tuple[Any, Task]:
    """Return the recipe's data, and as the model sees it."""
    data = _data(recipe.dataset, machine.data_dir, machine.offline, recipe.graph)
    if not recipe.graph:
        return data, Task.from_data(data, recipe.scaling)
    x = Perturbation.parse(recipe.graph).features(scale_features(data.x, recipe.scaling))
    return data, Task(x, data.edge_index, data.y)


def planned(recipe: Recipe, seeds: Sequence[int], machine: Machine) -> list[Run]:
    """Return the runs of the seeds, each with its split."""
    data = _data(recipe.dataset, machine.data_dir, machine.offline, recipe.graph)
    return [Run(recipe, seed, _split(recipe.split, data, seed)) for seed in seeds]


def _split(name: str, data: Any, seed: int) -> Split:
    return prognn_split(data) if name == PROGNN else make_split(name, data, seed)


def run(
    recipe: Recipe,
    seeds: Sequence[int],
    store: Store | None = None,
    machine: Machine | None = None,
    *,
    force: bool = False,
    checkpoint: Checkpoint | None = None,
    on_epoch: Callable[[int], None] | None = None,
    on_result: Callable[[Run, Result], None] | None = None,
) -> Iterator[Record]:
    """Run the recipe for every seed and yield the records, those already stored first.

    Each record reaches the store before it is yielded, so that an interrupt loses nothing that
    was finished.

    Args:
        recipe: what to run.
        seeds: one a run.
        store: where the records are kept.
        machine: where and how to compute.
        force: run what is stored already once more.
        checkpoint: the folder for unfinished runs, and whether to continue them.
        on_epoch: called now and then with the number of epochs done in all new runs.
        on_result: called with what came of a run, before its record is stored.
    """
    machine = machine or Machine()
    runs = planned(recipe, seeds, machine)
    known = {} if store is None or force else {r["id"]: r for r in store.of(recipe.model)}
    yield from (known[run.id] for run in runs if run.id in known)
    missing = [run for run in runs if run.id not in known]
    if not missing:
        return
    if checkpoint is not None:
        checkpoint = replace(checkpoint, identity=f"{recipe.hash} {__version__}")
    computed = _computed(
        recipe, missing, machine, total=len(runs), checkpoint=checkpoint, on_epoch=on_epoch
    )
    for finished, result, device in computed:
        if on_result is not None:
            on_result(finished, result)
        record = record_of(finished, result, device)
        if store is not None:
            store.add([record])
        yield record


def _computed(
    recipe: Recipe,
    runs: Sequence[Run],
    machine: Machine,
    **options: Any,
) -> Iterator[tuple[Run, Result, torch.device]]:
    device = pick_device(machine.device)
    _, task = graph(recipe, machine)
    members = [Member(run.seed, run.split) for run in runs]
    for i, result in trained(recipe, task, members, machine, **options):
        yield runs[i], result, device


def trained(
    recipe: Recipe, task: Task, members: Sequence[Member], machine: Machine, **options: Any
) -> Iterator[tuple[int, Result]]:
    """Train members by the recipe; yield each one's position and result.

    Args:
        recipe: the model and what the members share.
        task: the graph.
        members: seeds, splits and settings of their own.
        machine: where and how to compute.
        options: of :func:`bagcn.training.train_population`.
    """
    with _determinism(machine.deterministic):
        yield from train_population(
            recipe.build,
            task,
            members,
            recipe.train,
            device=pick_device(machine.device),
            vectorised=card_of(recipe.model).vectorised,
            max_memory=machine.max_memory,
            workers=machine.workers,
            **options,
        )


@contextmanager
def _determinism(wanted: bool) -> Iterator[None]:
    """Ask torch for deterministic kernels, where that is wanted."""
    if not wanted or torch.are_deterministic_algorithms_enabled():
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # as torch demands on a GPU
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
