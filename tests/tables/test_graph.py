"""Edges without self-loops and duplicates, and what was counted on the way."""

from __future__ import annotations

import numpy as np
import pytest

from bagcn.tables.graph import Counts, clean_edges

# known: 0-1 three times, one of them turned; 2-3; a loop; two rows with an unknown end
SOURCE = np.array([0, 0, 1, 2, 4, -1, 3])
TARGET = np.array([1, 1, 0, 3, 4, 2, -1])
WEIGHT = np.array([1.0, 2.0, 5.0, 0.5, 9.0, 9.0, 9.0])
COUNTS = Counts(rows=7, self_loops=1, duplicates=1, unknown=2, both_ways=2, isolated=1)


def test_undirected() -> None:
    edges, weight, counts = clean_edges(SOURCE, TARGET, WEIGHT, 5, directed=False)
    assert edges.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
    assert weight is not None
    assert weight.tolist() == [5, 5, 0.5, 0.5]  # the larger of 1 + 2 and 5
    assert counts == COUNTS


def test_directed() -> None:
    edges, weight, counts = clean_edges(SOURCE, TARGET, WEIGHT, 5, directed=True)
    assert edges.tolist() == [[0, 1, 2], [1, 0, 3]]
    assert weight is not None
    assert weight.tolist() == [3, 5, 0.5]
    assert counts == COUNTS


@pytest.mark.parametrize("directed", [False, True])
def test_without_weights_or_edges(directed: bool) -> None:
    edges, weight, _ = clean_edges(SOURCE, TARGET, None, 5, directed)
    assert weight is None
    assert edges.shape[1] == (3 if directed else 4)
    none = np.array([], dtype=np.int64)
    edges, weight, counts = clean_edges(none, none, None, 5, directed)
    assert edges.shape == (2, 0)
    assert counts == Counts(isolated=5)


def test_against_a_dense_matrix() -> None:
    generator = np.random.default_rng(3)
    source, target = generator.integers(12, size=(2, 100))
    weight = generator.integers(1, 5, size=100).astype(float)
    dense = np.zeros((12, 12))
    np.add.at(dense, (source, target), weight)
    np.fill_diagonal(dense, 0)
    for directed, expected in ((True, dense), (False, np.maximum(dense, dense.T))):
        edges, weights, _ = clean_edges(source, target, weight, 12, directed)
        assert weights is not None
        found = np.zeros((12, 12))
        found[*edges.numpy()] = weights
        assert np.array_equal(found, expected)
