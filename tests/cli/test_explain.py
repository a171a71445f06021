# The command as a user calls it: table, JSON, page, all pairs, and one line for every mistake.
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bagcn.explain.reasons import reasons
from cli.conftest import Bagcn
from explain.library import ALONE, BOOKS, ODD, classifier, named


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "model"
    classifier().save(path)
    return path


def test_the_table_tells_all_that_is_known(bagcn: Bagcn, model: Path) -> None:
    answer = bagcn("explain", model, "--node", "book-000", "--top", 5)
    found = reasons(named(), "book-000", 5)
    assert (answer.code, answer.err) == (0, "")
    assert f"predicted {found['prediction']} with {found['probability']:.1%}" in answer.out
    assert f"its label is {found['label'] or 'not known'}" in answer.out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in answer.out.splitlines()]
    rows = [row for row in rows if row]
    parts = [("its own features", "own features"), ("its neighbours", "neighbours")]
    for row, (shown, name) in zip(rows, [*parts, ("all shortcuts", "shortcuts")], strict=False):
        assert row == [shown, outcome(found["without"][name], found["prediction"])]
    assert len(rows) == 3 + 5
    for row, pair in zip(rows[3:], found["shortcuts"], strict=True):
        hops = "other component" if pair["hops"] is None else f"{pair['hops']} hops"
        label = pair["label"] or f"({pair['prediction']})"
        without = outcome(pair["without"], found["prediction"])
        assert row == [pair["node"], f"{pair['weight']:.3%}", hops, label, without]


def outcome(part: dict[str, Any], own: str) -> str:
    change = f"{100 * part['change']:+.2f}".replace("-0.00", "+0.00")
    text = f"{part['probability']:.2%} ({change})"
    return text if part["prediction"] == own else f"{text}, then {part['prediction']}"


def test_ids_are_shown_as_they_are(bagcn: Bagcn, model: Path) -> None:
    for place in ODD:
        answer = bagcn("explain", model, "--node", ODD[place])
        assert answer.out.startswith(f"Node {ODD[place]}: predicted")
    every = bagcn("explain", model, "--node", "book-000", "--top", BOOKS).out
    shown = [row["node"] for row in reasons(named(), "book-000", BOOKS)["shortcuts"]]
    assert ODD[8] in shown
    assert ODD[8] in every  # and not its text in red


def test_json_is_what_python_gives_and_twice_the_same(bagcn: Bagcn, model: Path) -> None:
    call = ("explain", model, "--node", f"book-{ALONE:03d}", "--top", 3, "--json")
    first = bagcn(*call)
    assert json.loads(first.out) == reasons(named(), f"book-{ALONE:03d}", 3)
    assert bagcn(*call) == first


def test_weights_of_the_papers_matrices(bagcn: Bagcn, model: Path) -> None:
    call = ("explain", model, "--node", "book-000", "--json", "--weights")
    found = json.loads(bagcn(*call, "S1").out)
    assert found == reasons(named(), "book-000", weights="S1")
    assert found["shortcuts"] != json.loads(bagcn(*call, "S2").out)["shortcuts"]


def test_all_pairs(bagcn: Bagcn, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "pairs.parquet"
    answer = bagcn("explain", model, "--all", "--top", 4, "--out", out)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == f"{4 * BOOKS} shortcuts of {BOOKS} nodes are in {out}\n"
    table = pd.read_parquet(out)
    one = table[table["node"] == "book-000"]
    expected = reasons(named(), "book-000", 4)["shortcuts"]
    assert one["shortcut"].tolist() == [row["node"] for row in expected]
    assert one["weight"].tolist() == [row["weight"] for row in expected]
    first = out.read_bytes()
    bagcn("explain", model, "--all", "--top", 4, "--out", out)
    assert out.read_bytes() == first
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_the_page_is_written_beside_the_table(bagcn: Bagcn, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    answer = bagcn("explain", model, "--node", "book-000", "--html", page)
    assert answer.out.startswith("Node book-000: predicted")
    assert answer.err == f"the page is {page}: open it in a browser\n"
    assert "<title>Predictions of model</title>" in page.read_text("utf-8")
    first = page.read_bytes()
    bagcn("explain", model, "--node", "book-000", "--html", page)
    assert page.read_bytes() == first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--node", "book-7777"),
            "there is no node with the id 'book-7777'; "
            "the nearest are book-059, book-058, book-057",
        ),
        (("--node", "book-000", "--top", 0), "top must be at least 1, got 0"),
        ((), "which node? name one with --node ID, or take --all"),
        (
            ("--all",),
            "where to write the shortcuts of all nodes? add --out shortcuts.parquet",
        ),
        (
            ("--all", "--out", "-"),
            "where to write the shortcuts of all nodes? add --out shortcuts.parquet",
        ),
        (
            ("--all", "--out", "x", "--node", "1"),
            "--all is for the table of all nodes: leave out --node, --html and --json",
        ),
        (
            ("--all", "--out", "x", "--json"),
            "--all is for the table of all nodes: leave out --node, --html and --json",
        ),
        (
            ("--node", "1", "--out", "x"),
            "--out is for --all; for one node there are --html and --json",
        ),
    ],
)
def test_mistakes(bagcn: Bagcn, model: Path, options: tuple[Any, ...], message: str) -> None:
    assert bagcn("explain", model, *options).error == message


def test_no_model_there(bagcn: Bagcn, tmp_path: Path) -> None:
    assert "holds no config.json" in bagcn("explain", tmp_path, "--node", "1").error


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        (
            "gcn",
            {},
            "shortcuts are the attention of a BAGCN model, and GCN has none: "
            "train bagcn-add or bagcn-mul",
        ),
        (
            "bagcn-add",
            {"attention": "none"},
            "shortcuts are the attention of a BAGCN model, and this one was trained without it: "
            "train it with attention=exact (on the command line: --set attention=exact)",
        ),
    ],
)
@pytest.mark.parametrize("whole", [False, True], ids=["a node", "all"])
def test_models_without_shortcuts(
    bagcn: Bagcn, tmp_path: Path, name: str, settings: dict[str, Any], message: str, whole: bool
) -> None:
    classifier(name, **settings).save(tmp_path / "model")
    out = tmp_path / "pairs.parquet"
    asked = ("--all", "--out", out) if whole else ("--node", "book-000")
    assert bagcn("explain", tmp_path / "model", *asked).error == message
    assert not out.exists()
