from __future__ import annotations

import numpy as np
import pytest

from bagcn.data._graph import induced, largest_component, undirected
from bagcn.data._names import unknown


def test_undirected() -> None:
    edges = undirected(np.array([2, 0, 0, 3, 1]), np.array([0, 2, 1, 3, 0]), 4)
    assert edges.T.tolist() == [[0, 1], [0, 2], [1, 0], [2, 0]]
    assert undirected(np.array([1]), np.array([1]), 4).shape == (2, 0)


def test_large_ids_do_not_overflow() -> None:
    """Ids as small as the files have them, but N² beyond what 32 bits hold."""
    n = 100_000
    row, col = np.array([n - 1], dtype=np.int32), np.array([n - 2], dtype=np.int32)
    assert undirected(row, col, n).T.tolist() == [[n - 2, n - 1], [n - 1, n - 2]]


def test_the_first_of_two_components_of_one_size() -> None:
    edges = undirected(np.array([0, 4, 1]), np.array([3, 1, 2]), 8)
    assert largest_component(edges, 8).tolist() == [1, 2, 4]
    tied = undirected(np.array([5, 0]), np.array([2, 4]), 6)
    assert largest_component(tied, 6).tolist() == [0, 4]


def test_induced() -> None:
    edges = undirected(np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]), 5)
    assert induced(edges, np.array([1, 2, 4]), 5).T.tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("coar", "unknown data set 'coar'; did you mean 'cora'? Known: cora, PubMed"),
        ("PUBMED", "unknown data set 'PUBMED'; did you mean 'PubMed'? Known: cora, PubMed"),
        ("xyz", "unknown data set 'xyz'; Known: cora, PubMed"),
    ],
)
def test_unknown(name: str, message: str) -> None:
    assert str(unknown("data set", name, ["cora", "PubMed"])) == message
