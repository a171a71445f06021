"""A study drawn from a made-up store, to the letter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bagcn.reproduce import markdown, write_page
from bagcn.reproduce.drawn import draw_grid
from bagcn.reproduce.grid import Pool
from bagcn.reproduce.gridpage import grid_page, signed
from bagcn.study.store import Store
from reproduce.made import STUDY, record, stored, study

CLAIM = """
[[claims]]
says = "GCN is better than SGC."
better = ["GCN"]
than = ["SGC"]
"""


def test_the_page_says_what_the_store_holds(tmp_path: Path) -> None:
    made = study(STUDY + CLAIM)
    stored(
        tmp_path,
        made,
        {
            ("GCN", "Cora"): [81, 82, 83, 82, 81, 81],
            ("SGC", "Cora"): [80, 81, 82, 81, 80, 79],
            ("GCN", "Citeseer"): [70.25],
        },
    )
    text = markdown(grid_page(draw_grid(made, Pool(tmp_path), range(6))))
    assert (
        text
        == """# Two models on two data sets

The paper: nowhere. Made with `bagcn reproduce made`.

**13 of 24 runs are there (6 seeds a cell): what is missing is shown as –, cells with fewer runs \
say how many.**

|  |  | Cora | Citeseer |
| --- | --- | ---: | ---: |
| GCN | paper | 81.7 | 70.9 ± 0.5 |
|  | ours | 81.7 ± 0.8 | 70.2 (1 run) |
|  | difference | ±0.0 | −0.7 |
| SGC | ours | 80.5 ± 1.0 | – |

## What is claimed

| claim | recipes | by the paper's numbers | by ours | in detail |
| --- | --- | --- | --- | --- |
| GCN is better than SGC. | official | – | not enough runs | Cora: GCN against SGC +1.2 \
(p = 0.00092)<br>1 not decided for want of runs |

- SGC: no hidden layer
"""
    )


def test_a_whole_study_says_so_and_writes_plain_numbers(tmp_path: Path) -> None:
    made = study()
    places = [(row, column) for row in ("GCN", "SGC") for column in ("Cora", "Citeseer")]
    hashes = stored(tmp_path, made, {place: [80, 82] for place in places})
    page = grid_page(draw_grid(made, Pool(tmp_path), range(2)))
    assert page.complete
    assert page.state == "All 8 runs are there: 2 seeds a cell."
    files = write_page(page, tmp_path / "pages")
    assert [file.name for file in files] == ["made.md", "made.json"]
    plain = json.loads(files[1].read_text("utf-8"))
    assert plain["missing"] == 0
    assert plain["cells"][0] == {
        "row": "GCN",
        "column": "Cora",
        "variant": "official",
        "model": "gcn",
        "dataset": "cora",
        "recipes": [hashes["GCN", "Cora"]],
        "runs": 2,
        "diverged": 0,
        "mean": 81.0,
        "sd": 1.414,
        "paper": 81.7,
        "paper_sd": None,
        "difference": -0.7,
    }


def test_a_run_counts_wherever_it_is_stored_and_only_for_its_seed(tmp_path: Path) -> None:
    made = study()
    name = stored(tmp_path, made, {})["GCN", "Cora"]
    Store(tmp_path / "elsewhere" / "deep").add([record(name, 1, 0.7), record(name, 9, 0.1)])
    Store(tmp_path / "other").add([record("0123456789", 0, 0.1)])
    Store(tmp_path / "attacked").add(
        [{**record(name, 0, 0.2), "recipe": None, "victim": name, "attack": "adaptive:0.1"}]
    )
    first = draw_grid(made, Pool(tmp_path), range(6)).values[0]
    assert first.tests == {1: 70.0}
    assert (len(first.runs), first.wanted) == (1, 6)


def test_runs_that_diverged_are_counted_apart(tmp_path: Path) -> None:
    made = study()
    name = stored(tmp_path, made, {("GCN", "Cora"): [80, 82]})["GCN", "Cora"]
    Store(tmp_path / "made").add([record(name, 2, 0.1, diverged=5)])
    page = grid_page(draw_grid(made, Pool(tmp_path), range(3)))
    assert page.tables[0].rows[1] == ["", "ours", "81.0 ± 1.4 (1 diverged)", "–"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.25, "+1.2"), (-0.04, "±0.0"), (-3.0, "−3.0"), (None, "–")],
)
def test_differences_have_their_sign(value: float | None, text: str) -> None:
    assert signed(value) == text


GROUPED = """
title = "One model on damaged graphs"
where = "nowhere"
table = ["added: 0", "added: 50 %"]
columns = [
  { group = "added", name = "0", at = 0 },
  { group = "added", name = "50 %", at = 0.5, set = { graph = "add-edges:0.5" } },
  { group = "fooled", name = "0", at = 0 },
  { group = "fooled", name = "5 %", at = 0.05, attack = "adaptive:0.05" },
]
rows = [{ group = "Cora", name = "GCN", model = "gcn", dataset = "cora" }]
[figure]
x = "amount"
"""


def test_grouped_columns_make_a_chosen_table_and_one_each(tmp_path: Path) -> None:
    made = study(GROUPED)
    cells = draw_grid(made, Pool(tmp_path), range(2)).values
    clean, added = (cells[k].cell.recipes[0].hash for k in (0, 1))
    attack = {"id": "attack", "recipe": None, "victim": clean, "attack": "adaptive:0.05"}
    Store(tmp_path / "made").add([record(clean, 0, 0.8), record(added, 0, 0.7)])
    Store(tmp_path / "made" / "attacks").add([{**record(clean, 0, 0.6), **attack}])
    page = grid_page(draw_grid(made, Pool(tmp_path), range(2)))
    assert [(t.title, list(t.header), list(t.rows)) for t in page.tables] == [
        ("At a glance", ["", "", "clean", "added: 50 %"],
         [["Cora", "GCN", "80.0 (1 run)", "70.0 (1 run)"]]),
        ("Cora: added", ["", "", "0", "50 %"], [["GCN", "ours", "80.0 (1 run)", "70.0 (1 run)"]]),
        ("Cora: fooled", ["", "", "0", "5 %"], [["GCN", "ours", "80.0 (1 run)", "60.0 (1 run)"]]),
    ]  # fmt: skip
    assert "3 of 6 runs" in page.state  # the clean runs count once
    files = write_page(page, tmp_path / "pages")
    assert files[0].name == "made-cora.png"
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_of_a_run_that_was_made_twice_the_newest_counts(tmp_path: Path) -> None:
    for folder, day, test in (("a", "2026-01-02", 0.9), ("b", "2026-01-01", 0.1)):
        line = {"id": "1", "model": "gcn", "recipe": "r", "seed": 0, "test": test, "date": day}
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "gcn.jsonl").write_text(json.dumps(line) + "\n")
    pool = Pool(tmp_path)
    assert len(pool) == 1
    assert [run["test"] for run in pool._runs["r"].values()] == [0.9]
