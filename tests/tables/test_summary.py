"""What a graph is said to hold before training: counted by hand on a small one."""

from __future__ import annotations

import pandas as pd
import pytest

from bagcn import NodeClassifier
from bagcn.tables import Layout, from_frames
from bagcn.tables.summary import columns_used, describe, remarks

KINDS = ["big"] * 20 + ["small"] * 2 + [""] * 3
NODES = pd.DataFrame({"id": range(25), "size": range(25), "note": ["same"] * 25, "kind": KINDS})
# a path from 0 to 22, two of its edges turned as well, one repeated, two loops, an unknown end
SOURCE = [*range(22), 1, 2, 5, 3, 3, 99]
TARGET = [*range(1, 23), 0, 1, 6, 3, 3, 0]
EDGES = pd.DataFrame({"a": SOURCE, "b": TARGET, "w": 1})


def prepared(directed: bool = False) -> NodeClassifier:
    layout = Layout(label="kind", directed=directed)
    return NodeClassifier()._prepare(from_frames(NODES, EDGES, layout))


def test_the_counts() -> None:
    found = describe(prepared())
    columns, classes = found.pop("columns"), found.pop("classes")
    assert found == {
        "nodes": 25,
        "components": 3,
        "isolated_nodes": 2,
        "edge_rows": 28,
        "edges": 22,
        "directed": False,
        "self_loops_dropped": 2,
        "duplicates_merged": 1,
        "rows_with_unknown_ids_dropped": 1,
        "first_unknown_id": "99",
        "rows_written_both_ways": 4,
        "labelled_nodes": 22,
        "features": 1,
    }
    assert columns == [
        {
            **{"column": "size", "kind": "number", "why": "stored as numbers"},
            **{"missing": 0, "features": 1},
        },
        {
            **{"column": "note", "kind": "left out", "why": "all cells equal"},
            **{"missing": 0, "features": 0},
        },
    ]
    assert classes == [
        {"class": "big", "labelled": 20, "train": 12, "val": 4, "test": 4},
        {"class": "small", "labelled": 2, "train": 1, "val": 1, "test": 0},
    ]


COMMON = [
    "Edges from a node to itself, left out: 2.",
    "Edges that repeat an earlier row, merged with it: 1.",
    "Nodes without an edge, for which no neighbour speaks: 2.",
    "Edges that name an id that no node has, left out: 1; the first such id is '99'.",
]
BALANCE = (
    "The classes are far from balanced: 20 labels of 'big', 2 of 'small'; look at macro-F1, not at "
    "accuracy alone."
)


@pytest.mark.parametrize(
    ("directed", "direction"),
    [
        (
            False,
            "Edges written in both directions: 4 of 24; all are used in both (--directed keeps the "
            "direction).",
        ),
        (True, "Edges carry messages from source to target only (--directed)."),
    ],
)
def test_the_remarks(directed: bool, direction: str) -> None:
    data = describe(prepared(directed))
    assert data["edges"] == (24 if directed else 22)
    assert remarks(data) == [*COMMON, direction, BALANCE]


def test_nothing_to_remark() -> None:
    nodes = NODES.assign(kind=["a", "b"] * 12 + [""])
    edges = pd.DataFrame({"a": [*range(24), *range(1, 25)], "b": [*range(1, 25), *range(24)]})
    owned = from_frames(nodes, edges, Layout(label="kind"))
    assert remarks(describe(NodeClassifier()._prepare(owned))) == []


def test_a_class_that_reads_like_no_class() -> None:
    nodes = NODES.assign(kind=["a", "b", "Unknown"] * 8 + [""])
    owned = from_frames(nodes, EDGES, Layout(label="kind"))
    assert remarks(describe(NodeClassifier()._prepare(owned)))[-1] == (
        "The class 'Unknown' is learnt like any other; if it means that the class is not known, "
        "empty these cells."
    )


def test_which_columns_are_used() -> None:
    layout = from_frames(NODES, EDGES, Layout()).layout
    assert columns_used(layout, list(EDGES.columns)) == (
        "Ids are in the column 'id', edges join 'a' and 'b'; not used: 'w'."
    )
    weighted = from_frames(NODES, EDGES, Layout(weight="w")).layout
    assert columns_used(weighted, list(EDGES.columns)) == (
        "Ids are in the column 'id', edges join 'a' and 'b', weighted by 'w'."
    )
