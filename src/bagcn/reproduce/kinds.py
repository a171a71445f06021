"""The kinds of studies: how each is run, and how it is drawn from the run store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bagcn.reproduce.attacking import attack_jobs, run_attacks
from bagcn.reproduce.definition import Study
from bagcn.reproduce.drawn import draw_grid
from bagcn.reproduce.gridpage import grid_page
from bagcn.reproduce.page import Page
from bagcn.reproduce.running import Plan, grid_jobs, run_grid
from bagcn.study.store import Record

__all__ = ["draw", "missing", "run_missing"]


@dataclass(frozen=True)
class _Kind:
    """What can be done with a study.

    Args:
        missing: how many runs are still to be made.
        run: makes them and yields their records.
        draw: from what is stored.
    """

    missing: Callable[[Study, Plan], int]
    run: Callable[[Study, Plan], Iterator[Record]]
    draw: Callable[[Study, Plan], Page]


def _missing_of_grid(study: Study, plan: Plan) -> int:
    jobs = [*grid_jobs(study, plan), *attack_jobs(study, plan)]
    return sum(len(each) for _, each in jobs)


def _run_grid(study: Study, plan: Plan) -> Iterator[Record]:
    yield from run_grid(study, plan, grid_jobs(study, plan))
    yield from run_attacks(study, plan, attack_jobs(study, plan))


def _draw_grid(study: Study, plan: Plan) -> Page:
    return grid_page(draw_grid(study, plan.pool(), plan.seeds, plan.changes))


def _kind(study: Study) -> _Kind:
    """Return what can be done with the study; only what it needs is imported."""
    if study.kind == "grid":
        return _Kind(_missing_of_grid, _run_grid, _draw_grid)
    from bagcn.reproduce import shortcuts
    from bagcn.reproduce.shortcutpage import shortcut_page

    return _Kind(
        lambda study, plan: sum(len(each) for _, each in shortcuts.shortcut_jobs(study, plan)),
        lambda study, plan: shortcuts.run_shortcuts(
            study, plan, shortcuts.shortcut_jobs(study, plan)
        ),
        shortcut_page,
    )


def missing(study: Study, plan: Plan) -> int:
    """Return how many runs are still to be made."""
    return _kind(study).missing(study, plan)


def run_missing(study: Study, plan: Plan) -> Iterator[Record]:
    """Make the runs that are missing; each record reaches the store before it is yielded."""
    yield from _kind(study).run(study, plan)


def draw(study: Study, plan: Plan) -> Page:
    """Draw the study from what is stored."""
    return _kind(study).draw(study, plan)
