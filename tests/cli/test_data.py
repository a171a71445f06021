from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bagcn.data import DATASETS, download
from cli.conftest import Bagcn


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No folder of the user's, and an empty cache, which comes back."""
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    monkeypatch.setenv("BAGCN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_list(bagcn: Bagcn, alone: Path) -> None:
    out = bagcn("data", "list").out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    rows = [row for row in rows if row]
    assert [row[0] for row in rows] == list(DATASETS)
    assert rows[0] == ["cora", "2,708", "5,278", "1,433", "7", "public", "package"]
    assert rows[4] == ["photo", "7,487", "119,043", "745", "8", "per-class", "to download"]


def test_list_as_json(bagcn: Bagcn, toy: Path) -> None:
    found = json.loads(bagcn("data", "list", "--json").out)
    assert [row["name"] for row in found] == [*DATASETS]
    assert found[-1]["name"] == "toy"
    assert {row["name"]: row["files"] for row in found} == {
        **dict.fromkeys(DATASETS, "to download"),
        "cora": "package",
        "toy": "your folder",
    }
    named = json.loads(bagcn("data", "list", "--json", "--data-dir", toy.parent).out)
    assert named[-1]["files"] == "to download"


def test_info(bagcn: Bagcn, alone: Path) -> None:
    assert bagcn("data", "info", "cora").out.splitlines() == [
        "Cora",
        "",
        "  name      cora",
        "  nodes     2,708",
        "  edges     5,278, undirected, without duplicates and self-loops",
        "  features  1,433, scaling row",
        "  classes   7",
        "  split     public: 140 train, 500 validate, 1,000 test",
        "  here      package",
        f"  folder    {alone}/Planetoid/Cora/raw",
        "  files     ind.cora.x, ind.cora.tx, ind.cora.allx, ind.cora.y, ind.cora.ty, "
        "ind.cora.ally, ind.cora.graph, ind.cora.test.index",
        "  source    https://github.com/kimiyoung/planetoid",
        "  paper     https://arxiv.org/abs/1603.08861",
        "  Table 1   The BAGCN paper prints edges 5,429 instead of 5,278. The edges are the links "
        "as listed: with duplicates, and links of a node to itself.",
    ]
    assert not alone.exists()


@pytest.mark.parametrize(
    ("name", "table"),
    [
        (
            "physics",
            "The BAGCN paper prints features 100 instead of 8,415, classes 18 instead of 5. "
            "Features, classes and split are those of another graph, AMiner-CS; with 5 classes the "
            "split is 100/150/34,243.",
        ),
        ("photo", "7,087 nodes remain to test, not 7,084."),
        ("cs", "The BAGCN paper's row is right."),
        (
            "dblp",
            "The BAGCN paper prints edges 105,734 instead of 52,867. Every edge is counted in "
            "both directions.",
        ),
    ],
)
def test_where_the_paper_s_table_is_wrong(bagcn: Bagcn, alone: Path, name: str, table: str) -> None:
    lines = bagcn("data", "info", name).out.splitlines()
    assert lines[-1] == f"  Table 1   {table}"
    assert "  split     per-class: known with the files" in lines
    assert "  here      to download" in lines


def test_photo_is_its_largest_component(bagcn: Bagcn, alone: Path) -> None:
    assert "7,487 (the largest connected component)" in bagcn("data", "info", "photo").out


@pytest.mark.raw
def test_info_as_json(bagcn: Bagcn, raw_data: Callable[[str], Path]) -> None:
    folder = raw_data("cora-ml")
    found = json.loads(bagcn("data", "info", "cora-ml", "--json").out)
    assert found["split_sizes"] == [140, 210, 2_645]
    assert found["table_1"]["split"] == [140, 210, 2_545]
    assert found["table_1"]["edges"] == 2 * found["edges"] == 16_316
    assert found["folder"] == str(folder / "CitationFull/cora_ml/raw")
    assert (found["files"], found["file_names"]) == ("your folder", ["cora_ml.npz"])


def test_get_what_is_here(bagcn: Bagcn, toy: Path) -> None:
    edges = DATASETS["toy"].edges
    assert bagcn("data", "get", "toy").out == f"Toy: 90 nodes, {edges} edges, in {toy}/Toy/raw\n"
    out = bagcn("data", "get", "cora").out
    assert out == "Cora: 2,708 nodes, 5,278 edges, in the package\n"


def test_get_downloads_into_the_cache_and_only_once(
    bagcn: Bagcn, toy: Path, alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []

    def fetch(info: object, target: Path, progress: Callable[[str, int, int], None]) -> list[str]:
        progress("toy.npz", 10, 100)
        fetched.append(target)
        shutil.copyfile(toy / "Toy" / "raw" / "toy.npz", target / "toy.npz")
        return []

    monkeypatch.setattr(download, "fetch", fetch)
    monkeypatch.delenv("BAGCN_OFFLINE")
    first, second = bagcn("data", "get", "toy"), bagcn("data", "get", "toy")
    edges = DATASETS["toy"].edges
    target = alone / "Toy" / "raw"
    assert first.out == f"Toy: 90 nodes, {edges} edges, downloaded to {target}\n"
    assert first.err == ""  # no bar where there is no terminal
    assert second.out == f"Toy: 90 nodes, {edges} edges, in {target}\n"
    assert fetched == [target]


def test_get_all_goes_on_after_a_failure(bagcn: Bagcn, alone: Path) -> None:
    answer = bagcn("data", "get", "all")
    assert answer.code == 2
    assert answer.out == "Cora: 2,708 nodes, 5,278 edges, in the package\n"
    *each, last = answer.err.splitlines()
    assert len(each) == 8
    assert all(line.startswith("error: cannot get ") for line in each)
    assert last == (
        "error: 8 of 9 data sets are not here: citeseer, pubmed, cora-ml, photo, cs, physics, "
        "dblp, cora-full"
    )
