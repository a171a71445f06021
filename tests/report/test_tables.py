"""The table in all its formats, from runs that are written out."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from bagcn.report.tables import (
    FORMATS,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    frame,
    rich_table,
    signed,
)
from bagcn.study.bench import cells
from bagcn.study.recipe import load_recipe
from bagcn.study.store import Store
from bagcn.study.table import Results, results
from study.test_table import record

STEPS = [0.001 * k for k in range(12)]


@pytest.fixture
def found(tmp_path: Path) -> Results:
    """MLP is best, GCN cannot be told from it, GAT is worse and short of runs, SGC did not fit."""
    store = Store(tmp_path)
    levels = {
        "mlp": [0.80 + step for step in STEPS],
        "gcn": [0.80 + step for step in reversed(STEPS)],
        "gat": [0.70 + step for step in STEPS[:11]],
    }
    levels["mlp"][0] += 0.0012
    for model, tests in levels.items():
        recipe = load_recipe(model, "cora")
        store.add(record(recipe, seed, test) for seed, test in enumerate(tests))
    sgc = record(load_recipe("sgc", "cora"), 0, 0.0)
    store.add([{**sgc, "id": "f", "failure": "took more than 141.2 GiB on cuda", "need": 1.5e11}])
    wanted = cells(["mlp", "gcn", "gat", "sgc", "bagcn-plus"], ["cora"])
    return results(wanted, store, range(12))


MARKDOWN = """\
|  |  | Cora |
| --- | --- | ---: |
| MLP | ours | **80.56 ± 0.35** |
|  | published | 55.10 (+25.46) |
|  | a run | 2.0 s, 1.00 GiB |
| GCN | ours | 80.55 ± 0.36 ≈ |
|  | published | 81.50 (−0.95) |
|  | a run | 2.0 s, 1.00 GiB |
| GAT | ours | 70.50 ± 0.33 (11 of 12 runs) |
|  | published | 83.00 ± 0.70 (−12.50) |
|  | a run | 2.0 s, 1.00 GiB |
| SGC | ours | needs 140 GiB |
|  | published | 81.00 |
| BAGCN+ | ours | – |
"""


def test_markdown(found: Results) -> None:
    text = as_markdown(found)
    table, notes = text.split("\n\n")
    assert table + "\n" == MARKDOWN
    lines = notes.splitlines()
    assert lines[1].startswith(
        "- Best of a data set: bold; not distinguishable from it: ≈ (paired tests over equal "
        "seeds and splits, Wilcoxon or t, with Holm's correction, 0.05)."
    )
    assert lines[-1] == "- sgc on cora: took more than 141.2 GiB on cuda (a processor)."
    assert "a processor." in lines[2]


def test_latex(found: Results) -> None:
    lines = as_latex(found).splitlines()
    assert lines[:7] == [
        "% \\usepackage{booktabs}",
        "\\begin{tabular}{llr}",
        "\\toprule",
        " &  & Cora \\\\",
        "\\midrule",
        "MLP & ours & \\textbf{80.56 $\\pm$ 0.35} \\\\",
        " & published & 55.10 (+25.46) \\\\",
    ]
    assert "GCN & ours & \\underline{80.55 $\\pm$ 0.36} \\\\" in lines
    assert " & published & 81.50 ($-$0.95) \\\\" in lines
    end = lines.index("\\end{tabular}")
    assert lines[end - 1] == "\\bottomrule"
    assert lines.count("\\addlinespace") == 4  # between five models
    assert all(line.startswith("%") for line in lines[end + 1 :])
    body = [line for line in lines[4:end] if "&" in line]
    assert all(line.count("&") == 2 and line.endswith("\\\\") for line in body)


def test_csv_and_json_hold_every_cell(found: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    plain = json.loads(as_json(found))["cells"]
    assert [row["model"] for row in rows] == ["mlp", "gcn", "gat", "sgc", "bagcn-plus"]
    for row, cell in zip(rows, plain, strict=True):
        assert row.keys() == cell.keys()
        assert row["mean"] == ("" if cell["mean"] is None else str(cell["mean"]))
    assert (rows[0]["best"], rows[1]["indistinguishable"]) == ("True", "True")
    assert rows[3]["need"] == "150000000000.0"
    assert set(FORMATS) == {"md", "latex", "csv", "json"}


def test_on_a_terminal(found: Results) -> None:
    out = io.StringIO()
    Console(file=out, width=100).print(rich_table(found))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines() if line.strip()]
    assert lines[0] == "Test accuracy (%)"
    assert "MLP ours 80.56 ± 0.35 *" in lines
    assert "GCN ours 80.55 ± 0.36 ≈" in lines
    assert "GAT ours 70.50 ± 0.33 (11 of 12 runs)" in lines
    assert "SGC ours needs 140 GiB" in lines


def test_a_brief_table_has_our_numbers_only(found: Results) -> None:
    brief = replace(found, brief=True)
    lines = as_markdown(brief).splitlines()
    assert lines[:3] == ["|  | Cora |", "| --- | ---: |", "| MLP | **80.56 ± 0.35** |"]
    assert sum(line.startswith("|") for line in lines) == 2 + len(found.models)
    assert not any("A run:" in line or "†" in line for line in lines)
    assert "\\begin{tabular}{lr}\n" in as_latex(brief)
    out = io.StringIO()
    Console(file=out, width=100).print(rich_table(brief))
    assert "MLP 80.56 ± 0.35 *" in " ".join(out.getvalue().split())


def test_papers_numbers_carry_a_mark(tmp_path: Path) -> None:
    text = as_markdown(results(cells(["bagcn-add"], ["cora"]), Store(tmp_path), [0]))
    assert "| BAGCN-add | ours | – |\n|  | published | 83.30 ± 0.20† |" in text
    assert "- † the BAGCN paper, Tables 2 and 3." in text


def test_stored_runs_of_other_recipes_are_counted(tmp_path: Path) -> None:
    recipe, store = load_recipe("gcn", "cora"), Store(tmp_path)
    store.add([record(recipe.changed({"lr": lr}), 0, 0.5) for lr in (0.1, 0.2)])
    text = as_markdown(results(cells(["gcn"], ["cora"]), store, [0]))
    assert "- 2 stored runs have other settings or recipes and are not shown." in text


def test_runs_as_a_frame(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(record(load_recipe("gcn", "cora"), seed, 0.8 + 0.01 * seed) for seed in range(3))
    runs = frame(store)
    assert len(runs) == 3
    assert runs.groupby(["model", "dataset"]).test.mean()["gcn", "cora"] == pytest.approx(0.81)
    assert list(runs["split.hash"]) == ["split 0", "split 1", "split 2"]
    assert runs.date.iloc[0] == pd.Timestamp("2026-01-02T03:04:05+00:00")
    assert "curve.loss" not in runs
    assert len(frame(Store(tmp_path / "nothing"))) == 0


def test_a_table_says_which_of_its_recipes_were_tuned(tmp_path: Path) -> None:
    settings = 'source = "x"\nmodel = { hidden_channels = 8 }\n'
    official, tuned = f"[official]\n{settings}", f"[tuned.cora]\n{settings}"
    (tmp_path / "bagcn-add.toml").write_text(official + tuned)
    (tmp_path / "gcn.toml").write_text(official)

    def table(models: list[str], variant: str) -> str:
        wanted = cells(models, ["cora"], variant, folder=tmp_path)
        return as_markdown(results(wanted, Store(tmp_path / "store"), range(2)))

    told = "- Tuned here on validation accuracy: BAGCN-add on Cora. All others: official settings."
    assert told in table(["bagcn-add", "gcn"], "best")
    for variant in ("official", "tuned"):
        assert "uned here" not in table(["bagcn-add"], variant)


@pytest.mark.parametrize(("number", "text"), [(0.256, "+0.26"), (-1.0, "−1.00"), (None, "–")])
def test_a_difference_has_a_sign(number: float | None, text: str) -> None:
    assert signed(number) == text
