"""Recipes that share a population; toy is 90 nodes in three classes, split by the seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.runner import Machine, run
from bagcn.study.store import Store
from bagcn.study.together import run_together, together, value_of

HERE = Machine(device="cpu", workers=1)


def recipe(**changes: Any) -> Recipe:
    return load_recipe("bagcn-add", "toy").changed({"epochs": 5, **changes})


def plain(record: dict[str, Any]) -> dict[str, Any]:
    passing = ("seconds", "peak_memory", "date", "commit", "curve", "val_loss")
    return {key: value for key, value in record.items() if key not in passing}


def test_each_run_is_recorded_as_if_it_had_been_alone(toy: Path, tmp_path: Path) -> None:
    names = ("lr", "consistency", "temperature")
    recipes = [recipe(), recipe(lr=0.05), recipe(consistency=3.0), recipe(temperature=0.3)]
    jobs = [(one, [0, 1]) for one in recipes]
    assert len(together(jobs, names)) == 1
    store = Store(tmp_path / "together")
    found = list(run_together(jobs, store, HERE, names=names))
    assert {record["id"] for record in store} == {record["id"] for record in found}
    alone = [record for one in recipes for record in run(one, [0, 1], None, HERE)]
    by_id = {record["id"]: record for record in found}
    assert len(by_id) == 8
    for record in alone:
        assert plain(by_id[record["id"]]) == plain(record)
        assert by_id[record["id"]]["curve"]["loss"] == pytest.approx(
            record["curve"]["loss"], abs=2e-5
        )


def test_what_changes_shapes_is_another_population(toy: Path) -> None:
    jobs = [(recipe(), [0]), (recipe(hidden_channels=8), [0]), (recipe(epochs=6), [0])]
    assert [len(group) for group in together(jobs, ("lr",))] == [1, 1, 1]
    shared = [(recipe(lr=0.1), [0]), (recipe(lr=0.2), [1]), (recipe(dropout=0.1), [0])]
    assert [len(group) for group in together(shared, ("lr",))] == [2, 1]
    assert [len(group) for group in together(shared, ("lr", "dropout"))] == [3]


def test_a_silent_recipe_has_the_models_default(toy: Path) -> None:
    assert value_of(recipe(), "temperature") == 0.7
    assert value_of(recipe(), "fusion") == "add"
    assert value_of(recipe(temperature=0.2), "temperature") == 0.2
    assert value_of(recipe(lr=0.3), "lr") == 0.3
    assert value_of(recipe(), "nothing") is None
