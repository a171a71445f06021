"""A made-up run store: three models on two data sets, some values of λ, one attack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bagcn.reproduce import Study, load_study
from bagcn.reproduce.grid import Cell, cells_of
from bagcn.study.store import Store

GPU = "Made-up <GPU> & co"
TESTS = {
    ("table-small", "GCN", "Cora"): [81.0, 81.5, 82.0, 81.5, 80.5, 81.5],
    ("table-small", "GCN", "CiteSeer"): [70.0] * 20,
    ("table-small", "MLP", "Cora"): [60.0] * 20,
    ("table-small", "BAGCN-add", "Cora"): [84.0] * 10 + [83.0] * 10,
    ("lambda", "BAGCN-add: Cora", "0"): [80.0] * 20,
    ("lambda", "BAGCN-add: Cora", "4"): [79.0, 81.0] * 10,
    ("robustness", "Cora: GCN", "random edges added: 100 %"): [65.0, 67.0],
    ("robustness", "Cora: GCN", "PR-BCD, adaptive: 25 %"): [20.0],
}


def cell(study: Study, row: str, column: str) -> Cell:
    cells = cells_of(study)
    return next(c for c in cells if (c.row.key, c.column.key) == (row, column))


def write_store(folder: Path) -> Path:
    """Fill the folder; accuracies are those of ``TESTS``, of seeds from 0 on."""
    for (name, row, column), tests in TESTS.items():
        made = cell(load_study(name), row, column)
        jobs = [(recipe, seed) for recipe, seeds in made.jobs(range(20)) for seed in seeds]
        recipes = {seed: recipe for recipe, seed in jobs}
        attack = made.column.attack
        records = [
            {**_record(recipes[seed], seed, test), **_attacked(recipes[seed], attack)}
            for seed, test in enumerate(tests)
        ]
        Store(folder / name / "attacks" if attack else folder / name).add(records)
    return folder


def _record(recipe: Any, seed: int, test: float) -> dict[str, Any]:
    return {
        "id": f"{recipe.hash}{seed:02d}",
        "model": recipe.model,
        "dataset": recipe.dataset,
        "variant": recipe.variant,
        "recipe": recipe.hash,
        "seed": seed,
        "test": test / 100,
        "val": 0.8,
        "best_epoch": 99,
        "diverged": None,
        "seconds": 1.25,
        "peak_memory": 1000,
        "split": {"name": recipe.split, "hash": "0"},
        "hardware": {"device": "cuda", "name": GPU},
        "versions": {"bagcn": "0.1.0"},
        "date": "2026-01-02T03:04:05+00:00",
    }


def _attacked(recipe: Any, attack: str) -> dict[str, Any]:
    if not attack:
        return {}
    return {"recipe": None, "victim": recipe.hash, "attack": attack, "id": f"{recipe.hash}@"}
