"""Features from edges against NetworkX and dense formulas."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from bagcn.tables import structure
from bagcn.tables.graph import Graph
from bagcn.tables.structure import StructureEncoder


@pytest.fixture(scope="module")
def friends() -> nx.Graph:
    """Forty nodes with triangles, hubs, several components, and one node alone."""
    graph = nx.barabasi_albert_graph(25, 3, seed=1)
    graph.update(nx.relabel_nodes(nx.watts_strogatz_graph(14, 4, 0.3, seed=2), lambda i: i + 25))
    graph.add_node(39)
    return graph


@pytest.fixture(scope="module")
def adjacency(friends: nx.Graph) -> sp.csr_matrix:
    return sp.csr_matrix(nx.to_scipy_sparse_array(friends, nodelist=range(40), dtype=np.float64))


def owned(adjacency: sp.csr_matrix, ids: np.ndarray | None = None) -> Graph:
    edges = torch.from_numpy(np.stack(adjacency.nonzero()).astype(np.int64))
    size = adjacency.shape[0]
    return Graph(np.arange(size) if ids is None else ids, np.full(size, None), edges)


def test_triangles(friends: nx.Graph, adjacency: sp.csr_matrix) -> None:
    assert structure.triangles(adjacency).tolist() == [nx.triangles(friends, i) for i in range(40)]


def test_core_numbers(friends: nx.Graph, adjacency: sp.csr_matrix) -> None:
    expected = nx.core_number(friends)
    assert structure.core_numbers(adjacency).tolist() == [expected[i] for i in range(40)]


def test_pagerank(friends: nx.Graph, adjacency: sp.csr_matrix) -> None:
    expected = nx.pagerank(friends, tol=1e-12)
    assert np.allclose(structure.pagerank(adjacency), [expected[i] for i in range(40)], atol=1e-9)


def test_structural_features(friends: nx.Graph, adjacency: sp.csr_matrix) -> None:
    found = structure.structural(adjacency)
    degree = np.array([friends.degree(i) for i in range(40)])
    assert np.allclose(found[:, 0], np.log1p(degree))
    around = nx.average_neighbor_degree(friends)
    assert np.allclose(found[:, 1], np.log1p([around[i] for i in range(40)]))
    assert np.allclose(found[:, 2], [nx.clustering(friends, i) for i in range(40)])


def test_direction_weights_and_loops_do_not_matter(adjacency: sp.csr_matrix) -> None:
    both = owned(adjacency)
    forward = both.edge_index[:, both.edge_index[0] < both.edge_index[1]]
    loops = torch.tensor([[3, 39], [3, 39]])
    one_way = Graph(both.ids, both.labels, torch.cat([forward, forward, loops], 1))
    for kind in structure.STRUCTURES:
        encoder = StructureEncoder.fit(both, kind)
        assert torch.equal(encoder.transform(both), encoder.transform(one_way))


def test_marks_depend_on_the_id_alone() -> None:
    ids = np.array(["a", 7, "7"], dtype=object)
    found = structure.marks(ids)
    assert np.allclose(found[0, :3] * 73.9 + 127.5, [137, 40, 170])  # recorded
    assert np.array_equal(structure.marks(ids[::-1]), found[::-1])
    assert np.array_equal(found[1], found[2])  # CSV has texts where Parquet has numbers
    many = structure.marks(np.arange(2000))
    assert abs(many.mean()) < 0.01
    assert abs(many.std() - 1) < 0.01


def test_walks(adjacency: sp.csr_matrix) -> None:
    start = structure.marks(np.arange(40))
    dense = adjacency.toarray()
    step = dense / np.maximum(dense.sum(1, keepdims=True), 1)
    parts = [np.linalg.matrix_power(step, k) @ start for k in range(1, 5)]
    length = [np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-30) for part in parts]
    expected = np.hstack([part / size for part, size in zip(parts, length, strict=True)])
    assert np.allclose(structure.walks(adjacency, start), expected)


def test_a_graph_that_has_grown_keeps_its_places(adjacency: sp.csr_matrix) -> None:
    graph = owned(adjacency)
    encoder = StructureEncoder.fit(graph, "random-walk")
    order = np.random.default_rng(0).permutation(40)
    turned = owned(adjacency[order][:, order], order)
    assert torch.allclose(encoder.transform(turned), encoder.transform(graph)[order], atol=1e-5)


@pytest.mark.parametrize(("kind", "width"), [("structural", 5), ("random-walk", 128)])
def test_features_are_standardised_and_named(
    adjacency: sp.csr_matrix, kind: str, width: int
) -> None:
    encoder = StructureEncoder.fit(owned(adjacency), kind)
    x = encoder.transform(owned(adjacency))
    assert x.shape == (40, width)
    assert len(encoder.names) == len(set(encoder.names)) == width
    assert torch.allclose(x.mean(0), torch.zeros(width), atol=1e-5)
    assert torch.allclose(x.std(0, correction=0), torch.ones(width), atol=1e-4)
    saved, arrays = encoder.saved()
    assert torch.equal(StructureEncoder.restored(saved, arrays).transform(owned(adjacency)), x)


def test_no_edges_at_all() -> None:
    empty = Graph(np.arange(3), np.full(3, None), torch.empty(2, 0, dtype=torch.int64))
    for kind in structure.STRUCTURES:
        assert torch.isfinite(StructureEncoder.fit(empty, kind).transform(empty)).all()


def test_an_unknown_kind(adjacency: sp.csr_matrix) -> None:
    message = r"unknown kind of features 'struct'; did you mean 'structural'\?"
    with pytest.raises(ValueError, match=message):
        StructureEncoder.fit(owned(adjacency), "struct")
