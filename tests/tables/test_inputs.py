"""One graph in every form that people have it in is one graph."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

from bagcn.tables import Layout, as_graph
from bagcn.tables.graph import Graph

NODES = pd.DataFrame({"id": [*"abcd"], "size": [1.0, 2, 3, 4], "kind": ["x", "y", None, "x"]})
EDGES = pd.DataFrame({"source": [*"abc"], "target": [*"bcd"], "weight": [1.0, 2, 3]})
WEIGHTED = Layout(weight="weight")
BOTH_WAYS = [[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]]
LABELS = ["x", "y", None, "x"]


def friends() -> nx.Graph:
    graph = nx.Graph()
    for row in NODES.itertuples():
        graph.add_node(row.id, size=row.size, kind=row.kind)
    graph.add_weighted_edges_from(EDGES.itertuples(index=False))
    return graph


def matrix() -> sp.csr_array:
    return sp.csr_array((EDGES["weight"], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))


def data(**others: Any) -> Data:
    weight = torch.tensor([1.0, 1, 2, 2, 3, 3])
    x, y = torch.tensor([[1.0], [2], [3], [4]]), torch.tensor([0, 1, -1, 0])
    return Data(
        **{"x": x, "y": y, "edge_index": torch.tensor(BOTH_WAYS), "edge_weight": weight, **others}
    )


def forms() -> list[tuple[str, Graph]]:
    names, values = NODES.drop(columns="id").set_index(NODES["id"]), NODES[["size"]].to_numpy()
    return [
        ("frames", as_graph(NODES, "kind", edges=EDGES, layout=WEIGHTED)),
        ("frames, array", as_graph(NODES[["id", "size"]], LABELS, edges=EDGES, layout=WEIGHTED)),
        ("networkx", as_graph(friends(), "kind")),
        ("networkx, array", as_graph(friends(), np.array(LABELS, dtype=object))),
        ("scipy, frame", as_graph(matrix(), LABELS, features=names[["size"]])),
        ("scipy, array", as_graph(matrix(), LABELS, features=values)),
        ("scipy, sparse", as_graph(matrix(), LABELS, features=sp.csr_array(values))),
        ("scipy matrix", as_graph(sp.coo_matrix(matrix()), LABELS, features=values)),
        ("data", as_graph(data(), LABELS)),
    ]


@pytest.mark.parametrize("form", range(9))
def test_every_form(form: int) -> None:
    name, graph = forms()[form]
    assert graph.edge_index.tolist() == BOTH_WAYS
    assert graph.edge_weight is not None
    assert graph.edge_weight.tolist() == [1, 1, 2, 2, 3, 3]
    assert graph.labels.tolist() == LABELS
    named = name in ("frames", "frames, array", "networkx", "networkx, array", "scipy, frame")
    assert graph.ids.tolist() == ([*"abcd"] if named else [0, 1, 2, 3])
    if graph.x is not None:
        assert graph.x.to_dense().tolist() == [[1], [2], [3], [4]]
    else:
        assert graph.table is not None
        assert graph.table["size"].tolist() == [1, 2, 3, 4]
        assert ("kind" in graph.table) == (name == "networkx, array")


def test_a_graph_stays_what_it_is() -> None:
    graph = as_graph(data())
    assert as_graph(graph) is graph
    assert graph.labels.tolist() == [0, 1, None, 0]


def test_the_edges_of_data_are_taken_as_they_are() -> None:
    edges = torch.tensor([[0, 0, 2], [1, 1, 2]])
    graph = as_graph(data(edge_index=edges, edge_weight=None))
    assert graph.edge_index.tolist() == edges.tolist()
    assert (graph.counts.rows, graph.counts.isolated, graph.counts.self_loops) == (3, 2, 0)
    assert graph.edge_weight is None


def test_classes_in_a_column_of_data() -> None:
    assert as_graph(data(y=torch.tensor([[0], [1], [-1], [0]]))).labels.tolist() == [0, 1, None, 0]
    with pytest.raises(ValueError, match="expected one class for each node, got several"):
        as_graph(data(y=torch.zeros(4, 3)))


def test_masks_are_the_split_of_the_labelled() -> None:
    masks = [torch.tensor(m) for m in ([1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1])]
    names = ("train_mask", "val_mask", "test_mask")
    split = as_graph(data(**{n: m.bool() for n, m in zip(names, masks, strict=True)})).split
    assert split is not None
    assert [part.tolist() for part in (split.train, split.val, split.test)] == [[0], [1], [3]]
    assert as_graph(data(train_mask=masks[0].bool())).split is None


def test_networkx_keeps_ids_of_any_type_and_gaps_in_the_columns() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node(("a", 1), size=3)
    graph.add_node(7, kind="x")
    graph.add_edges_from([(("a", 1), 7), (("a", 1), 7), (7, "7")])
    found = as_graph(graph, [1, 2, None])
    assert found.ids.tolist() == [("a", 1), 7, "7"]
    assert found.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert found.counts.duplicates == 1
    assert found.table is not None
    assert found.table["kind"].isna().tolist() == [True, False, True]
    directed = as_graph(graph, [1, 2, None], layout=Layout(directed=True))
    assert directed.edge_index.tolist() == [[0, 1], [1, 2]]


def test_networkx_without_edges() -> None:
    graph = nx.Graph()
    graph.add_nodes_from("ab", size=1)
    assert as_graph(graph, ["x", "y"]).edge_index.shape == (2, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((NODES,), {"edges": EDGES}), "which column holds the classes? give its name as y"),
        (((NODES, "kind"), {}), "a frame of nodes needs a frame of edges: give it as edges="),
        (((NODES, LABELS[:2]), {"edges": EDGES}), "expected a class for each of 4 nodes, got 2"),
        (((sp.csr_array((2, 3)), LABELS), {}), "expected a square adjacency matrix, got the shape"),
        (((NODES, "kind"), {"edges": [[0, 1]]}), "expected edges as a pandas frame, got list"),
        (((-matrix(), LABELS), {}), "a weight must not be negative or NaN, but one is -"),
        (
            (data(edge_index=torch.tensor([[0, 1], [1, 4]])),),
            "edge_index must hold numbers from 0 to 3, as there are 4 nodes, but holds 0 to 4",
        ),
        (([1, 2],), "expected a PyTorch Geometric Data, a NetworkX graph, a SciPy sparse matrix"),
    ],
)
def test_what_is_no_graph(arguments: Any, message: str) -> None:
    positional, named = arguments if len(arguments) == 2 else (arguments, {})
    with pytest.raises(ValueError, match=r"^[^\n]*$") as refusal:
        as_graph(*positional, **named)
    assert str(refusal.value).startswith(message)
