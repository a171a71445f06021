# N nodes, E edges.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn.conv.gcn_conv import gcn_norm

from bagcn.ops import normalized_adjacency
from bagcn.ops.adjacency import Norm

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 4, 3, 0, 0], [1, 0, 2, 1, 3, 2, 4, 3, 3, 3]])
NODES = 6  # node 5 has no edges, nodes 3 and 4 have loops, 0 to 3 stands twice


def of_pyg(weight: Tensor | None, add: bool = True) -> Tensor:
    index, values = gcn_norm(
        EDGES, weight, NODES, add_self_loops=add, dtype=torch.float64, flow="source_to_target"
    )
    dense = torch.zeros(NODES, NODES, dtype=torch.float64)
    return dense.index_put((index[1], index[0]), values, accumulate=True)


def draw_weights() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(EDGES.shape[1], generator=generator, dtype=torch.float64) + 0.3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loops", [False, True])
def test_equals_pytorch_geometrics(loops: bool, weighted: bool) -> None:
    weight = draw_weights() if weighted else None
    found = normalized_adjacency(
        EDGES, weight, NODES, self_loops=loops, dtype=torch.float64
    ).to_dense()
    torch.testing.assert_close(found, of_pyg(weight, loops), atol=1e-12, rtol=0)


def test_gradient_in_the_weights_equals_pytorch_geometrics() -> None:
    ours, theirs = draw_weights().requires_grad_(), draw_weights().requires_grad_()
    probe = torch.arange(36, dtype=torch.float64).view(6, 6).sin()
    (normalized_adjacency(EDGES, ours, NODES).to_dense() * probe).sum().backward()
    (of_pyg(theirs) * probe).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, atol=1e-12, rtol=0)


def test_rows_that_sum_to_one() -> None:
    matrix = normalized_adjacency(EDGES, draw_weights(), NODES, norm="row").to_dense()
    torch.testing.assert_close(matrix.sum(dim=1), torch.ones(NODES, dtype=torch.float64))


def test_plain() -> None:
    matrix = normalized_adjacency(EDGES, None, NODES, norm="none", self_loops=False).to_dense()
    expected = torch.zeros(NODES, NODES)
    for source, target in EDGES.T.tolist():
        expected[target, source] += 1
    torch.testing.assert_close(matrix, expected, atol=0, rtol=0)


def test_no_edges() -> None:
    none = EDGES[:, :0]
    torch.testing.assert_close(normalized_adjacency(none, None, 3).to_dense(), torch.eye(3))
    bare = normalized_adjacency(none, None, 3, self_loops=False).to_dense()
    torch.testing.assert_close(bare, torch.zeros(3, 3))
    assert normalized_adjacency(none).shape == (0, 0)


def test_nodes_are_counted_where_no_number_is_given() -> None:
    assert normalized_adjacency(EDGES).shape == (5, 5)


def test_an_isolated_node_without_loops_has_an_empty_row() -> None:
    matrix = normalized_adjacency(EDGES, None, NODES, self_loops=False).to_dense()
    assert torch.equal(matrix[5], torch.zeros(NODES))
    assert bool(torch.isfinite(matrix).all())


@pytest.mark.parametrize("norm", ["symmetric", "row", "none"])
@pytest.mark.parametrize("given", [torch.int64, torch.float64])
def test_weights_of_another_type_become_the_models(norm: Norm, given: torch.dtype) -> None:
    weight = torch.arange(1, EDGES.shape[1] + 1)
    found = normalized_adjacency(EDGES, weight.to(given), NODES, norm=norm, dtype=torch.float32)
    expected = normalized_adjacency(EDGES, weight.float(), NODES, norm=norm)
    assert found.values.dtype == torch.float32
    torch.testing.assert_close(found.to_dense(), expected.to_dense())
