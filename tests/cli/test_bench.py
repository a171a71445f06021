"""``bagcn bench``; toy is 90 nodes in three classes."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bagcn.study import runner
from bagcn.study.store import Store
from cli.conftest import Bagcn

FAST = ("--workers", 1, "--set", "epochs=4", "--seeds", 3)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many members every population had."""
    seen: list[int] = []
    real = runner.train_population

    def spy(build: Any, task: Any, members: Any, *rest: Any, **options: Any) -> Any:
        seen.append(len(members))
        return real(build, task, members, *rest, **options)

    monkeypatch.setattr(runner, "train_population", spy)
    return seen


def test_models_on_a_data_set(bagcn: Bagcn, toy: Path, tmp_path: Path, trained: list[int]) -> None:
    out = tmp_path / "store"
    answer = bagcn("bench", "gcn", "mlp", "--on", "toy", "--out", out, *FAST)
    assert answer.code == 0
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]
    assert any(line.startswith("GCN ours") for line in lines)
    assert any(line.startswith("MLP ours") for line in lines)
    assert "Test accuracy (%) at the epoch of the best validation accuracy" in answer.out
    said = answer.err.splitlines()  # one line a cell, as this is no terminal
    assert [line.split()[:3] for line in said] == [["gcn", "on", "toy"], ["mlp", "on", "toy"]]
    assert said[0].endswith("over 3 runs")
    assert trained == [3, 3]
    again = bagcn("bench", "gcn", "mlp", "--on", "toy", "--out", out, *FAST)
    assert again.out == answer.out
    assert trained == [3, 3]
    assert again.err.splitlines()[0].endswith("over 3 runs, 3 stored before")
    bagcn("bench", "gcn", "--on", "toy", "--out", out, *FAST, "--force", "-q")
    assert trained == [3, 3, 3]


def test_the_table_alone(bagcn: Bagcn, toy: Path, tmp_path: Path, trained: list[int]) -> None:
    out = tmp_path / "store"
    bagcn("bench", "gcn", "--on", "toy", "--out", out, *FAST)
    trained.clear()
    named = ("bench", "gcn", "mlp", "--on", "toy", "--out", out, *FAST, "--table-only")
    table = bagcn(*named, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table.out)))
    assert [(row["model"], row["runs"]) for row in rows] == [("gcn", "3"), ("mlp", "0")]
    assert table.err == ""
    stored = json.loads(bagcn("bench", "--out", out, *FAST, "--format", "json").out)
    assert [(c["model"], c["dataset"], c["runs"]) for c in stored["cells"]] == [("gcn", "toy", 3)]
    assert "\\begin{tabular}{llr}" in bagcn(*named, "--format", "latex").out
    assert "| GCN | ours |" in bagcn(*named, "--format", "md").out
    assert trained == []


def test_runs_from_elsewhere_join(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    away, here = tmp_path / "away", tmp_path / "here"
    bagcn("bench", "gcn", "--on", "toy", "--out", away, *FAST)
    shutil.copy(away / "gcn.jsonl", tmp_path / "some.jsonl")
    answer = bagcn("bench", "--import", away, "--out", here, *FAST, "--format", "csv")
    assert answer.err == f"3 new runs from {away} in {here}\n"
    assert next(csv.DictReader(io.StringIO(answer.out)))["runs"] == "3"
    again = bagcn("bench", "--import", tmp_path / "some.jsonl", "--out", here, *FAST)
    assert again.err == f"0 new runs from {tmp_path / 'some.jsonl'} in {here}\n"
    assert len(list(Store(here))) == 3
    wrong = bagcn("bench", "--import", tmp_path / "nothing", "--out", here)
    assert wrong.error == (
        f"there is no {tmp_path / 'nothing'} to import: expected a folder or a .jsonl file"
    )


def test_what_does_not_fit_says_so_in_its_cell(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "store", *FAST)
    answer = bagcn("bench", "gcn", "--on", "toy", *out, "--max-memory", "1k")
    assert answer.code == 0
    told = r"one run needs about (0\.\d MiB), but only 0\.0 MiB may be taken"
    need = re.search(told, answer.err)
    assert need
    assert f"needs {need[1]}" in answer.out
    assert "gcn on toy: one run needs about" in answer.out
    bagcn("bench", "gcn", "--on", "toy", *out)
    assert "needs" not in bagcn("bench", "gcn", "--on", "toy", *out).out


def test_a_problem_with_one_cell_does_not_end_the_others(
    bagcn: Bagcn, toy: Path, tmp_path: Path
) -> None:
    shutil.rmtree(toy / "Toy")
    answer = bagcn("bench", "gcn", "--on", "toy,cora", "--out", tmp_path / "store", *FAST)
    assert answer.code == 2
    assert "gcn on toy" in answer.err.splitlines()[0]
    assert "error: " in answer.err.splitlines()[0]
    assert answer.err.splitlines()[1].endswith("over 3 runs")
    assert "GCN" in answer.out


def test_tuned_recipes_of_your_own(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "gcn.toml").write_text(
        '[tuned.toy]\nsplit = "random:0.5/0.2"\nmodel = { hidden_channels = 4 }\n', "utf-8"
    )
    options = ("--variant", "tuned", "--recipes", tmp_path, "--out", tmp_path / "store")
    answer = bagcn("bench", "gcn", "mlp", "--on", "toy", *options, *FAST, "--format", "json")
    gcn, mlp = json.loads(answer.out)["cells"]
    assert (gcn["runs"], gcn["variant"], gcn["split"]) == (3, "tuned", "random:0.5/0.2")
    assert (mlp["runs"], mlp["failure"]) == (0, "mlp.toml has no tuned settings of mlp for toy")


def test_mistakes(bagcn: Bagcn, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "store")
    assert "unknown model 'gatt'; did you mean 'gat'?" in bagcn("bench", "gatt", *out).error
    assert "unknown data set 'coar'" in bagcn("bench", "gcn", "--on", "coar", *out).error
    assert "cannot read the seeds 'x'" in bagcn("bench", "gcn", "--seeds", "x", *out).error
    assert "unknown setting 'lrr'" in bagcn("bench", "gcn", "--set", "lrr=1", *out).error
    wide = bagcn("bench", "gcn", "--set", "hidden_channels=wide", *out).error
    assert wide == "hidden_channels must be a whole number; got wide"
    assert bagcn("bench", *out).error == (
        f"no runs of official recipes are stored in {tmp_path / 'store'}: name models to run, "
        "like bagcn bench gcn bagcn-add --on cora"
    )
