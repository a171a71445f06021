"""The kinds of studies: how each is run, and how it is drawn from the run store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bagcn.reproduce.definition import Study
from bagcn.reproduce.drawn import draw_grid
from bagcn.reproduce.gridpage import grid_page
from bagcn.reproduce.page import Page
from bagcn.reproduce.running import Plan, grid_jobs, run_grid
from bagcn.study.store import Record
from bagcn.study.together import Job

__all__ = ["draw", "missing", "run_missing"]


@dataclass(frozen=True)
class _Kind:
    """What can be done with a study.

    Args:
        jobs: that are not done yet.
        run: does them and yields records.
        draw: from what is stored.
    """

    jobs: Callable[[Study, Plan], list[Job]]
    run: Callable[[Study, Plan, Sequence[Job]], Iterator[Record]]
    draw: Callable[[Study, Plan], Page]


def _draw_grid(study: Study, plan: Plan) -> Page:
    return grid_page(draw_grid(study, plan.pool(), plan.seeds, plan.changes))


def _kind(study: Study) -> _Kind:
    """Return what can be done with the study; only what it needs is imported."""
    if study.kind == "grid":
        return _Kind(grid_jobs, run_grid, _draw_grid)
    from bagcn.reproduce.shortcutpage import shortcut_page
    from bagcn.reproduce.shortcuts import run_shortcuts, shortcut_jobs

    return _Kind(shortcut_jobs, run_shortcuts, shortcut_page)


def missing(study: Study, plan: Plan) -> int:
    """Return how many runs are still to be made."""
    return sum(len(seeds) for _, seeds in _kind(study).jobs(study, plan))


def run_missing(study: Study, plan: Plan) -> Iterator[Record]:
    """Make the runs that are missing; each record reaches the store before it is yielded."""
    kind = _kind(study)
    yield from kind.run(study, plan, kind.jobs(study, plan))


def draw(study: Study, plan: Plan) -> Page:
    """Draw the study from what is stored."""
    return _kind(study).draw(study, plan)
