from __future__ import annotations

import json
from pathlib import Path

import pytest

from bagcn.reproduce import NAMES
from bagcn.study.store import Store
from cli.conftest import Bagcn

QUICK = ("--set", "epochs=1", "--device", "cpu", "--workers", 1)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def _tiny_study(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ego-local be two models on the embedded data set only."""
    from bagcn import reproduce
    from bagcn.reproduce.definition import parse_study

    content = {
        "title": "Two models",
        "where": "section 1",
        "seeds": 2,
        "columns": [{"name": "Cora", "dataset": "cora"}],
        "rows": [
            {"name": "GCN", "model": "gcn", "paper": [81.7]},
            {"name": "SGC", "model": "sgc"},
        ],
    }
    monkeypatch.setattr(reproduce, "load_study", lambda name: parse_study(name, content))


def test_the_list_names_every_study_and_what_it_lacks(bagcn: Bagcn) -> None:
    answer = bagcn("reproduce", "list")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert [line.split()[0] for line in lines] == list(NAMES)
    assert (
        "ablation     What the parts of the model bring (section 4.5, both tables): "
        "960 runs missing"
    ) in lines


def test_an_unknown_study_is_one_line(bagcn: Bagcn) -> None:
    assert "did you mean 'table-small'" in bagcn("reproduce", "table-smal").error


def test_nothing_is_run_when_only_drawing(bagcn: Bagcn, tmp_path: Path) -> None:
    answer = bagcn("reproduce", "ablation", "--draw-only", "--store", "empty", "--out", "p")
    assert (answer.code, answer.err) == (0, "")
    assert "0 of 960 runs are there" in answer.out
    assert not (tmp_path / "empty").exists()
    assert sorted(file.name for file in Path("p").iterdir()) == [
        "ablation.json",
        "ablation.md",
    ]


@pytest.mark.usefixtures("_tiny_study")
def test_runs_then_draws_and_goes_on_where_it_was(bagcn: Bagcn) -> None:
    command = ("reproduce", "ego-local", *QUICK)
    answer = bagcn(*command, "--seeds", 1)
    assert answer.code == 0, answer.err
    assert "ego-local: 0 of 2 runs; gcn on cora: 1 run" in answer.err
    assert "All 2 runs are there: 1 seed a cell." in answer.out
    assert "written: runs/ego-local/ego-local.md, runs/ego-local/ego-local.json" in answer.out
    assert len(list(Store("runs/ego-local.jsonl"))) == 2  # changed recipes stay out of the store
    assert not Path("results").exists()
    answer = bagcn(*command, "--json")
    assert "ego-local: 0 of 2 runs; gcn on cora: 1 run" in answer.err
    found = json.loads(answer.out)
    assert (found["missing"], [cell["runs"] for cell in found["cells"]]) == (0, [2, 2])
    assert bagcn(*command, "--quiet").out == ""


@pytest.mark.usefixtures("_tiny_study")
def test_what_could_not_be_run_ends_in_an_error(
    bagcn: Bagcn, caplog: pytest.LogCaptureFixture
) -> None:
    answer = bagcn("reproduce", "ego-local", "--seeds", 1, "--set", "split=random:0.9/0.9")
    assert answer.code == 1
    assert "2 runs could not be made" in answer.err
    assert "gcn on cora failed: expected fractions" in caplog.text


@pytest.mark.usefixtures("_tiny_study")
def test_runs_from_another_machine_are_added(bagcn: Bagcn) -> None:
    bagcn("reproduce", "ego-local", *QUICK, "-q")
    Path("runs").rename("gpu")
    answer = bagcn("reproduce", "ego-local", "--draw-only", "--merge", "gpu", *QUICK[:2])
    assert "4 new runs are in results" in answer.err
    assert "All 4 runs are there" in answer.out
    assert len(list(Store("results/ego-local"))) == 4
    assert "holds no runs of a study" in bagcn("reproduce", "list", "--merge", "nowhere").error
