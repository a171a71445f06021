"""Runs are made once, resumed, shared between studies and merged from elsewhere."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bagcn.reproduce import Plan, draw, missing, run_missing
from bagcn.reproduce.merging import merge_runs
from bagcn.reproduce.running import grid_jobs
from bagcn.study import together as population
from bagcn.study.runner import Machine
from bagcn.study.store import Store
from reproduce.made import study

QUICK = {"epochs": 1, "hidden_channels": 4}
LINES = """
title = "One model on two sets of labels"
where = "nowhere"
seeds = 2
columns = [
  { name = "1", dataset = "cora", set = { split = "per-class:1/5" } },
  { name = "2", dataset = "cora", set = { split = "per-class:2/5" } },
]
rows = [{ name = "GCN", model = "gcn" }]
"""


def plan(store: Path, **more: Any) -> Plan:
    return Plan(store, [0, 1], Machine("cpu", workers=1), QUICK, **more)


def test_only_what_is_missing_is_run_and_an_interrupt_loses_nothing(tmp_path: Path) -> None:
    made, todo = study(LINES), plan(tmp_path)
    assert missing(made, todo) == 4
    runs = run_missing(made, todo)
    first = next(runs)
    assert isinstance(runs, Iterator)
    del runs  # interrupted
    assert [r["id"] for r in Store(tmp_path / "made")] == [first["id"]]
    assert missing(made, todo) == 3
    rest = list(run_missing(made, todo))
    assert len({record["id"] for record in rest} - {first["id"]}) == 3
    assert list(run_missing(made, todo)) == []
    assert missing(made, todo) == 0
    assert draw(made, todo).complete


def test_another_study_s_runs_serve_as_well(tmp_path: Path) -> None:
    made, todo = study(LINES), plan(tmp_path)
    list(run_missing(made, todo))
    (tmp_path / "made").rename(tmp_path / "other")
    assert missing(made, todo) == 0


def test_together_gives_the_records_of_each_recipe_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = study(LINES)
    shared = study(LINES.replace("seeds = 2", 'seeds = 2\ntogether = ["split"]'))
    sizes = []
    train = population.trained

    def counting(recipe: Any, task: Any, members: Any, machine: Any) -> Any:
        sizes.append(len(members))
        return train(recipe, task, members, machine)

    monkeypatch.setattr(population, "trained", counting)
    first = {r["id"]: r["test"] for r in run_missing(alone, plan(tmp_path / "alone"))}
    assert sizes == []
    second = {r["id"]: r["test"] for r in run_missing(shared, plan(tmp_path / "shared"))}
    assert sizes == [4]
    assert first == second
    assert len(first) == 4


def test_real_settings_are_trained_together_across_recipes(tmp_path: Path) -> None:
    rows = 'rows = [{ name = "BAGCN", model = "bagcn-add" }]'
    columns = (
        'columns = [{ name = "0", dataset = "cora", set = { consistency = 0.0 } }, '
        '{ name = "1", dataset = "cora", set = { consistency = 1.0 } }]'
    )
    made = study(f'title = "x"\nwhere = "x"\ntogether = ["consistency"]\n{columns}\n{rows}')
    groups = population.together(grid_jobs(made, plan(tmp_path)), made.together)
    assert [len(group) for group in groups] == [2]
    groups = population.together(grid_jobs(made, plan(tmp_path)), ())
    assert [len(group) for group in groups] == [1, 1]


def test_what_cannot_be_run_is_said_and_the_rest_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = study(LINES.replace('split = "per-class:2/5"', "num_layers = 0"))
    with caplog.at_level(logging.WARNING):
        records = list(run_missing(made, plan(tmp_path)))
    assert len(records) == 2
    assert "gcn on cora failed: num_layers must be at least 1, got 0" in caplog.text
    assert missing(made, plan(tmp_path)) == 2


def test_on_start_names_each_job(tmp_path: Path) -> None:
    said: list[tuple[str, int]] = []
    todo = plan(tmp_path, on_start=lambda words, runs: said.append((words, runs)))
    list(run_missing(study(LINES), todo))
    assert said == [("gcn on cora", 2), ("gcn on cora", 2)]


def test_runs_made_elsewhere_are_merged_once(tmp_path: Path) -> None:
    made = study(LINES)
    list(run_missing(made, plan(tmp_path / "store", out=tmp_path / "out")))
    assert not (tmp_path / "store").exists()
    (tmp_path / "out" / "made.jsonl").rename(tmp_path / "out" / "lambda.jsonl")
    assert merge_runs(tmp_path / "out", tmp_path / "store") == 4
    assert merge_runs(tmp_path / "out", tmp_path / "store") == 0
    assert missing(made, plan(tmp_path / "store")) == 0
    with pytest.raises(ValueError, match="holds no runs of a study"):
        merge_runs(tmp_path, tmp_path / "store")


def test_the_module_runs_where_only_the_core_is_installed(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['rich', 'pandas', 'optuna']));"
    arguments = ["x", "ego-local", "--out", "out", "--store", "none", "--seeds", "0..0"]
    arguments += ["--seconds", "0", "--device", "cpu"]
    code = f"{blocked} sys.argv = {arguments!r}; import runpy; "
    code += "runpy.run_module('bagcn.reproduce', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "ego-local: 24 runs are missing" in done.stderr
    assert "time is up: the same command goes on" in done.stderr


def test_records_say_what_was_run(tmp_path: Path) -> None:
    list(run_missing(study(LINES), plan(tmp_path)))
    lines = (tmp_path / "made" / "gcn.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    assert first["settings"]["train"]["epochs"] == 1
    assert first["split"]["name"] == "per-class:1/5"
