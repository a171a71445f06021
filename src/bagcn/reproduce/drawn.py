"""A grid study drawn from the run store: our numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bagcn.reproduce.claims import Outcome, outcomes
from bagcn.reproduce.definition import Line, Study
from bagcn.reproduce.grid import Cell, Pool, cells_of
from bagcn.study.statistics import Summary, summary, well
from bagcn.study.store import Record

__all__ = ["Drawn", "Value", "draw_grid", "value_of_cell"]


@dataclass(frozen=True)
class Value:
    """What is known of a cell; accuracies in percent.

    Args:
        cell: of the grid.
        runs: of its recipes.
        wanted: how many there are when none is missing.
        paper: the paper's mean.
        paper_sd: the paper's sd.
    """

    cell: Cell
    runs: Sequence[Record]
    wanted: int
    paper: float | None
    paper_sd: float | None

    @cached_property
    def tests(self) -> dict[int, float]:
        """Return the test accuracy by seed, of the runs that ended well."""
        return {run["seed"]: 100 * run["test"] for run in well(self.runs)}

    @cached_property
    def summary(self) -> Summary:
        """Return mean, sd and what else the runs say."""
        return summary(self.runs)

    @property
    def difference(self) -> float | None:
        """Return how far our mean is from the paper's."""
        mean = self.summary.mean
        return None if mean is None or self.paper is None else mean - self.paper

    def plain(self) -> dict[str, Any]:
        """Return all as plain data."""
        cell, found = self.cell, self.summary
        return {
            "row": cell.row.key,
            "column": cell.column.key,
            "variant": cell.variant,
            "model": cell.row.model,
            "dataset": cell.dataset,
            "recipes": [recipe.hash for recipe in cell.recipes],
            **({"attack": cell.column.attack} if cell.column.attack else {}),
            "runs": found.n,
            "diverged": found.diverged,
            "mean": _rounded(found.mean),
            "sd": _rounded(found.sd),
            "paper": self.paper,
            "paper_sd": self.paper_sd,
            "difference": _rounded(self.difference),
        }


@dataclass(frozen=True)
class Drawn:
    """A grid study with its numbers.

    Args:
        study: what was drawn.
        values: one a cell, in the order of the cells.
        seeds: how many runs of each are wanted.
        outcomes: of the claims, for every variant.
    """

    study: Study
    values: Sequence[Value]
    seeds: int
    outcomes: Sequence[Outcome]

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], Value]:
        return {(v.cell.row.key, v.cell.column.key, v.cell.variant): v for v in self.values}

    def value(self, row: Line, column: Line, variant: str) -> Value:
        """Return what stands there."""
        return self._places[row.key, column.key, variant]

    @property
    def variants(self) -> list[str]:
        """Return the variants of which there are recipes."""
        there = {v.cell.variant for v in self.values if v.cell.recipes}
        return [name for name in self.study.variants if name in there]

    @property
    def missing(self) -> int:
        """Return how many runs are still to be made."""
        return sum(value.wanted - len(value.runs) for value in self._once())

    @property
    def wanted(self) -> int:
        """Return how many runs there are when nothing is missing."""
        return sum(value.wanted for value in self._once())

    def _once(self) -> list[Value]:
        """Return one value of those that show the same runs."""
        return list({v.cell.keys: v for v in self.values if v.cell.recipes}.values())

    def plain(self) -> dict[str, Any]:
        """Return all as plain data."""
        study = self.study
        return {
            "study": study.name,
            "title": study.title,
            "where": study.where,
            "about": study.about,
            "seeds": self.seeds,
            "runs": self.wanted - self.missing,
            "missing": self.missing,
            "cells": [value.plain() for value in self.values],
            "claims": [outcome.plain() for outcome in self.outcomes],
        }


def draw_grid(
    study: Study, pool: Pool, seeds: Sequence[int], changes: Mapping[str, Any] | None = None
) -> Drawn:
    """Look every cell up and test the claims.

    Args:
        study: of grid kind.
        pool: the runs.
        seeds: which runs count.
        changes: to every recipe, for trying out.
    """
    values = [value_of_cell(study, cell, pool, seeds) for cell in cells_of(study, changes)]
    return Drawn(study, values, len(seeds), outcomes(study, values))


def value_of_cell(study: Study, cell: Cell, pool: Pool, seeds: Sequence[int]) -> Value:
    """Return what the runs and the paper say of a cell."""
    runs = pool.of(cell, seeds)
    printed = cell.row.paper[study.columns.index(cell.column)] if cell.row.paper else []
    mean, sd = [*(printed if isinstance(printed, list) else [printed]), None, None][:2]
    wanted = len(cell.seeds(seeds)) if cell.recipes else 0
    return Value(cell, runs, wanted, mean, sd)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
