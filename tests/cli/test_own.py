"""``bagcn train`` on one's own tables: from files to a bundle, and one line for what is broken."""

from __future__ import annotations

import gzip
import io
import json
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bagcn.bundle import load
from cli.conftest import Bagcn
from owned import TOPICS, library

QUICK = ("--set", "epochs=4", "--set", "hidden_channels=8", "--device", "cpu")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the tables of the example, in which the command is called."""
    library(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(nodes: str = "nodes.csv", edges: str = "edges.csv") -> tuple[str, ...]:
    return ("train", "--nodes", nodes, "--edges", edges, "--label", "topic", *QUICK)


def cells(out: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line
    ]


# --- what it prints and writes


def test_one_command_from_tables_to_predictions(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn(*call(), "--predictions", "p.csv")
    assert (answer.code, answer.err) == (0, "")
    out, lines = answer.out, answer.out.splitlines()
    nodes = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    labelled = int((nodes["topic"] != "").sum())
    assert lines[0].startswith("120 nodes, ")
    assert f"{labelled} nodes have a label, {120 - labelled} are to be predicted." in lines[0]
    assert lines[1:4] == [
        "  Ids are in the column 'article', edges join 'citing' and 'cited'; not used: 'times'.",
        "  Edges from a node to itself, left out: 1.",
        "  Edges that repeat an earlier row, merged with it: 1.",
    ]
    rows = cells(answer.out)
    assert [row[0] for row in rows[:4]] == TOPICS
    assert sum(int(row[1]) for row in rows[:4]) == labelled
    assert [row[:3] for row in rows[4:]] == [
        ["pages", "number", "all cells are numbers"],
        ["open_access", "boolean", "true and false words"],
        ["place", "category", "7 different values"],
        ["published", "date", "all cells are dates"],
        ["abstract", "text", "9 words a cell"],
    ]
    assert [int(row[3]) for row in rows[4:]] == [
        int((nodes[row[0]] == "").sum()) for row in rows[4:]
    ]
    assert "otherwise it is\n  boolean   if its words are true/false" in answer.out  # the rules
    assert "Overrule this with --as COLUMN=KIND." in answer.out
    assert lines[-1] == "120 predictions are in p.csv."
    assert lines[-2] == "The model lies in model; next: bagcn predict model"
    found = pd.read_csv("p.csv", dtype={"article": str})
    model = load("model")
    assert found["article"].tolist() == nodes["article"].tolist()
    assert found["prediction"].tolist() == model.predict().tolist()
    metrics = model.metrics_
    assert (
        f"Accuracy {metrics['test_accuracy']:.1%} on {len(model.split_.test)} nodes" in answer.out
    )
    error = metrics["test_calibration_error"]
    assert f"Calibration error {error['before']:.3f} before and {error['after']:.3f} after" in out
    assert f"temperature scaling (T = {metrics['temperature']:.2f})." in out


def test_quiet(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn(*call(), "-q", "--predictions", "p.csv")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert len(pd.read_csv("p.csv")) == 120


def test_predictions_to_standard_output(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn(*call(), "--predictions", "-")
    assert len(pd.read_csv(io.StringIO(answer.out))) == 120
    assert answer.err.startswith("120 nodes, ")


def test_a_seed_means_the_same_model(bagcn: Bagcn, here: Path) -> None:
    for out in ("a", "b"):
        bagcn(*call(), "--seeds", "7..7", "--out", out)
    assert load("a").random_state == load("a").split_.seed == 7
    for file in Path("a").iterdir():
        if file.name not in ("metrics.json", "config.json"):  # these hold the seconds
            assert file.read_bytes() == (Path("b") / file.name).read_bytes()


@pytest.mark.parametrize(
    ("nodes", "edges"),
    [
        ("nodes.csv.gz", "edges.csv.gz"),
        ("nodes.parquet", "edges.parquet"),
        ("nodes.csv", "edges.parquet"),
        ("-", "edges.csv"),
        ("nodes.csv.gz", "-"),
    ],
)
def test_every_format_gives_the_same_model(
    bagcn: Bagcn, here: Path, monkeypatch: pytest.MonkeyPatch, nodes: str, edges: str
) -> None:
    bagcn(*call(), "--out", "plain")
    if "-" in (nodes, edges):
        content = Path("nodes.csv" if nodes == "-" else "edges.csv").read_bytes()
        monkeypatch.setattr(
            sys, "stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(content)))
        )
    assert bagcn(*call(nodes, edges), "--out", "other").code == 0
    plain, other = load("plain"), load("other")
    assert np.array_equal(plain.predict_proba(), other.predict_proba())


UNUSUAL = {
    "big": [2**53 + 1 + i for i in range(120)],
    "uuid": [str(uuid.UUID(int=2**100 + i)) for i in range(120)],
    "zeros": [f"{i:05d}" for i in range(120)],
}


@pytest.mark.parametrize("kind", list(UNUSUAL))
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_ids_are_kept_exactly(bagcn: Bagcn, here: Path, kind: str, ending: str) -> None:
    nodes, edges = pd.read_parquet("nodes.parquet"), pd.read_parquet("edges.parquet")
    new = dict(zip(nodes["article"], UNUSUAL[kind], strict=True))
    nodes = nodes.assign(article=nodes["article"].map(new))
    edges = edges.assign(citing=edges["citing"].map(new), cited=edges["cited"].map(new))
    for name, table in (("n", nodes), ("e", edges)):
        table.to_csv(f"{name}.csv", index=False)
        table.to_parquet(f"{name}.parquet", index=False)
    assert bagcn(*call(f"n.{ending}", f"e.{ending}"), "--predictions", "p.parquet").code == 0
    ids = pd.read_parquet("p.parquet")["article"].tolist()
    assert [str(value) for value in ids] == [str(value) for value in UNUSUAL[kind]]
    assert len(load("model").task_.edge_index.T) > 200


def test_columns_are_as_told(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn(
        *(*call(), "--id", "article", "--features", "pages,place,published", "--drop", "published"),
        *("--as", "pages=category", "--source", "cited", "--target", "citing", "--weight", "times"),
    )
    assert answer.code == 0
    model = load("model")
    assert [(c.name, c.kind, c.why) for c in model.encoder_.columns] == [
        ("pages", "category", "as told"),
        ("place", "category", "7 different values"),
    ]
    assert (model.layout_.source, model.layout_.target) == ("cited", "citing")
    assert model.task_.edge_weight is not None
    assert set(model.task_.edge_weight.tolist()) <= {1.0, 2, 3, 4, 5, 6}


def test_direction_is_kept_where_it_is_wanted(bagcn: Bagcn, here: Path) -> None:
    assert bagcn(*call(), "--out", "both").code == 0
    answer = bagcn(*call(), "--directed", "--out", "one")
    assert "directed edges" in answer.out.splitlines()[0]
    assert "Edges carry messages from source to target only (--directed)." in answer.out
    one, both = load("one").task_.edge_index, load("both").task_.edge_index
    assert both.shape[1] == 2 * one.shape[1]
    edges = pd.read_csv("edges.csv")
    ids = load("one").ids_
    rows = {(s, t) for s, t in zip(edges["citing"], edges["cited"], strict=True) if s != t}
    assert set(map(tuple, ids[one.T.numpy()].tolist())) == rows


def test_the_split_of_a_column(bagcn: Bagcn, here: Path) -> None:
    nodes = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    words = np.array(["train", "val", "test", ""])[np.arange(120) % 4]
    nodes.assign(part=words).to_csv("split.csv", index=False)
    assert bagcn(*call("split.csv"), "--split-column", "part").code == 0
    split, known = load("model").split_, nodes["topic"].to_numpy() != ""
    for word in ("train", "val", "test"):
        expected = np.flatnonzero((words == word) & known)
        assert getattr(split, word).tolist() == expected.tolist()
    assert "part" not in load("model").feature_names_


@pytest.mark.parametrize(("kind", "features"), [("structural", 5), ("random-walk", 128)])
def test_nodes_without_features(bagcn: Bagcn, here: Path, kind: str, features: int) -> None:
    nodes = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    nodes[["article", "topic"]].to_csv("bare.csv", index=False)
    assert bagcn(*call("bare.csv")).error.startswith(
        "the nodes have no features: choose --no-features structural"
    )
    assert bagcn(*call("bare.csv"), "--no-features", kind).code == 0
    assert load("model").task_.num_features == features


def test_tuning(bagcn: Bagcn, here: Path) -> None:
    answer = bagcn(*call(), "--tune", "3")
    assert answer.code == 0
    bagcn(*call(), "--out", "plain")
    tuned, plain = load("model").metrics_, load("plain").metrics_
    assert tuned["val_accuracy"] >= plain["val_accuracy"]


def test_another_model_and_its_settings(bagcn: Bagcn, here: Path) -> None:
    assert bagcn(*call(), "--model", "gcnii", "--set", "num_layers=3", "--set", "lr=0.02").code == 0
    model = load("model")
    assert (model.model, model.lr, model.arguments_["num_layers"]) == ("gcnii", 0.02, 3)


def test_unbalanced_classes_and_edges_to_nobody_are_told(bagcn: Bagcn, here: Path) -> None:
    nodes = pd.read_csv("nodes.csv", dtype=str, keep_default_na=False)
    kind = ["rare"] * 3 + ["usual"] * 90 + [""] * 27
    nodes.assign(topic=kind).to_csv("nodes.csv", index=False)
    with Path("edges.csv").open("a") as file:
        file.write("art-99999,art-00001,1\nart-00001,art-00000,1\nart-00000,art-00001,1\n")
    out = bagcn(*call()).out
    assert "names an id" not in out
    assert (
        "Edges that name an id that no node has, left out: 1; the first such id is 'art-99999'."
        in out
    )
    assert "Edges written in both directions: 2 of " in out
    assert "The classes are far from balanced: 90 labels of 'usual', 3 of 'rare'; look at" in out


# --- every broken input: one clear line, exit code 2, and nothing left behind

Break = Callable[[str], str | bytes]


def rows(text: str, change: Callable[[int, list[str]], list[str]]) -> str:
    """Return a CSV whose rows, after the header, are changed by their number and cells."""
    head, *lines = text.splitlines()
    changed = [",".join(change(i, line.split(","))) for i, line in enumerate(lines)]
    return "\n".join([head, *changed]) + "\n"


def with_cell(column: int, row: int, value: str) -> Break:
    return lambda text: rows(
        text, lambda i, c: [*c[:column], value, *c[column + 1 :]] if i == row else c
    )


def labels(keep: Callable[[int, str], bool]) -> Break:
    def blanked(text: str) -> str:
        seen: dict[str, int] = {}

        def change(i: int, c: list[str]) -> list[str]:
            seen[c[-1]] = seen.get(c[-1], 0) + 1
            return [*c[:-1], c[-1] if keep(seen[c[-1]], c[-1]) else ""]

        return rows(text, change)

    return blanked


NODES: list[tuple[str, Break, str]] = [
    (
        "wrong delimiter",
        lambda t: t.replace(",", ":"),
        "unknown column of nodes.csv 'topic'; Known",
    ),
    ("empty", lambda t: "", "nodes.csv is empty: expected a table with a header"),
    ("header only", lambda t: t.splitlines()[0], "nodes.csv has no rows: expected a header and a"),
    (
        "no label column",
        lambda t: t.replace("topic", "subject"),
        "unknown column of nodes.csv 'top",
    ),
    (
        "duplicated ids",
        lambda t: t + t.splitlines()[5] + "\n",
        "nodes.csv has the id 'art-00004' i",
    ),
    ("no id", with_cell(0, 3, ""), "nodes.csv has no id in row 4, column 'article'"),
    ("no labels", labels(lambda n, k: False), "no node has a label: fill the label of a few nodes"),
    ("one class", labels(lambda n, k: k == "chess"), "all labelled nodes have the class 'chess': "),
    (
        "one label in a class",
        labels(lambda n, k: k != "chess" or n == 1),
        "the class 'chess' has a single label: label a second node of it, so that one can train",
    ),
    ("infinite", with_cell(1, 7, "inf"), "column 'pages' holds infinite values (1 in all, the fir"),
    (
        "mixed types",
        with_cell(1, 7, "lots"),
        "column 'pages' is 99.1% numbers, but row 8 holds 'lo",
    ),
    (
        "mixed dates",
        with_cell(4, 2, "spring"),
        "column 'published' is 99.2% dates, but row 3 holds",
    ),
    ("a short row", lambda t: t + "art-x,1\n", "cannot read nodes.csv as a table with 7 columns"),
    (
        "not UTF-8",
        lambda t: t.replace("yes", "é").encode("latin-1"),
        "nodes.csv is no UTF-8 text: save it as CSV in UTF-8",
    ),
    (
        "gzip cut short",
        lambda t: gzip.compress(t.encode())[:-20],
        "nodes.csv is no whole gzip file",
    ),
]
EDGES: list[tuple[str, Break, str]] = [
    (
        "wrong delimiter",
        lambda t: t.replace(",", ":"),
        "edges.csv has the single column 'citing:",
    ),
    ("empty", lambda t: "", "edges.csv is empty: expected a table with a header"),
    ("header only", lambda t: t.splitlines()[0] + "\n", "edges.csv has no rows: expected a header"),
    (
        "one column",
        lambda t: "citing\nart-00001\n",
        "edges.csv has the single column 'citing', but",
    ),
    (
        "ids of nobody",
        lambda t: t.replace("art-", "x"),
        "no row of edges.csv joins two nodes of no",
    ),
    ("no id", with_cell(1, 0, ""), "edges.csv has no id in row 1, column 'cited'"),
]


@pytest.mark.parametrize(
    ("table", "broken", "message"),
    [("nodes.csv", broken, message) for _, broken, message in NODES]
    + [("edges.csv", broken, message) for _, broken, message in EDGES],
    ids=[f"nodes: {name}" for name, *_ in NODES] + [f"edges: {name}" for name, *_ in EDGES],
)
def test_a_broken_table(bagcn: Bagcn, here: Path, table: str, broken: Break, message: str) -> None:
    content = broken(Path(table).read_text())
    Path(table).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = sorted(here.iterdir())
    assert bagcn(*call()).error.startswith(message)
    assert sorted(here.iterdir()) == before


def test_a_column_that_gaps_are_told_of_is_no_mistake(bagcn: Bagcn, here: Path) -> None:
    """NaN in a table is a missing value, and ``--as`` settles mixed types."""
    text = Path("nodes.csv").read_text()
    Path("nodes.csv").write_text(rows(text, lambda i, c: [c[0], "NaN" if i else "lots", *c[2:]]))
    assert "Columns" in bagcn(*call(), "--as", "pages=number").out
    pages = load("model").encoder_.columns[0]
    assert (pages.kind, pages.missing) == ("number", 120)


PARQUET: list[tuple[str, Callable[[bytes], bytes], str]] = [
    ("a CSV", lambda content: b"id,topic\n1,a\n", "no.parquet is no readable Parquet file: "),
    ("cut short", lambda content: content[:-100], "no.parquet is no readable Parquet file: "),
    ("empty", lambda content: b"", "no.parquet is empty: expected a table with a header"),
]


@pytest.mark.parametrize(("name", "broken", "message"), PARQUET, ids=[p[0] for p in PARQUET])
def test_a_parquet_file_that_is_not_one(
    bagcn: Bagcn, here: Path, name: str, broken: Callable[[bytes], bytes], message: str
) -> None:
    Path("no.parquet").write_bytes(broken(Path("nodes.parquet").read_bytes()))
    before = sorted(here.iterdir())
    assert bagcn(*call("no.parquet")).error.startswith(message)
    assert sorted(here.iterdir()) == before


def test_infinite_numbers_in_parquet(bagcn: Bagcn, here: Path) -> None:
    nodes = pd.read_parquet("nodes.parquet")
    nodes["pages"] = np.where(np.arange(120) == 5, -np.inf, np.arange(120))
    nodes.to_parquet("inf.parquet")
    assert bagcn(*call("inf.parquet")).error.startswith(
        "column 'pages' holds infinite values (1 in"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--nodes no.csv --edges edges.csv --label topic", "there is no file no.csv"),
        ("--nodes nodes.csv --edges no.csv --label topic", "there is no file no.csv"),
        (
            "--nodes nodes.csv --label topic",
            "a graph needs a table of nodes and one of edges: --ed",
        ),
        (
            "--edges edges.csv --label topic",
            "a graph needs a table of nodes and one of edges: --no",
        ),
        (
            "--nodes nodes.csv --edges nodes.csv --label topic",
            "the nodes and the edges cannot both",
        ),
        ("--nodes nodes.csv --edges edges.csv", "which column of the nodes holds the classes? say"),
        ("ALL --label topik", "unknown column of nodes.csv 'topik'; did you mean 'topic'?"),
        ("ALL --id nid", "unknown column of nodes.csv 'nid'; "),
        ("ALL --source citting", "unknown column of edges.csv 'citting'; did you mean 'citing'?"),
        ("ALL --weight tims", "unknown column of edges.csv 'tims'; did you mean 'times'?"),
        (
            "ALL --features pages,abstrat",
            "unknown column of nodes.csv 'abstrat'; did you mean 'abs",
        ),
        ("ALL --drop page", "unknown column of nodes.csv 'page'; did you mean 'pages'?"),
        ("ALL --as pages", "expected --as COLUMN=KIND, like --as year=category, got 'pages'"),
        ("ALL --as pages=numbr", "unknown kind of column 'numbr'; did you mean 'number'?"),
        ("ALL --as page=number", "unknown feature column 'page'; did you mean 'pages'?"),
        (
            "ALL --split-column place",
            "nodes.csv, column 'place': expected train, val, test or noth",
        ),
        ("ALL --tune ten", "cannot read the budget 'ten': expected a number of trials, like 30"),
        ("ALL --separator ;;", "the separator must be one character, like ';' or a tab"),
        ("ALL --separator ;", "nodes.csv has the single column 'article,pages,"),
        ("ALL --format parquet", "nodes.csv is no readable Parquet file: "),
        ("ALL --model bagcn-ad", "unknown model 'bagcn-ad'; did you mean 'bagcn-add'?"),
        ("ALL --set epoch=3", "unknown setting 'epoch'; did you mean 'epochs'?"),
        ("ALL --set epochs=abc", "epochs must be a whole number; got abc"),
        ("ALL --set hidden_channels=2.5", "hidden_channels must be a whole number; got 2.5"),
        ("ALL --set temperature=warm", "temperature must be a number; got warm"),
        ("ALL --seeds 5", "one model is trained on tables of your own, not 5: name one seed"),
        ("ALL --out nodes.csv", "nodes.csv is there and is no saved model: choose another place"),
        ("ALL --out nodes.csv/model", "cannot write into "),
    ],
)
def test_what_cannot_be_meant(bagcn: Bagcn, here: Path, arguments: str, message: str) -> None:
    before = {file: file.read_bytes() for file in here.iterdir()}
    every = "--nodes nodes.csv --edges edges.csv" + (
        "" if "ALL --label" in arguments else " --label topic"
    )
    assert bagcn("train", *arguments.replace("ALL", every).split()).error.startswith(message)
    assert {file: file.read_bytes() for file in here.iterdir()} == before


def test_ids_that_cannot_be_saved_are_refused_before_training(bagcn: Bagcn, here: Path) -> None:
    nodes = pd.read_parquet("nodes.parquet")
    days = pd.date_range("2020-01-01", periods=120)
    new = dict(zip(nodes["article"], days, strict=True))
    edges = pd.read_parquet("edges.parquet")
    edges = edges.assign(citing=edges["citing"].map(new), cited=edges["cited"].map(new))
    nodes.assign(article=days).to_parquet("n.parquet")
    edges.to_parquet("e.parquet")
    assert bagcn(*call("n.parquet", "e.parquet")).error.startswith("cannot save the id Timestamp(")
    assert not Path("model").exists()


def test_no_room_on_the_disk(bagcn: Bagcn, here: Path, small_files: None) -> None:
    before = sorted(here.iterdir())
    answer = bagcn(*call(), "-q")
    assert answer.error == (
        "there is no room on the disk for model: nothing of it was written; make room or choose "
        "another place"
    )
    assert sorted(here.iterdir()) == before


def test_a_run_that_fails_leaves_the_old_model(bagcn: Bagcn, here: Path) -> None:
    bagcn(*call(), "-q")
    before = {file: file.read_bytes() for file in Path("model").iterdir()}
    error = bagcn(*call(), "-q", "--set", "lr=1e38", "--model", "gcn").error
    assert "the loss became NaN or infinite in epoch" in error
    assert {file: file.read_bytes() for file in Path("model").iterdir()} == before


def test_the_metrics_hold_the_data_summary(bagcn: Bagcn, here: Path) -> None:
    bagcn(*call(), "-q")
    data: dict[str, Any] = json.loads(Path("model/metrics.json").read_text())["data"]
    assert (data["nodes"], data["self_loops_dropped"], data["duplicates_merged"]) == (120, 1, 1)
