"""``bagcn predict``: the graph of the training, one that has grown, and a wholly new one."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from bagcn.bundle import load
from bagcn.estimator import NodeClassifier
from bagcn.tables import Layout, from_frames
from bagcn.tables.read import read_table
from cli.conftest import Bagcn
from owned import TOPICS, library


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables and the model that was trained on them."""
    folder = tmp_path_factory.mktemp("trained")
    library(folder)
    graph = from_frames(
        read_table(folder / "nodes.csv"),
        read_table(folder / "edges.csv"),
        Layout(label="topic", weight="times", drop=("open_access",)),
    )
    fitted = NodeClassifier(epochs=4, hidden_channels=8, device="cpu").fit(graph)
    fitted.save(folder / "model")
    return folder


@pytest.fixture
def here(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = Path(shutil.copytree(trained, tmp_path / "here"))
    monkeypatch.chdir(folder)
    return folder


def texts(name: str) -> pd.DataFrame:
    return pd.read_csv(name, dtype=str, keep_default_na=False)


def chances(table: pd.DataFrame) -> np.ndarray:
    return table[[f"probability {topic}" for topic in TOPICS]].to_numpy()


TABLES = ("--nodes", "nodes.csv", "--edges", "edges.csv")


@pytest.mark.parametrize("rows", ["", "art-00000,art-00000,1\n"], ids=["none", "to itself"])
def test_nodes_alone(bagcn: Bagcn, here: Path, rows: str) -> None:
    (here / "edges.csv").write_text("citing,cited,times\n" + rows)
    answer = bagcn("predict", "model", *TABLES, "--out", "alone.csv")
    assert answer.code == 0
    told = "edges.csv has no rows: no node has a neighbour to learn from\n"
    assert answer.err == ("" if rows else told) + "120 predictions are in alone.csv\n"
    assert np.allclose(chances(pd.read_csv("alone.csv")).sum(axis=1), 1, atol=1e-6)


def test_a_place_that_cannot_hold_predictions(bagcn: Bagcn, here: Path) -> None:
    assert bagcn("predict", "model", "--out", "model").error == (
        "cannot use model (Is a directory): name another file or folder"
    )
    assert bagcn("predict", "model", "--out", "p.xlsx").error == (
        "p.xlsx would be a workbook, which is not written: name a .csv file"
    )


def test_the_graph_it_was_trained_on(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn("predict", "model")
    assert (answer.code, answer.err) == (0, "")
    found, nodes, model = pd.read_csv(io.StringIO(answer.out)), texts("nodes.csv"), load("model")
    expected = [
        "article",
        "prediction",
        "confidence",
        *(f"probability {t}" for t in TOPICS),
        "label",
    ]
    assert list(found.columns) == expected
    assert found["article"].tolist() == nodes["article"].tolist()
    assert found["label"].fillna("").tolist() == nodes["topic"].tolist()
    assert found["prediction"].tolist() == model.predict().tolist()
    assert np.allclose(chances(found), model.predict_proba(), atol=1e-6)
    assert np.array_equal(found["confidence"], chances(found).max(axis=1))


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.json"])
def test_files(bagcn: Bagcn, here: Path, name: str) -> None:
    answer = bagcn("predict", "model", "--out", name)
    assert (answer.code, answer.out, answer.err) == (0, "", f"120 predictions are in {name}\n")
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet, ".json": pd.read_json}
    found = readers[Path(name).suffix](name)
    assert np.allclose(chances(found), load("model").predict_proba(), atol=1e-6)
    assert found["label"].notna().sum() == (texts("nodes.csv")["topic"] != "").sum()


def test_the_same_tables_give_the_same(bagcn: Bagcn, here: Path) -> None:
    assert bagcn("predict", "model", *TABLES).out == bagcn("predict", "model").out


def test_columns_and_rows_in_another_order(bagcn: Bagcn, here: Path) -> None:
    """Neither the label nor the columns that were left out are needed."""
    nodes = texts("nodes.csv").drop(columns=["topic", "open_access"])
    nodes.iloc[::-1, ::-1].to_csv("turned.csv", index=False)
    texts("edges.csv").iloc[::-1, ::-1].to_parquet("turned.parquet")
    answer = bagcn("predict", "model", "--nodes", "turned.csv", "--edges", "turned.parquet")
    assert answer.err == ""
    found, before = pd.read_csv(io.StringIO(answer.out)), load("model").predict_proba()
    assert found["article"].tolist() == nodes["article"].tolist()[::-1]
    assert np.allclose(chances(found), before[::-1], atol=1e-5)
    assert found["label"].isna().all()


def test_a_graph_that_has_grown(bagcn: Bagcn, here: Path) -> None:
    """With a category, and words, that training has not seen, and gaps where it had none."""
    row = "new,,maybe,Reykjavik,,entirely novel wording,poetry\n"
    with Path("nodes.csv").open("a") as file:
        file.write(row)
    with Path("edges.csv").open("a") as file:
        file.write("new,art-00000,2\n")
    found = pd.read_csv(io.StringIO(bagcn("predict", "model", *TABLES).out))
    assert found["article"].tolist()[-1] == "new"
    assert found["label"].tolist()[-1] == "poetry"
    assert np.isfinite(chances(found)).all()
    assert np.allclose(chances(found).sum(axis=1), 1, atol=1e-5)
    assert np.abs(chances(found)[:120] - load("model").predict_proba()).max() < 0.2


def test_a_wholly_new_graph_from_standard_input(
    bagcn: Bagcn, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, _ = library(here / "other", 60)
    strangers = nodes.assign(article="x" + nodes["article"])
    edges = texts("other/edges.csv")
    edges.assign(citing="x" + edges["citing"], cited="x" + edges["cited"]).to_csv("e.csv")
    content = strangers.to_csv(index=False).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    answer = bagcn("predict", "model", "--nodes", "-", "--edges", "e.csv", "--as", "json")
    rows = json.loads(answer.out)
    assert [row["article"] for row in rows] == strangers["article"].tolist()
    expected = load("model").predict_proba(nodes, edges=edges)
    found = [[row[f"probability {topic}"] for topic in TOPICS] for row in rows]
    assert np.allclose(found, expected, atol=1e-5)


def test_a_missing_column(bagcn: Bagcn, here: Path) -> None:
    texts("nodes.csv").drop(columns=["pages", "abstract"]).to_csv("less.csv", index=False)
    error = bagcn("predict", "model", "--nodes", "less.csv", "--edges", "edges.csv").error
    assert error == (
        "the model was trained on columns that the nodes' table lacks: pages, abstract; its "
        "feature columns are place, published"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nowhere", "there is no folder nowhere: expected one that bagcn train saved"),
        ("nodes.csv", "nodes.csv is no saved model: it holds no config.json"),
        (
            "model --nodes nodes.csv",
            "a graph needs a table of nodes and one of edges: --edges is no",
        ),
        ("model --nodes no.csv --edges edges.csv", "there is no file no.csv"),
        ("model --nodes edges.csv --edges nodes.csv", "unknown column of edges.csv 'article'"),
        ("model --as parquet", "Parquet needs a file to write to: give one with --out"),
        (
            "model --as xml",
            "Invalid value for '--as': 'xml' is not one of 'csv', 'parquet', 'json'",
        ),
        ("model --device gpu", "expected a device like auto, cpu or cuda, got 'gpu'"),
        ("", "Missing argument 'MODEL'"),
    ],
)
def test_what_cannot_be_meant(bagcn: Bagcn, here: Path, arguments: str, message: str) -> None:
    before = sorted(here.iterdir())
    assert bagcn("predict", *arguments.split()).error.startswith(message)
    assert sorted(here.iterdir()) == before


def test_a_bundle_that_was_cut_short(bagcn: Bagcn, here: Path) -> None:
    file = Path("model/model.safetensors")
    file.write_bytes(file.read_bytes()[:-50])
    assert bagcn("predict", "model").error == (
        "model/model.safetensors is not the file that was saved (its SHA-256 differs): copy the "
        "folder anew"
    )


def test_no_room_on_the_disk(bagcn: Bagcn, here: Path, small_files: None) -> None:
    answer = bagcn("predict", "model", "--out", "deep/p.json")
    assert answer.error.startswith("there is no room on the disk for deep/p.json: nothing of it")
    assert list(Path("deep").iterdir()) == []
