# N nodes, F features, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bagcn.baselines.gcn import GCN
from bagcn.ops import SparseMatrix
from bagcn.training import Task

X = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0]])
EDGES = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
Y = torch.tensor([0, 1, -1])


@pytest.mark.parametrize(
    ("x", "edges", "y", "told"),
    [
        (X[:2], EDGES, Y, "features of 2 nodes, but classes of 3"),
        (
            X,
            EDGES + 1,
            Y,
            "edges name the nodes 1 to 3, but the graph's 3 nodes are numbered 0 to 2",
        ),
        (X, EDGES - 1, Y, "edges name the nodes -1 to 1"),
        (X / 0, EDGES, Y, "the features hold NaN or infinite values"),
        (X, EDGES, torch.tensor([1, 1, -1]), "all labelled nodes have one class"),
    ],
)
def test_graphs_that_cannot_be_learnt_from(x: Tensor, edges: Tensor, y: Tensor, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Task(x, edges, y)


@pytest.mark.parametrize(
    ("weight", "told"),
    [
        (torch.ones(3), r"a weight for each of the 4 edges, got the shape \(3,\)"),
        (torch.ones(4, 1), r"a weight for each of the 4 edges, got the shape \(4, 1\)"),
        (-torch.ones(4), "a weight of an edge is negative, NaN or infinite"),
        (torch.tensor([1, 2, 3, torch.nan]), "negative, NaN or infinite"),
        (torch.tensor([1, 2, 3, torch.inf]), "negative, NaN or infinite"),
    ],
)
def test_weights_that_no_model_takes(weight: Tensor, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Task(X, EDGES, Y, weight)


def test_sizes() -> None:
    task = Task(X, EDGES, Y)
    assert (task.num_nodes, task.num_features, task.num_classes) == (3, 2, 2)
    assert task.num_entries == 6
    assert Task(X, EDGES, Y, num_classes=5).num_classes == 5
    assert Task(X, EDGES[:, :0], Y).num_nodes == 3


def test_a_model_prepares_the_graph_or_gets_it_as_it_is() -> None:
    task = Task(X, EDGES, Y, torch.tensor([1.0, 1.0, 3.0, 3.0]))
    _, adjacency = task.prepared_for(GCN(2, 4, 2), torch.device("cpu"))
    assert isinstance(adjacency, SparseMatrix)
    weighted = torch.tensor([[1.0, 1.0, 0.0], [1.0, 1.0, 3.0], [0.0, 3.0, 1.0]])  # A + I
    root = weighted.sum(1).rsqrt()
    torch.testing.assert_close(adjacency.to_dense(), root[:, None] * weighted * root)
    x, edges = task.prepared_for(torch.nn.Linear(2, 2), torch.device("cpu"))
    assert x is task.x
    assert torch.equal(edges, EDGES)
