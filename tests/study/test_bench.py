"""Cells and what is run of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bagcn.study import bench
from bagcn.study.bench import cells, run_cell
from bagcn.study.recipe import load_recipe, recipe_file
from bagcn.study.runner import Machine
from bagcn.study.store import Store
from bagcn.training.memory import DoesNotFitError

HERE = Machine(device="cpu", workers=1)


def test_all_pairs_data_set_by_data_set() -> None:
    found = cells(["gcn", "mlp", "gcn"], ["photo", "cora"], changes={"epochs": 3})
    assert [str(cell) for cell in found] == [
        "gcn on photo",
        "mlp on photo",
        "gcn on cora",
        "mlp on cora",
    ]
    for cell in found:
        assert cell.recipe == load_recipe(cell.model, cell.dataset).changed({"epochs": 3})


def test_where_there_is_no_recipe_the_cell_says_so(tmp_path: Path) -> None:
    (tmp_path / "gcn.toml").write_text(
        "[tuned.cora]\ntrain = { lr = 0.5 }\nmodel = { hidden_channels = 4 }\n", "utf-8"
    )
    cora, photo = cells(["gcn"], ["cora", "photo"], "tuned", folder=tmp_path)
    assert cora.recipe is not None
    assert cora.recipe.train.lr == 0.5
    assert (photo.recipe, photo.why) == (None, "gcn.toml has no tuned settings of gcn for photo")
    assert bench.recipe_in(tmp_path, "mlp") == recipe_file("mlp")


def test_mistakes_are_not_cells() -> None:
    with pytest.raises(ValueError, match=r"unknown model 'gatt'; did you mean 'gat'\?"):
        cells(["gatt"], ["cora"])
    with pytest.raises(ValueError, match=r"unknown data set 'coar'; did you mean 'cora'\?"):
        cells(["gcn"], ["coar"])
    with pytest.raises(ValueError, match="unknown setting 'fusion'"):
        cells(["gcn"], ["cora"], changes={"fusion": "add"})


def test_runs_reach_the_store_and_those_who_watch(toy: Path, tmp_path: Path) -> None:
    recipe, store = load_recipe("gcn", "toy").changed({"epochs": 5}), Store(tmp_path / "runs")
    epochs: list[int] = []
    seen: list[dict[str, Any]] = []
    watch = {"on_epoch": epochs.append, "on_record": seen.append}
    assert run_cell(recipe, [0, 1], store, HERE, **watch) == ""
    assert [record["id"] for record in store] == [record["id"] for record in seen]
    assert epochs == list(range(1, 11))
    assert run_cell(recipe, [0, 1, 2], store, HERE, **watch) == ""
    assert [record["seed"] for record in seen] == [0, 1, 0, 1, 2]


def test_what_does_not_fit_leaves_its_need_and_the_others_go_on(
    toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, store = load_recipe("gcn", "toy").changed({"epochs": 5}), Store(tmp_path / "runs")
    told = run_cell(recipe, [0], store, replace(HERE, max_memory=1000))
    assert told.startswith("one run needs about ")
    (failure,) = store.failures()
    assert failure["failure"] == told
    assert 10_000 < failure["need"] < 10_000_000
    assert (failure["model"], failure["dataset"]) == ("gcn", "toy")
    assert failure["recipe"] == recipe.hash
    assert list(store) == []
    run_cell(recipe, [0], store, replace(HERE, max_memory=1000))
    assert len(list(store.failures())) == 1  # of the same recipe the last counts
    assert run_cell(recipe, [0], store, HERE) == ""
    assert len(list(store)) == 1

    def interrupted(*_: Any, **__: Any) -> Any:
        raise MemoryError("of another kind")
        yield

    monkeypatch.setattr(bench, "run", interrupted)
    with pytest.raises(MemoryError, match="of another kind"):
        run_cell(recipe, [0], store, HERE)
    assert issubclass(DoesNotFitError, MemoryError)


def test_seeds_of_the_search_are_not_reported_of_tuned_recipes(toy: Path, tmp_path: Path) -> None:
    official = load_recipe("gcn", "toy").changed({"epochs": 2})
    with pytest.raises(ValueError, match="seeds from 10000 on were used for tuning"):
        run_cell(replace(official, variant="tuned"), [0, 10_000], Store(tmp_path), HERE)
    assert run_cell(official, [10_000], Store(tmp_path), HERE) == ""
