"""Two frames as one graph: ids kept exactly, and one clear line for what does not fit."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bagcn.tables import Layout, from_frames
from bagcn.tables.graph import Graph

Frame = pd.DataFrame


def nodes(ids: Any = ("a", "b", "c", "d"), **columns: Any) -> Frame:
    return Frame({"id": pd.Series(ids), **{n: pd.Series(c) for n, c in columns.items()}})


def edges(source: Any = ("a", "b", "c"), target: Any = ("b", "c", "d"), **columns: Any) -> Frame:
    return Frame({"source": pd.Series(source), "target": pd.Series(target), **columns})


def pairs(graph: Graph) -> set[tuple[Any, Any]]:
    source, target = graph.ids[graph.edge_index].tolist()
    return set(zip(source, target, strict=True))


BIG = [2**53 + 1, 2**53, 2**62 + 3, -5]
UUIDS = [UUID(int=i) for i in (1, 2**64, 2**127, 7)]


@pytest.mark.parametrize(
    "ids",
    [
        pd.Series(["007", "7", "é", " x"], dtype=object),
        pd.Series(["a", "b", "c", "d"], dtype="category"),
        pd.Series(BIG),
        pd.Series(BIG, dtype="Int64"),
        pd.Series(BIG, dtype=object),
        pd.Series(BIG, dtype=pd.ArrowDtype(pa.int64())),
        pd.Series([2**63 + i for i in range(4)], dtype="uint64"),
        pd.Series([2**70 + i for i in range(4)], dtype=object),
        pd.Series(UUIDS, dtype=object),
        pd.Series([("a", i) for i in range(4)], dtype=object),
        pd.Series([1, "1", ("1",), UUID(int=1)], dtype=object),
    ],
    ids=lambda ids: f"{ids.dtype}: {ids[0]!r}",
)
def test_ids_are_kept_exactly(ids: pd.Series[Any]) -> None:
    graph = from_frames(nodes(ids), edges(ids[:3], ids[1:].reset_index(drop=True)), Layout())
    assert graph.ids.tolist() == ids.tolist()
    assert [type(i) for i in graph.ids.tolist()] == [type(i) for i in ids.tolist()]
    forward = list(itertools.pairwise(ids))
    assert pairs(graph) == {*forward, *((b, a) for a, b in forward)}


def test_numbers_in_one_table_and_texts_in_the_other() -> None:
    graph = from_frames(nodes(BIG), edges([str(i) for i in BIG[:3]], map(str, BIG[1:])), Layout())
    assert graph.edge_index.shape == (2, 6)
    assert graph.ids.tolist() == BIG


def test_whole_numbers_that_became_decimal() -> None:
    graph = from_frames(nodes([1.0, 2.0, 3.0]), edges([1.0], [2]), Layout())
    assert graph.ids.dtype == np.int64
    assert pairs(graph) == {(1, 2), (2, 1)}


def test_columns_are_found_by_name_or_place() -> None:
    table = Frame({"name": ["a", "b"], "size": [1, 2]})
    turned = Frame({"w": [2.0], "dst": ["a"], "from": ["b"]})
    layout = from_frames(table, turned, Layout(weight="w")).layout
    assert (layout.id, layout.source, layout.target) == ("name", "from", "dst")
    plain = Frame({"x": ["a"], "y": ["b"]})
    layout = from_frames(Frame({"k": [1, 2], "id": ["a", "b"]}), plain, Layout()).layout
    assert (layout.id, layout.source, layout.target) == ("id", "x", "y")


def test_columns_without_names() -> None:
    table = pd.DataFrame([["a", 1.5], ["b", 2.5]])
    graph = from_frames(table, pd.DataFrame([["a", "b"]]), Layout())
    assert (graph.layout.id, graph.layout.source, graph.layout.target) == ("0", "0", "1")
    assert graph.table is not None
    assert graph.table["1"].tolist() == [1.5, 2.5]


def test_features_are_all_other_columns_or_those_named() -> None:
    table = nodes(kind=[*"xyxy"], a=range(4), b=range(4), part=["train"] * 4)
    own = Layout(label="kind", split=None, drop=("b",))
    found = from_frames(table, edges(), own).table
    assert found is not None
    assert list(found.columns) == ["a", "part"]
    found = from_frames(table, edges(), Layout(label="kind", features=("b", "a"))).table
    assert found is not None
    assert list(found.columns) == ["b", "a"]
    without = table.drop(columns=["kind", "b"])
    found = from_frames(
        without, edges(), own, labelled=False
    ).table  # to predict, neither is needed
    assert found is not None
    assert list(found.columns) == ["a", "part"]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["x", "", None, "y"], ["x", None, None, "y"]),
        ([1.0, np.nan, 2.0, 1.0], [1, None, 2, 1]),
        ([-1, 0, 1, 0], [-1, 0, 1, 0]),
        (pd.Series([True, None, False, True], dtype="boolean"), [True, None, False, True]),
        (pd.Series([2**60 + 1, None, 1, 2], dtype="Int64"), [2**60 + 1, None, 1, 2]),
    ],
)
def test_labels(cells: Any, labels: list[Any]) -> None:
    graph = from_frames(nodes(kind=cells), edges(), Layout(label="kind"))
    assert graph.labels.tolist() == labels
    assert [type(i) for i in graph.labels.tolist()] == [type(i) for i in labels]


def test_the_split_of_a_column() -> None:
    table = nodes(
        [*"abcdef"], kind=[*"xyxyx", ""], part=["Train", "val", "TEST", "dev", "", "test"]
    )
    split = from_frames(table, edges(), Layout(label="kind", split="part")).split
    assert split is not None
    assert [part.tolist() for part in (split.train, split.val, split.test)] == [[0], [1, 3], [2]]
    assert split.name == "column part"


def test_weights_and_direction() -> None:
    table = edges([*"aab"], [*"bba"], w=["1", "2", "4"])
    graph = from_frames(nodes(), table, Layout(weight="w", directed=True))
    assert graph.edge_weight is not None
    assert (graph.edge_index.tolist(), graph.edge_weight.tolist()) == ([[0, 1], [1, 0]], [3, 4])


def test_unknown_ids_are_counted_and_the_first_is_told() -> None:
    graph = from_frames(nodes(), edges([*"azby"], [*"bacz"]), Layout())
    assert (graph.counts.rows, graph.counts.unknown) == (4, 2)
    assert graph.counts.first_unknown == "z"
    assert pairs(graph) == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")}


LABEL = Layout(label="kind")


@pytest.mark.parametrize(
    ("table", "links", "layout", "message"),
    [
        (
            nodes([*"abca"]),
            edges(),
            Layout(),
            "N has the id 'a' in the rows 1 and 4 of column 'id'",
        ),
        (nodes([*"ab", "", "d"]), edges(), Layout(), "N has no id in row 3, column 'id'"),
        (nodes([1, None]), edges([1], [1]), Layout(), "N has no id in row 2, column 'id'"),
        (nodes(), edges(["a"], [None]), Layout(), "E has no id in row 1, column 'target'"),
        (
            nodes([0.5, 1]),
            edges([1], [1]),
            Layout(),
            "N, column 'id': ids must be whole numbers or",
        ),
        (nodes([2.0**60, 1]), edges([1], [1]), Layout(), "N, column 'id': ids must be whole numb"),
        (
            nodes(),
            edges(["x"], ["y"]),
            Layout(),
            "no row of E joins two nodes of N: the first unkn",
        ),
        (nodes(), Frame({"a;b": ["a;b"]}), Layout(), "E has the single column 'a;b', but an edge"),
        (nodes(), edges(), LABEL, "unknown column of N 'kind'; did you mean 'id'? Known: id"),
        (nodes(), edges(), Layout(id="ids"), "unknown column of N 'ids'; did you mean 'id'?"),
        (
            nodes(),
            edges(),
            Layout(source="sorce"),
            "unknown column of E 'sorce'; did you mean 'sour",
        ),
        (nodes(), edges(), Layout(weight="w"), "unknown column of E 'w'; Known: source, target"),
        (nodes(), edges(), Layout(features=("x",)), "unknown column of N 'x'; Known: id"),
        (nodes(), edges(), Layout(drop=("x",)), "unknown column of N 'x'; Known: id"),
        (nodes(), edges(), Layout(split="p"), "unknown column of N 'p'; Known: id"),
        (
            nodes(kind=[1] * 4),
            edges(),
            Layout(label="kind", features=("kind",)),
            "the label column",
        ),
        (
            nodes(),
            edges(w=[1, 0, 1]),
            Layout(weight="w"),
            "E, column 'w': a weight must be a number",
        ),
        (nodes(), edges(w=[1, -2, 1]), Layout(weight="w"), "E, column 'w': a weight must be a num"),
        (nodes(), edges(w=["1", "x", ""]), Layout(weight="w"), "E, column 'w': a weight must be a"),
        (nodes(), edges(w=[1, np.inf, 1]), Layout(weight="w"), "column 'w' holds infinite values"),
        (
            nodes(kind=[*"xyxy"], p=["train", "val", "tst", ""]),
            edges(),
            Layout(label="kind", split="p"),
            "N, column 'p': expected train, val, test or nothing, but row 3 holds 'tst'",
        ),
        (
            nodes(kind=[*"xyx", ""], p=["train", "test", "train", "val"]),
            edges(),
            Layout(label="kind", split="p"),
            "N, column 'p': no labelled node has the word val",
        ),
    ],
)
def test_what_does_not_fit(table: Frame, links: Frame, layout: Layout, message: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refusal:
        from_frames(table, links, layout, names=("N", "E"))
    assert str(refusal.value).startswith(message)


def test_dates_as_ids_are_taken_as_they_are() -> None:
    days = [dt.date(2024, 1, i) for i in (1, 2, 3)]
    graph = from_frames(nodes(pd.Series(days, dtype=object)), edges(days[:2], days[1:]), Layout())
    assert graph.ids.tolist() == days
