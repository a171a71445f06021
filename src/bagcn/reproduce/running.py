"""Make the runs that a study still lacks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bagcn.reproduce.definition import Study
from bagcn.reproduce.grid import Pool, cells_of, wanted
from bagcn.study.runner import Machine, run
from bagcn.study.store import Record, Store
from bagcn.study.together import Job, run_together, together

__all__ = ["FAILURES", "Plan", "grid_jobs", "run_grid"]

logger = logging.getLogger(__name__)

FAILURES = (ValueError, RuntimeError, MemoryError)
"""What ends a recipe's runs, but not those of the other recipes."""

OnStart = Callable[[str, int], None]


@dataclass(frozen=True)
class Plan:
    """How a study is to be run.

    Args:
        store: the folder of all run stores; a study adds to the folder of its name.
        seeds: which runs.
        machine: where to compute.
        changes: to every recipe, for trying out.
        out: a folder of its own for new runs: of each study one file, to be merged later.
        on_start: called with words for what is trained next, and the number of its runs; what it
            raises ends the study.
    """

    store: Path
    seeds: Sequence[int]
    machine: Machine = field(default_factory=Machine)
    changes: Mapping[str, Any] = field(default_factory=dict)
    out: Path | None = None
    on_start: OnStart = lambda words, runs: None

    def target(self, study: Study) -> Store:
        """Return where the study's new runs go."""
        return Store(self.out / f"{study.name}.jsonl" if self.out else self.store / study.name)

    def attacks(self, study: Study) -> Store:
        """Return where attacks on trained models go: apart, for they are no runs of a recipe."""
        own = self.target(study).path
        return Store(own.with_suffix(".attacks.jsonl") if self.out else own / "attacks")

    def folders(self, study: Study) -> list[Path]:
        """Return where files of the study may be; the last is where new ones go."""
        return [root / study.name for root in (self.store, self.out) if root]

    def pool(self) -> Pool:
        """Return all runs that there are."""
        return Pool(self.store, *([self.out] if self.out else []))


def grid_jobs(study: Study, plan: Plan) -> list[Job]:
    """Return the recipes that lack runs, each with the seeds it lacks, graph by graph."""
    pool = plan.pool()
    jobs = [
        (recipe, pool.missing(recipe.hash, seeds))
        for recipe, seeds in wanted(cells_of(study, plan.changes), plan.seeds)
    ]
    return sorted((job for job in jobs if job[1]), key=lambda job: (job[0].dataset, job[0].graph))


def run_grid(study: Study, plan: Plan, jobs: Sequence[Job]) -> Iterator[Record]:
    """Make the runs; each record reaches the store before it is yielded.

    What cannot be run is logged, and the rest goes on.
    """
    store = plan.target(study)
    for group in together(jobs, study.together):
        words, runs = _words(group), sum(len(seeds) for _, seeds in group)
        plan.on_start(words, runs)
        try:
            if len(group) == 1:
                recipe, seeds = group[0]
                yield from run(recipe, seeds, store, plan.machine)
            else:
                yield from run_together(group, store, plan.machine, names=study.together)
        except FAILURES as error:
            logger.warning("%s failed: %s", words, str(error).splitlines()[0])


def _words(group: Sequence[Job]) -> str:
    first = group[0][0]
    more = f", {len(group)} settings together" if len(group) > 1 else ""
    return f"{first.model} on {first.dataset}{f' ({first.graph})' if first.graph else ''}{more}"
