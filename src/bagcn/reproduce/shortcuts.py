"""The study of shortcuts: models of several seeds, and what their attention does.

A trained model is measured at once and not kept: ``measures/DATASET-SEED.json`` holds the numbers
and, of the first seed, what the figure draws.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from bagcn._folder import replaced_file
from bagcn.reproduce.definition import Study
from bagcn.reproduce.measure import ego_case, measure
from bagcn.reproduce.running import Plan
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.record import Run, record_of
from bagcn.study.runner import graph, pick_device, planned
from bagcn.study.store import Record
from bagcn.study.together import Job
from bagcn.training import Member, Task, train

__all__ = ["measured", "run_shortcuts", "shortcut_jobs", "shortcut_recipes"]


def shortcut_recipes(study: Study, changes: Mapping[str, Any]) -> dict[str, Recipe]:
    """Return the recipe of every data set whose shortcuts are studied."""
    model, nodes = study.settings["model"], study.settings["nodes"]
    return {name: load_recipe(model, name).changed(changes) for name in nodes}


def shortcut_jobs(study: Study, plan: Plan) -> list[Job]:
    """Return the recipes of which models are not measured yet, each with their seeds."""
    folders = plan.folders(study)
    jobs = [
        (recipe, [seed for seed in plan.seeds if measured(folders, recipe, seed) is None])
        for recipe in shortcut_recipes(study, plan.changes).values()
    ]
    return [job for job in jobs if job[1]]


def measured(folders: Sequence[Path], recipe: Recipe, seed: int) -> dict[str, Any] | None:
    """Return the numbers of a trained model, or nothing if there are none of this recipe."""
    for folder in folders:
        file = _file(folder, recipe, seed)
        if file.exists():
            found: dict[str, Any] = json.loads(file.read_text("utf-8"))
            if found["recipe"] == recipe.hash:
                return found
    return None


def _file(folder: Path, recipe: Recipe, seed: int) -> Path:
    return folder / "measures" / f"{recipe.dataset}-{seed}.json"


def run_shortcuts(study: Study, plan: Plan, jobs: Sequence[Job]) -> Iterator[Record]:
    """Train and measure what is not measured yet, and yield the records."""
    machine, folder = plan.machine, plan.folders(study)[-1]
    for recipe, seeds in jobs:
        plan.on_start(f"{recipe.model} on {recipe.dataset}, trained and measured", len(seeds))
        _, task = graph(recipe, machine)
        for run in planned(recipe, seeds, machine):
            nodes = study.settings["nodes"][recipe.dataset]
            record, found = _trained(run, task, pick_device(machine.device), nodes)
            plan.target(study).add([record])
            with replaced_file(_file(folder, recipe, run.seed)) as partial:
                partial.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
            yield record


def _trained(
    run: Run, task: Task, device: torch.device, nodes: Sequence[int]
) -> tuple[Record, dict[str, Any]]:
    """Train one model and measure it."""
    recipe = run.recipe
    member = Member(run.seed, run.split)
    (result,) = train(recipe.build, task, [member], recipe.train, device=device, keep_weights=True)
    result.check()
    assert result.weights is not None
    model = recipe.build(task.num_features, task.num_classes)
    model.load_state_dict(result.weights)
    x, adjacency = task.prepared_for(model, torch.device("cpu"))
    found = {
        "run": run.id,
        "recipe": recipe.hash,
        "dataset": recipe.dataset,
        "seed": run.seed,
        **measure(model, x, adjacency, task.y),
        "cases": [ego_case(model, x, adjacency, task.y, node) for node in nodes],
    }
    return record_of(run, result, device), _rounded(found)


def _rounded(value: Any) -> Any:
    """Return plain data with six significant digits; what is no number is nothing."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if value == value else None
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value
