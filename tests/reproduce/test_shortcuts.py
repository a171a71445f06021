"""The study of shortcuts: what is run, and what the page says of made-up measures."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from bagcn.ops import normalized_adjacency
from bagcn.reproduce import Plan, draw, load_study, markdown, missing, run_missing, write_page
from bagcn.reproduce import shortcuts as module
from bagcn.reproduce.measure import ego_case, measure
from bagcn.reproduce.merging import merge_runs
from bagcn.reproduce.shortcuts import shortcut_recipes
from bagcn.study.runner import Machine
from bagcn.study.store import Store
from explain.case import NODES, Case
from nn.dense import Switches


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    """The measures of a small model with random weights."""
    import torch

    case = Case(Switches())
    parts = (case.model, case.x, normalized_adjacency(case.edges, num_nodes=NODES))
    y = torch.arange(NODES) % 3
    found = {**measure(*parts, y, top=5), "cases": [ego_case(*parts, y, node=0, top=5)]}
    plain: dict[str, Any] = module._rounded(found)
    return plain


def write(folder: Path, made: dict[str, Any], dataset: str, seed: int, **changes: Any) -> None:
    recipe = shortcut_recipes(load_study("shortcuts"), {})[dataset]
    found = {"run": "x", "recipe": recipe.hash, "dataset": dataset, "seed": seed, **made, **changes}
    file = folder / "shortcuts" / "measures" / f"{dataset}-{seed}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found), "utf-8")


def test_models_are_trained_measured_and_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: dict[str, Any]
) -> None:
    def measured(model: Any, x: Any, adjacency: Any, y: Any) -> dict[str, Any]:
        assert len(y) == 2_708
        return {name: value for name, value in made.items() if name != "cases"}

    monkeypatch.setattr(module, "measure", measured)
    monkeypatch.setattr(module, "ego_case", lambda *parts: {"node": parts[-1]})
    study = load_study("shortcuts")
    object.__setattr__(study, "settings", {**study.settings, "nodes": {"cora": [3, 4]}})
    changes = {"epochs": 1, "hidden_channels": 4}
    plan = Plan(tmp_path / "store", [0, 1], Machine("cpu", workers=1), changes, tmp_path / "out")
    assert missing(study, plan) == 2
    records = list(run_missing(study, plan))
    assert [record["seed"] for record in records] == [0, 1]
    assert missing(study, plan) == 0
    file = tmp_path / "out" / "shortcuts" / "measures" / "cora-1.json"
    found = json.loads(file.read_text("utf-8"))
    assert (found["run"], found["recipe"]) == (records[1]["id"], records[1]["recipe"])
    assert found["cases"] == [{"node": 3}, {"node": 4}]
    assert merge_runs(tmp_path / "out", tmp_path / "store") == 2
    assert missing(study, Plan(tmp_path / "store", [0, 1], changes=changes)) == 0
    assert len(list(Store(tmp_path / "store" / "shortcuts"))) == 2


def test_the_page_averages_over_seeds_and_says_what_is_missing(
    tmp_path: Path, made: dict[str, Any]
) -> None:
    for seed, share in enumerate([0.25, 0.75]):
        mass = {**made["mass"], "0": share}
        write(tmp_path, made, "cora", seed, mass=mass)
    plan = Plan(tmp_path, range(5))
    page = draw(load_study("shortcuts"), plan)
    assert page.state == "2 of 10 models are measured (5 seeds a data set)."
    assert not page.complete
    tables = {table.title: table for table in page.tables}
    assert tables["Cora: where the attention goes"].rows[0][:2] == [
        "the node itself",
        "50.0 ± 35.4 %",
    ]
    assert not any(title.startswith("CiteSeer") for title in tables)
    files = write_page(page, tmp_path / "pages")
    assert [file.name for file in files] == ["shortcuts.png", "shortcuts.md", "shortcuts.json"]
    assert json.loads(files[2].read_text("utf-8"))["missing"] == 8


def verdicts(tmp_path: Path, found: list[dict[str, Any]], made: dict[str, Any]) -> list[str]:
    for seed, changes in enumerate(found):
        write(tmp_path, made, "cora", seed, **changes)
    page = draw(load_study("shortcuts"), Plan(tmp_path, range(5)))
    assert "## What is claimed" in markdown(page)
    return [row[2] for row in page.tables[0].rows]


def shaped(
    made: dict[str, Any], *, far: float, own: float, near: float, chance: float, changed: float
) -> dict[str, Any]:
    """Measures in which the claims are decided by these numbers."""
    out = copy.deepcopy({key: made[key] for key in ("reach", "agreement", "cut", "uniform")})
    out["reach"]["far"] = far
    out["uniform"] |= {"beyond": 0.4, "elsewhere": 0.2}
    out["agreement"]["4"][-1] |= {"shortcuts": own, "neighbours": near, "chance": chance}
    out["cut"]["changed"] = changed
    out["reach"]["without_far"] = 20
    out["reach"]["degree"] = {"mean": 4.0, "without_far": 6.0, "others": 3.0}
    out["reach"]["relative_degree"] = {"without_far": 2.0, "others": 1.0}
    return out


def test_claims_that_the_measures_bear_out(tmp_path: Path, made: dict[str, Any]) -> None:
    good = shaped(made, far=0.9, own=0.95, near=0.8, chance=0.2, changed=0.1)
    assert verdicts(tmp_path, [good, good], made) == ["holds"] * 5


def test_claims_that_they_do_not(tmp_path: Path, made: dict[str, Any]) -> None:
    bad = shaped(made, far=0.55, own=0.4, near=0.8, chance=0.2, changed=0.01)
    bad["reach"]["without_far"] = 3
    assert verdicts(tmp_path, [bad, bad], made) == [
        "holds, but says little",  # blindly drawn nodes are as far
        "does not hold: more than chance, not almost all",
        "does not hold",
        "not enough nodes",
        "does not hold",
    ]
