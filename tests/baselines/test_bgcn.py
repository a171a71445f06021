# N nodes, F features, C classes, E edges.
from __future__ import annotations

from itertools import combinations

import pytest
import torch
from torch import Tensor

from bagcn.baselines.bgcn import BGCN, Hop, bilinear
from battery import check_all
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features, recorded

LOOP = torch.cat([EDGES, torch.tensor([[4], [4]])], 1)


def fixed_model(**arguments: object) -> BGCN:
    model = BGCN(FEATURES, CLASSES, alpha=0.4, beta=0.6, **arguments)
    fix_parameters(model)
    return model.eval()


def around(node: int, hops: int) -> list[int]:
    """Return the nodes at this distance, found by walking."""
    seen, front = {node}, {node}
    for _ in range(hops):
        pairs = EDGES.T.tolist()
        front = {target for source, target in pairs if source in front} - seen
        seen |= front
    return sorted(front)


def mean_over_pairs(z: Tensor, hops: int, pairs: str) -> Tensor:
    """Add up every single pair."""
    out = torch.zeros_like(z)
    for node in range(NODES):
        circle = around(node, hops)
        if pairs == "target":
            chosen = [(node, other) for other in circle]
        else:
            chosen = list(combinations([node, *circle], 2))
        for i, j in chosen:
            out[node] += z[i] * z[j] / len(chosen)
    return out


@pytest.mark.parametrize("num_hops", [1, 2])
@pytest.mark.parametrize("pairs", ["all", "target"])
def test_battery(pairs: str, num_hops: int) -> None:
    check_all(lambda f, c: BGCN(f, c, pairs=pairs, num_hops=num_hops))


@pytest.mark.parametrize(
    ("case", "arguments"),
    [
        ("two hops all", {"pairs": "all"}),
        ("two hops target", {"pairs": "target"}),
        ("one hop all", {"pairs": "all", "num_hops": 1}),
    ],
)
def test_outputs_of_the_authors_code(case: str, arguments: dict[str, object]) -> None:
    found = fixed_model(**arguments)(fixed_features(), EDGES)
    torch.testing.assert_close(found, recorded("bgcn", case), atol=1e-5, rtol=0)


@pytest.mark.parametrize("edges", [EDGES, LOOP], ids=["no loop", "loop"])
@pytest.mark.parametrize("pairs", ["all", "target"])
def test_every_single_pair(pairs: str, edges: Tensor) -> None:
    """A self-loop counts in Â, but makes no node its own neighbour."""
    model, x = fixed_model(pairs=pairs).double(), fixed_features().double()
    z = x @ model.linear.weight
    adjacency = dense_adjacency(edges, torch.ones(edges.shape[1]), NODES)
    products = 0.4 * mean_over_pairs(z, 1, pairs) + 0.6 * mean_over_pairs(z, 2, pairs)
    expected = 0.6 * (adjacency @ adjacency @ z) + 0.4 * products
    torch.testing.assert_close(model(x, edges), expected, atol=1e-10, rtol=0)


def test_weighted_pairs() -> None:
    """A pair weighs the product of its edges' weights; the node itself weighs one."""
    weight = some_weights(EDGES)
    model = fixed_model(num_hops=1).double()
    hop: Hop = model.prepare(fixed_features().double(), EDGES, weight)[1].hops[0]
    z = fixed_features().double()
    by_edge = {(s, t): w for (s, t), w in zip(EDGES.T.tolist(), weight.tolist(), strict=True)}
    node, circle = 2, around(2, 1)
    share = {node: 1.0} | {other: by_edge[other, node] for other in circle}
    top, below = torch.zeros(FEATURES, dtype=torch.float64), 0.0
    for i, j in combinations([node, *circle], 2):
        top, below = top + share[i] * share[j] * z[i] * z[j], below + share[i] * share[j]
    torch.testing.assert_close(bilinear(z, hop, "all")[node], top / below)
    with_node = sum(share[j] * z[node] * z[j] for j in circle) / sum(share[j] for j in circle)
    torch.testing.assert_close(bilinear(z, hop, "target")[node], with_node)


@pytest.mark.parametrize("pairs", ["all", "target"])
def test_gradient_of_edge_weights(pairs: str) -> None:
    model = fixed_model(pairs=pairs).double()
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="pairs must be one of all, target; got 'none'"):
        BGCN(5, 3, pairs="none")
    with pytest.raises(ValueError, match="num_hops must be 1 or 2, got 3"):
        BGCN(5, 3, num_hops=3)
