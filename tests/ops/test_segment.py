# N nodes, E edges, H heads, D columns, M members.
from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from bagcn.ops import normalized_adjacency
from bagcn.ops.segment import Edges

# node 4 receives nothing, node 2 sends to itself
PAIRS = torch.tensor([[0, 3, 1, 2, 2, 3, 0, 2, 4, 1], [1, 0, 2, 1, 3, 2, 2, 0, 0, 5]])
PAIRS = torch.cat([PAIRS, torch.tensor([[2], [2]])], dim=1)
N, H, D = 6, 3, 2


@pytest.fixture
def edges() -> Edges:
    weight = torch.arange(1, PAIRS.shape[1] + 1, dtype=torch.float64)
    return Edges(normalized_adjacency(PAIRS, weight, N, norm="none", self_loops=False))


def ends(edges: Edges) -> list[tuple[int, int]]:
    """(target, source) of every edge, from the stored pattern."""
    return list(zip(edges.pattern.row.tolist(), edges.pattern.col.tolist(), strict=True))


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def by_target(edges: Edges, node: int) -> list[int]:
    return [e for e, (target, _) in enumerate(ends(edges)) if target == node]


def test_edges_and_weights_keep_their_ends(edges: Edges) -> None:
    found = {(s, t): w for (t, s), w in zip(ends(edges), edges.weight.tolist(), strict=True)}
    given = zip(*PAIRS.tolist(), strict=True)
    assert found == {pair: float(i) for i, pair in enumerate(given, 1)}


def test_lookups(edges: Edges) -> None:
    x = random(N, H, D)
    torch.testing.assert_close(edges.sources(x), torch.stack([x[s] for _, s in ends(edges)]))
    torch.testing.assert_close(edges.targets(x), torch.stack([x[t] for t, _ in ends(edges)]))
    torch.testing.assert_close(edges.sources(x[:, 0, 0]), edges.sources(x)[:, 0, 0])


def test_reductions(edges: Edges) -> None:
    messages = random(len(ends(edges)), H)
    for node in range(N):
        arriving = messages[by_target(edges, node)]
        torch.testing.assert_close(edges.sum(messages)[node], arriving.sum(0))
        largest = arriving.amax(0) if len(arriving) else torch.zeros(H, dtype=torch.float64)
        torch.testing.assert_close(edges.max(messages)[node], largest)
    torch.testing.assert_close(edges.sum(messages[:, 0]), edges.sum(messages)[:, 0])
    torch.testing.assert_close(edges.max(messages[:, 0]), edges.max(messages)[:, 0])


def test_mean_is_weighted(edges: Edges) -> None:
    x = random(N, D)
    for node in range(N):
        chosen = by_target(edges, node)
        weights, senders = edges.weight[chosen], x[[ends(edges)[e][1] for e in chosen]]
        mean = (weights[:, None] * senders).sum(0) / weights.sum() if chosen else x[0] * 0
        torch.testing.assert_close(edges.mean(x)[node], mean)


@pytest.mark.parametrize("weighted", [False, True])
def test_softmax(edges: Edges, weighted: bool) -> None:
    scores = random(len(ends(edges)), H) + 500  # exp(500) would overflow in float32
    weight = edges.weight if weighted else torch.ones_like(edges.weight)
    found = edges.softmax(scores, edges.weight if weighted else None)
    for node in range(N):
        chosen = by_target(edges, node)
        shifted = scores[chosen] + weight[chosen].log()[:, None]
        torch.testing.assert_close(found[chosen], shifted.softmax(0))


def test_weight_zero_is_no_edge(edges: Edges) -> None:
    scores, weight = random(len(ends(edges)), H), torch.ones_like(edges.weight)
    weight[by_target(edges, 2)[0]] = 0
    found = edges.softmax(scores, weight)[by_target(edges, 2)]
    torch.testing.assert_close(found[0], torch.zeros_like(found[0]))
    torch.testing.assert_close(found[1:], scores[by_target(edges, 2)[1:]].softmax(0))


def test_weighted_sum_of_every_head(edges: Edges) -> None:
    coefficients, x = random(len(ends(edges)), H), random(N, H, D, seed=1)
    expected = edges.sum(coefficients[..., None] * edges.sources(x))
    torch.testing.assert_close(edges.weighted_sum(coefficients, x), expected)


OPERATIONS: dict[str, tuple[Callable[..., Tensor], tuple[tuple[int, ...], ...]]] = {
    "sources": (Edges.sources, ((N, H, D),)),
    "targets": (Edges.targets, ((N, H),)),
    "sum": (Edges.sum, ((PAIRS.shape[1], H, D),)),
    "mean": (Edges.mean, ((N, D),)),
    "max": (Edges.max, ((PAIRS.shape[1], H),)),
    "softmax": (Edges.softmax, ((PAIRS.shape[1], H), (PAIRS.shape[1],))),
    "weighted_sum": (Edges.weighted_sum, ((PAIRS.shape[1], H), (N, H, D))),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients(edges: Edges, name: str) -> None:
    operation, shapes = OPERATIONS[name]
    inputs = [random(*shape).abs().requires_grad_() for shape in shapes]
    assert torch.autograd.gradcheck(lambda *args: operation(edges, *args), inputs)


@pytest.mark.parametrize("name", OPERATIONS)
def test_members_are_computed_as_if_alone(edges: Edges, name: str) -> None:
    operation, shapes = OPERATIONS[name]
    members = [random(3, *shape, seed=i).abs().requires_grad_() for i, shape in enumerate(shapes)]
    together = torch.vmap(lambda *args: operation(edges, *args))(*members)
    alone = torch.stack([operation(edges, *(m[i] for m in members)) for i in range(3)])
    torch.testing.assert_close(together, alone)
    weights = random(*alone.shape, seed=9)
    found = torch.autograd.grad((together * weights).sum(), members)
    expected = torch.autograd.grad((alone * weights).sum(), members)
    torch.testing.assert_close(found, expected)


def test_ties_share_the_gradient(edges: Edges) -> None:
    messages = torch.ones(len(ends(edges)), dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(edges.max(messages).sum(), messages)
    for node in range(N):
        chosen = by_target(edges, node)
        expected = torch.full((len(chosen),), 1 / max(1, len(chosen)), dtype=torch.float64)
        torch.testing.assert_close(grad[chosen], expected)


def test_no_edges_at_all() -> None:
    empty = normalized_adjacency(PAIRS[:, :0], None, N, norm="none", self_loops=False)
    edges = Edges(empty)
    assert not edges.sum(torch.ones(0, 2)).any()
    assert not edges.max(torch.ones(0, 2)).any()
    assert not edges.mean(torch.ones(N, 2)).any()
    assert edges.softmax(torch.ones(0, 2)).shape == (0, 2)
    assert not edges.weighted_sum(torch.ones(0, 2), torch.ones(N, 2, 3)).any()
