"""Attack trained models, as the columns of a grid say that have an attack."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from bagcn.ops import Matrix, as_matrix
from bagcn.reproduce.definition import Study
from bagcn.reproduce.grid import cells_of, key_of
from bagcn.reproduce.running import FAILURES, Plan
from bagcn.robustness.evasion import Attack, Search, flip_edges
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.record import Run, record_of
from bagcn.study.runner import Machine, graph, pick_device, planned, trained
from bagcn.study.store import Record
from bagcn.training import Member, Result, TrainSettings

__all__ = ["AttackJob", "attack_jobs", "run_attacks"]

logger = logging.getLogger(__name__)

SURROGATE, OTHERS = "gcn", 1_000
"""What transferred attacks follow the gradient of: this model, of other seeds than the victims."""

AttackJob = tuple[Recipe, Sequence[tuple[int, str]]]
"""A recipe, and the attacks on its models: seeds and attacks."""


def attack_jobs(study: Study, plan: Plan) -> list[AttackJob]:
    """Return the attacks that are missing, data set by data set."""
    pool = plan.pool()
    jobs: dict[str, tuple[Recipe, list[tuple[int, str]]]] = {}
    for cell in cells_of(study, plan.changes):
        for recipe, seeds in cell.jobs(plan.seeds) if cell.column.attack else ():
            lacking = pool.missing(key_of(recipe.hash, cell.column.attack), seeds)
            own = jobs.setdefault(recipe.hash, (recipe, []))[1]
            own += [(seed, cell.column.attack) for seed in lacking]
    return sorted((job for job in jobs.values() if job[1]), key=lambda job: job[0].dataset)


def run_attacks(study: Study, plan: Plan, jobs: Sequence[AttackJob]) -> Iterator[Record]:
    """Train the victims, attack them, store and yield a record of each attack."""
    store, search = plan.attacks(study), Search(**study.settings)
    others = _Others(plan, search)
    for recipe, attacks in jobs:
        words = f"attacks on {recipe.model} on {recipe.dataset}"
        plan.on_start(words, len(attacks))
        try:
            for record in _attacked(recipe, attacks, others):
                store.add([record])
                yield record
        except FAILURES as error:
            logger.warning("%s failed: %s", words, str(error).splitlines()[0])


@dataclass(frozen=True)
class _Victim:
    """A trained model and the graph before the attack, on its device.

    Args:
        run: recipe, seed and split.
        result: of training.
        model: for predictions.
        x: features (N, F).
        edges: (2, E).
        y: classes (N,).
    """

    run: Run
    result: Result
    model: nn.Module
    x: Matrix
    edges: Tensor
    y: Tensor

    def fooled(self, budget: float, nodes: Tensor, search: Search) -> Tensor:
        """Return the edges on which it is wrong about many of these nodes."""
        seed = self.run.seed
        return flip_edges(
            self.model, self.x, self.edges, self.y, nodes, budget, seed=seed, search=search
        )

    @torch.no_grad()
    def accuracy(self, edges: Tensor, nodes: Tensor) -> float:
        """Return the accuracy among these nodes of the graph with these edges."""
        right = self.model(self.x, edges, None).argmax(-1) == self.y
        return float(right[nodes].double().mean())


class _Others:
    """Models that attacks are made on and then transferred, each trained and attacked once.

    Args:
        plan: of the study.
        search: how hard to try.
    """

    def __init__(self, plan: Plan, search: Search) -> None:
        self.plan, self.search = plan, search
        self._trained: dict[tuple[str, int], _Victim] = {}
        self._edges: dict[tuple[str, int, float], Tensor] = {}

    def edges(self, victim: Run, budget: float) -> Tensor:
        """Return the edges that fool the other model of the victim's seed, with its split."""
        key = (victim.recipe.dataset, victim.seed)
        if key not in self._trained:
            recipe = load_recipe(SURROGATE, victim.recipe.dataset)
            train = {k: v for k, v in self.plan.changes.items() if k in TrainSettings.names()}
            run = Run(recipe.changed(train), OTHERS + victim.seed, victim.split)
            (self._trained[key],) = _victims([run], self.plan.machine)
        if (*key, budget) not in self._edges:
            nodes = torch.as_tensor(victim.split.test)
            self._edges[*key, budget] = self._trained[key].fooled(budget, nodes, self.search)
        return self._edges[*key, budget]


def _attacked(
    recipe: Recipe, attacks: Sequence[tuple[int, str]], others: _Others
) -> Iterator[Record]:
    machine, search = others.plan.machine, others.search
    runs = planned(recipe, sorted({seed for seed, _ in attacks}), machine)
    for victim in _victims(runs, machine):
        nodes = torch.as_tensor(victim.run.split.test)
        for text in (text for seed, text in attacks if seed == victim.run.seed):
            attack = Attack.parse(text)
            if attack.kind == "adaptive":
                edges = victim.fooled(attack.budget, nodes, search)
            else:
                edges = others.edges(victim.run, attack.budget)
            device = pick_device(machine.device)
            yield _record(victim, text, search, victim.accuracy(edges, nodes), device)


def _victims(runs: Sequence[Run], machine: Machine) -> Iterator[_Victim]:
    """Train a model for each run of a recipe."""
    recipe, device = runs[0].recipe, pick_device(machine.device)
    _, task = graph(recipe, machine)
    members = [Member(run.seed, run.split) for run in runs]
    done = trained(recipe, task, members, machine, keep_weights=True)
    parts = as_matrix(task.x).to(device), task.edge_index.to(device), task.y.to(device)
    for place, result in done:
        model = recipe.build(task.num_features, task.num_classes)
        model.load_state_dict(result.check().weights or {})
        yield _Victim(runs[place], result, model.to(device).eval(), *parts)


def _record(
    victim: _Victim, attack: str, search: Search, accuracy: float, device: torch.device
) -> Record:
    """Return the record of an attack: like that of a run, but the recipe is the victim's."""
    record = record_of(victim.run, victim.result, device)
    parts = [victim.run.id, attack, asdict(search)]
    return {
        **{key: value for key, value in record.items() if key not in ("recipe", "curve")},
        "id": hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12],
        "victim": victim.run.recipe.hash,
        "attack": attack,
        "search": asdict(search),
        "clean": record["test"],
        "test": round(accuracy, 6),
    }
