"""Attacks on trained models as cells of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from bagcn.reproduce import Plan, draw, merging, missing, run_missing
from bagcn.reproduce.attacking import attack_jobs
from bagcn.study.runner import Machine
from bagcn.study.store import Store
from reproduce.made import study

TEXT = """
title = "Two models under attack"
where = "nowhere"
seeds = 3
attack_seeds = 1
columns = [
  { name = "clean" },
  { name = "adaptive", attack = "adaptive:0.05" },
  { name = "transfer", attack = "transfer:0.05" },
]
rows = [
  { name = "GCN", model = "gcn", dataset = "cora" },
  { name = "SGC", model = "sgc", dataset = "cora" },
]
settings = { block = 5_000, steps = 5 }
"""


def test_attacks_are_made_once_and_stand_beside_the_clean_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, changes = study(TEXT), {"epochs": 20}
    out, machine = tmp_path / "elsewhere", Machine("cpu", workers=1)
    plan = Plan(tmp_path / "store", [0, 1, 2], machine, changes, out)
    assert missing(made, plan) == 2 * (3 + 1 + 1)
    assert [(recipe.model, jobs) for recipe, jobs in attack_jobs(made, plan)] == [
        (model, [(0, "adaptive:0.05"), (0, "transfer:0.05")]) for model in ("gcn", "sgc")
    ]
    assert len(list(run_missing(made, plan))) == 10
    assert missing(made, plan) == 0
    monkeypatch.setattr(merging, "NAMES", ("made",))
    assert merging.merge_runs(out, tmp_path / "store") == 10
    plan = Plan(tmp_path / "store", [0, 1, 2], machine, changes)
    assert missing(made, plan) == 0
    found = {(r["model"], r["attack"]): r for r in Store(tmp_path / "store/made/attacks")}
    assert len(found) == 4
    clean = {r["id"]: r for r in Store(tmp_path / "store/made")}
    assert len(clean) == 6
    for (model, _), record in found.items():
        own = next(r for r in clean.values() if (r["model"], r["seed"]) == (model, 0))
        assert record["victim"] == own["recipe"]
        assert record["clean"] == own["test"]  # the same model was attacked
        assert record["test"] < record["clean"]
        assert record["search"] == {"block": 5000, "steps": 5, "lr": 1000.0}
    page = draw(made, plan)
    assert page.complete
    assert [row[0] for row in page.tables[0].rows] == ["GCN", "SGC"]
    assert page.tables[0].rows[0][3] == f"{100 * found['gcn', 'adaptive:0.05']['test']:.1f}"
