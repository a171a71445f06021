"""A table of models and data sets from the run store, as plain data.

Accuracies are in percent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bagcn.data import DATASETS
from bagcn.study.bench import Cell
from bagcn.study.models import MODELS
from bagcn.study.recipe import VARIANTS, NoRecipeError, Recipe, load_recipe, paper_value
from bagcn.study.statistics import ALPHA, Standing, Summary, against_best, summary
from bagcn.study.store import Record, Store, made

__all__ = ["PAPER", "Entry", "Known", "Results", "known_value", "results", "there"]

PAPER = "the BAGCN paper, Tables 2 and 3"


@dataclass(frozen=True)
class Known:
    """A number that somebody published: mean, sd if they say it, and where it stands."""

    value: float
    sd: float | None
    where: str


@dataclass(frozen=True)
class Entry:
    """What is known of a cell.

    Args:
        cell: model, data set and recipe.
        wanted: how many runs there should be.
        runs: of the recipe and the wanted seeds.
        known: the published number.
        standing: against the best model of the data set.
        failure: why it cannot be run, where it was tried.
        others: stored runs of this model, data set and variant that are not of this recipe.
    """

    cell: Cell
    wanted: int
    runs: Sequence[Record]
    known: Known | None
    standing: Standing
    failure: Record | None = None
    others: int = 0

    @property
    def summary(self) -> Summary:
        """Return mean, sd and what else the runs say."""
        return summary(self.runs)

    @property
    def difference(self) -> float | None:
        """Return how far our mean is from the published one."""
        mean = self.summary.mean
        return None if mean is None or self.known is None else mean - self.known.value

    def plain(self) -> dict[str, Any]:
        """Return all as plain data."""
        found, known, standing = self.summary, self.known, self.standing
        return {
            "model": self.cell.model,
            "dataset": self.cell.dataset,
            "variant": self.cell.recipe.variant if self.cell.recipe else None,
            "recipe": self.cell.recipe.hash if self.cell.recipe else None,
            "split": self.cell.recipe.split if self.cell.recipe else None,
            "runs": found.n,
            "wanted": self.wanted,
            "diverged": found.diverged,
            "mean": _rounded(found.mean),
            "sd": _rounded(found.sd),
            "se": _rounded(found.se),
            "validation": _rounded(found.val),
            "published": known.value if known else None,
            "published_sd": known.sd if known else None,
            "published_where": known.where if known else None,
            "difference": _rounded(self.difference),
            "best": standing.best,
            "indistinguishable": standing.indistinguishable,
            "pairs": standing.pairs,
            "p": standing.p,
            "p_adjusted": standing.adjusted,
            "seconds": _rounded(found.seconds),
            "peak_memory": found.memory,
            "hardware": ", ".join(found.hardware),
            "failure": self.failure["failure"] if self.failure else self.cell.why or None,
            "need": self.failure.get("need") if self.failure else None,
            "other_runs": self.others,
        }


@dataclass(frozen=True)
class Results:
    """Models and data sets, and an entry for each pair.

    Args:
        entries: by model and data set.
        brief: to be shown without published numbers and times.
    """

    entries: Mapping[tuple[str, str], Entry]
    brief: bool = False

    @property
    def models(self) -> list[str]:
        """Return the names of the models, in their order."""
        return list(dict.fromkeys(model for model, _ in self.entries))

    @property
    def datasets(self) -> list[str]:
        """Return the names of the data sets, in their order."""
        return list(dict.fromkeys(dataset for _, dataset in self.entries))

    def plain(self) -> dict[str, Any]:
        """Return all as plain data."""
        return {
            "test": "two-sided Wilcoxon signed-rank (paired t where few runs differ) against the "
            f"best model, same seed and split, Holm's correction, {ALPHA:g}",
            "cells": [entry.plain() for entry in self.entries.values()],
        }


def results(
    cells: Sequence[Cell], store: Store, seeds: Sequence[int], brief: bool = False
) -> Results:
    """Look every cell up in the store.

    Args:
        cells: from :func:`bagcn.study.bench.cells`.
        store: with the runs.
        seeds: which runs count.
        brief: show neither published numbers nor times.
    """
    runs: dict[str, dict[int, Record]] = {}
    stored: Counter[tuple[str, str, str]] = Counter()
    for record in sorted(store, key=made):  # of several code versions the last counts
        stored[record["model"], record["dataset"], record["variant"]] += 1
        runs.setdefault(record["recipe"], {})[record["seed"]] = record
    failures = {record["recipe"]: record for record in sorted(store.failures(), key=made)}
    found = [(cell, _runs_of(cell.recipe, runs, seeds)) for cell in cells]
    standings = _standings(found)
    return Results(
        {
            (cell.model, cell.dataset): Entry(
                cell,
                len(seeds),
                of_cell,
                known_value(cell.model, cell.dataset, cell.recipe),
                standings.get((cell.model, cell.dataset), Standing()),
                failures.get(cell.recipe.hash) if cell.recipe else None,
                _others(cell.recipe, stored, runs) if cell.recipe else 0,
            )
            for cell, of_cell in found
        },
        brief,
    )


def there(store: Store, variant: str) -> tuple[list[str], list[str]]:
    """Return the models and the data sets that the store has runs or failures of."""
    wanted = VARIANTS if variant == "best" else (variant,)
    records = [r for r in (*store, *store.failures()) if r["variant"] in wanted]
    models = {record["model"] for record in records}
    datasets = {record["dataset"] for record in records}
    return [m for m in MODELS if m in models], [d for d in DATASETS if d in datasets]


def known_value(model: str, dataset: str, recipe: Recipe | None) -> Known | None:
    """Return the model's published number: its own paper's, else the BAGCN paper's."""
    if recipe is None or not recipe.published:
        try:
            recipe = load_recipe(model, dataset)
        except NoRecipeError:
            recipe = None
    if recipe is not None and (published := recipe.published):
        sd = published.get("sd")
        return Known(
            float(published["value"]), None if not sd else float(sd), str(published["where"])
        )
    paper = paper_value(model, dataset)
    return Known(*paper, PAPER) if paper else None


def _others(
    recipe: Recipe,
    stored: Mapping[tuple[str, str, str], int],
    runs: Mapping[str, Mapping[int, Record]],
) -> int:
    alike = stored[recipe.model, recipe.dataset, recipe.variant]
    return max(0, alike - len(runs.get(recipe.hash, {})))


def _runs_of(
    recipe: Recipe | None, runs: Mapping[str, Mapping[int, Record]], seeds: Sequence[int]
) -> list[Record]:
    of_recipe = runs.get(recipe.hash, {}) if recipe else {}
    return [of_recipe[seed] for seed in seeds if seed in of_recipe]


def _standings(found: Sequence[tuple[Cell, list[Record]]]) -> dict[tuple[str, str], Standing]:
    by_dataset: dict[str, dict[str, list[Record]]] = {}
    for cell, runs in found:
        by_dataset.setdefault(cell.dataset, {})[cell.model] = runs
    return {
        (model, dataset): standing
        for dataset, models in by_dataset.items()
        for model, standing in against_best(models).items()
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
