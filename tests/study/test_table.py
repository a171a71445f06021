"""The table, from runs that are written out here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bagcn.study.bench import Cell, cells
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.store import Store
from bagcn.study.table import PAPER, Known, Results, known_value, results, there


def record(recipe: Recipe, seed: int, test: float, **more: Any) -> dict[str, Any]:
    return {
        "id": f"{recipe.hash}-{seed}",
        "model": recipe.model,
        "dataset": recipe.dataset,
        "variant": recipe.variant,
        "recipe": recipe.hash,
        "seed": seed,
        "split": {"name": "public", "hash": f"split {seed}"},
        "test": test,
        "val": 0.5,
        "diverged": None,
        "seconds": 2.0,
        "peak_memory": 2**30,
        "hardware": {"name": "a processor"},
        "date": "2026-01-02T03:04:05+00:00",
        "curve": {"epoch": [1], "loss": [0.5]},
        **more,
    }


def made(tmp_path: Path, seeds: int = 12) -> tuple[list[Cell], Store]:
    """Return cells and runs: bagcn-add is best, gcn near it, mlp far below and one run short."""
    wanted = cells(["bagcn-add", "gcn", "mlp", "sgc"], ["cora", "photo"])
    recipes = {str(cell): cell.recipe for cell in wanted}
    store = Store(tmp_path)
    noise = np.random.default_rng(0).standard_normal((2, seeds)) * 0.01
    levels = {
        "bagcn-add on cora": 0.83 + noise[0],
        "gcn on cora": 0.8295 + noise[1],
        "mlp on cora": 0.55 + noise[0][:-1] - 0.001 * np.arange(seeds - 1),
        "gcn on photo": [0.9],
    }
    for name, tests in levels.items():
        recipe = recipes[name]
        assert recipe is not None
        store.add(record(recipe, seed, float(test)) for seed, test in enumerate(tests))
    gcn, photo = recipes["gcn on cora"], recipes["bagcn-add on photo"]
    assert gcn is not None
    assert photo is not None
    other = gcn.changed({"lr": 0.5})
    store.add([record(gcn, 99, 0.1), record(other, 0, 0.1)])
    store.add([record(replace(other, variant="tuned"), 1, 0.1)])
    failure = record(photo, 0, 0.0, failure="took more than 9.0 GiB on cpu", need=9 * 2**30)
    store.add([{**failure, "id": "a failure"}])
    return wanted, store


def table(tmp_path: Path) -> Results:
    wanted, store = made(tmp_path)
    return results(wanted, store, range(12))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_several_code_versions_the_last_counts(tmp_path: Path, order: tuple[int, int]) -> None:
    wanted = cells(["gcn"], ["cora"])
    recipe = wanted[0].recipe
    assert recipe is not None
    runs = [
        record(recipe, 0, 0.1 * day, id=f"version {day}", date=f"2026-01-0{day}T00:00:00+00:00")
        for day in (1, 2)
    ]
    Store(tmp_path).add(runs[k] for k in order)
    entry = results(wanted, Store(tmp_path), [0]).entries["gcn", "cora"]
    assert entry.summary.mean == pytest.approx(20)


def test_every_cell_says_what_is_known(tmp_path: Path) -> None:
    found = table(tmp_path)
    assert found.models == ["bagcn-add", "gcn", "mlp", "sgc"]
    assert found.datasets == ["cora", "photo"]
    entry = found.entries["bagcn-add", "cora"]
    noise = 100 * (0.83 + np.random.default_rng(0).standard_normal((2, 12))[0] * 0.01)
    assert entry.summary.mean == pytest.approx(noise.mean())
    assert entry.summary.sd == pytest.approx(noise.std(ddof=1))
    assert entry.known == Known(83.3, 0.2, PAPER)
    assert entry.difference == pytest.approx(noise.mean() - 83.3)
    assert found.entries["mlp", "cora"].summary.n == 11
    assert found.entries["sgc", "cora"].summary.n == 0
    failed = found.entries["bagcn-add", "photo"]
    assert failed.failure is not None
    assert failed.failure["need"] == 9 * 2**30


def test_only_runs_of_the_recipe_and_the_wanted_seeds_count(tmp_path: Path) -> None:
    entry = table(tmp_path).entries["gcn", "cora"]
    assert (entry.summary.n, entry.wanted, entry.others) == (12, 12, 1)


def test_models_stand_against_the_best_of_their_data_set(tmp_path: Path) -> None:
    found = table(tmp_path)
    standing = {name: entry.standing for name, entry in found.entries.items()}
    assert standing["bagcn-add", "cora"].best
    assert standing["gcn", "cora"].indistinguishable
    assert standing["gcn", "cora"].pairs == 12
    far = standing["mlp", "cora"]
    assert (far.pairs, far.indistinguishable) == (11, False)
    assert far.p == pytest.approx(2 / 2**11)  # every sign is the same
    assert far.adjusted == pytest.approx(2 * 2 / 2**11)  # of two comparisons
    assert not standing["gcn", "photo"].best  # it stands alone there
    assert standing["sgc", "cora"].p is None


def test_plain_data_is_json_and_complete(tmp_path: Path) -> None:
    found = table(tmp_path)
    plain = json.loads(json.dumps(found.plain(), allow_nan=False))
    assert len(plain["cells"]) == 8
    cell = next(c for c in plain["cells"] if (c["model"], c["dataset"]) == ("mlp", "cora"))
    assert (cell["runs"], cell["wanted"], cell["best"]) == (11, 12, False)
    assert cell["published"] == 55.1
    assert cell["difference"] == pytest.approx(cell["mean"] - 55.1)
    assert cell["p_adjusted"] == pytest.approx(4 / 2**11)
    assert (cell["seconds"], cell["peak_memory"]) == (2.0, 2**30)


def test_a_diverged_run_is_counted_and_nothing_else(tmp_path: Path) -> None:
    recipe = load_recipe("gcn", "cora")
    store = Store(tmp_path)
    store.add([record(recipe, 0, 0.8), record(recipe, 1, 0.1, diverged=4)])
    entry = results(cells(["gcn"], ["cora"]), store, range(2)).entries["gcn", "cora"]
    assert (entry.summary.n, entry.summary.diverged, entry.summary.mean) == (1, 1, 80.0)


def test_the_own_papers_number_comes_before_ours() -> None:
    known = known_value("gcn", "cora", load_recipe("gcn", "cora"))
    assert known == Known(81.5, None, "Kipf & Welling 2017, Table 2")
    assert known_value("gcn", "cora-ml", None) == Known(82.2, 1.5, PAPER)
    assert known_value("bagcn-add", "cora", None) == Known(83.3, 0.2, PAPER)


def test_what_is_there(tmp_path: Path) -> None:
    _, store = made(tmp_path)
    assert there(store, "official") == (["bagcn-add", "gcn", "mlp"], ["cora", "photo"])
    assert there(store, "tuned") == (["gcn"], ["cora"])
    assert there(Store(tmp_path / "nothing"), "official") == ([], [])
