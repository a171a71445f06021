"""The cells of a grid study, the recipes of each, and the runs that are stored of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from bagcn.data.prognn import ATTACKS, attack_levels
from bagcn.reproduce.definition import Line, Study
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.store import Record, Store, made
from bagcn.study.together import Job, value_of

__all__ = ["Cell", "Pool", "all_runs", "cells_of", "key_of", "wanted"]


@dataclass(frozen=True)
class Cell:
    """One number of a grid.

    Args:
        row: of the grid.
        column: of the grid.
        variant: of the recipe.
        recipes: what is run: one, or one for each random graph; none where the model has no recipe
            of this variant, or the data set no graph of this attack.
        most: how many seeds are wanted at most; all if 0.
    """

    row: Line
    column: Line
    variant: str
    recipes: tuple[Recipe, ...]
    most: int = 0

    @property
    def dataset(self) -> str:
        """Return the data set's name."""
        return self.row.dataset or self.column.dataset

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return what its runs are known by: the recipes' hashes, and what was done to them."""
        return tuple(key_of(recipe.hash, self.column.attack) for recipe in self.recipes)

    def seeds(self, seeds: Sequence[int]) -> Sequence[int]:
        """Return the seeds that are wanted: models that are attacked may be fewer."""
        return seeds[: self.most] if self.most else seeds

    def jobs(self, seeds: Sequence[int]) -> list[Job]:
        """Return each recipe with its share of the seeds, which take turns."""
        several = len(self.recipes)
        shares = [[s for s in self.seeds(seeds) if s % several == k] for k in range(several)]
        return list(zip(self.recipes, shares, strict=True))


def cells_of(study: Study, changes: Mapping[str, Any] | None = None) -> list[Cell]:
    """Return all cells of a study, row by row.

    Args:
        study: of grid kind.
        changes: to every recipe, for trying out.
    """
    return [
        Cell(
            row,
            column,
            variant,
            tuple(_recipes(study, row, column, variant, changes or {})),
            study.attack_seeds if column.attack else 0,
        )
        for variant in study.variants
        for row in study.rows
        for column in study.columns
    ]


def wanted(cells: Sequence[Cell], seeds: Sequence[int]) -> list[Job]:
    """Return every recipe that is to be trained once, with its seeds."""
    trained = [cell for cell in cells if not cell.column.attack]
    jobs = {recipe.hash: (recipe, own) for cell in trained for recipe, own in cell.jobs(seeds)}
    return list(jobs.values())


def key_of(recipe: str, attack: str = "") -> str:
    """Return what runs are known by: the recipe's hash, and an attack on the trained model."""
    return f"{recipe}@{attack}" if attack else recipe


def _recipes(
    study: Study, row: Line, column: Line, variant: str, changes: Mapping[str, Any]
) -> Iterator[Recipe]:
    recipe = _stored(row.model, row.dataset or column.dataset, variant)
    if recipe is None:
        return
    settings = {**column.set, **row.set, **changes}
    for graph in _graphs(study, recipe.dataset, settings.pop("graph", None)):
        yield _changed(recipe, {**settings, **graph})


@cache
def _stored(model: str, dataset: str, variant: str) -> Recipe | None:
    """Return the recipe of this package; nothing where it was not tuned."""
    try:
        return load_recipe(model, dataset, variant)
    except ValueError:
        if variant == "official":
            raise
        return None


def _graphs(study: Study, dataset: str, graph: str | None) -> list[dict[str, str]]:
    """Return the graphs of a cell: all draws of random damage, or the attacked one if there is."""
    if graph is None:
        return [{}]
    kind = graph.partition(":")[0]
    if kind in ATTACKS:
        return [{"graph": graph}] if attack_levels(dataset, kind) else []
    return [{"graph": f"{graph}:{draw}"} for draw in range(study.draws)]


def _changed(recipe: Recipe, changes: Mapping[str, Any]) -> Recipe:
    for key, value in changes.items():
        if value_of(recipe, key) != value:  # else its runs serve as well
            recipe = recipe.changed({key: value})
    return recipe


class Pool:
    """All runs below some folders, by recipe and seed: a run is the same wherever it was made.

    Of one that was made twice the newest counts, as in a table of runs.

    Args:
        folders: with run stores in them and in their folders.
    """

    def __init__(self, *folders: Path) -> None:
        self._runs: dict[str, dict[int, Record]] = {}
        records = (record for folder in folders for record in all_runs(folder))
        for record in sorted(records, key=made):
            # an attacked model is no run of its recipe: its record names the recipe as its victim
            key = key_of(record.get("recipe") or record["victim"], record.get("attack", ""))
            self._runs.setdefault(key, {})[record["seed"]] = record

    def __len__(self) -> int:
        return sum(map(len, self._runs.values()))

    def of(self, cell: Cell, seeds: Sequence[int]) -> list[Record]:
        """Return the cell's runs, in the order of the seeds, those that there are."""
        wanted = {
            seed: key
            for key, (_, own) in zip(cell.keys, cell.jobs(seeds), strict=True)
            for seed in own
        }
        runs = {seed: self._runs.get(key, {}).get(seed) for seed, key in wanted.items()}
        return [run for seed in seeds if (run := runs.get(seed)) is not None]

    def missing(self, key: str, seeds: Sequence[int]) -> list[int]:
        """Return the seeds that have no run."""
        runs = self._runs.get(key, {})
        return [seed for seed in seeds if seed not in runs]


def all_runs(folder: Path) -> Iterator[Record]:
    """Yield every record of a run or an attack below a folder."""
    for file in sorted(folder.rglob("*.jsonl")):
        for record in Store(file):
            if "seed" in record and ("recipe" in record or "victim" in record):
                yield record
