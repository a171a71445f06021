# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.nn import GCNConv

from bagcn.baselines.sdrf import GCNSDRF, Rewiring, balanced_forman, rewire

N = 14


def random_pairs(seed: int, share: float) -> set[tuple[int, int]]:
    random = np.random.Generator(np.random.PCG64(seed))
    return {pair for pair in combinations(range(N), 2) if random.random() < share}


def matrix_of(pairs: set[tuple[int, int]]) -> np.ndarray:
    adjacency = np.zeros((N, N), dtype=int)
    for i, j in pairs:
        adjacency[i, j] = adjacency[j, i] = 1
    return adjacency


def searched_curvature(a: np.ndarray, i: int, j: int) -> float:
    """The definition, by looking at every node and every pair of nodes."""
    d_i, d_j = a[i].sum(), a[j].sum()
    if min(d_i, d_j) == 1:
        return 0.0
    triangles = sum(a[i, k] and a[j, k] for k in range(N))
    cycles_of: dict[int, int] = {}
    for k in range(N):
        for w in range(N):
            around = len({i, j, k, w}) == 4 and a[i, k] and a[k, w] and a[w, j]
            if around and not a[i, w] and not a[j, k]:
                cycles_of[k] = cycles_of.get(k, 0) + 1
                cycles_of[w] = cycles_of.get(w, 0) + 1
    value = 2 / d_i + 2 / d_j - 2 + 2 * triangles / max(d_i, d_j) + triangles / min(d_i, d_j)
    if cycles_of:
        value += len(cycles_of) / (max(cycles_of.values()) * max(d_i, d_j))
    return float(value)


@pytest.mark.parametrize("share", [0.15, 0.3, 0.6])
def test_curvature_by_search(share: float) -> None:
    pairs = random_pairs(1, share)
    graph, adjacency = Rewiring(N, pairs, 1.0, 0.5), matrix_of(pairs)
    assert graph.curvature.keys() == pairs
    for i, j in pairs:
        expected = searched_curvature(adjacency, i, j)
        assert graph.curvature[i, j] == pytest.approx(expected, abs=1e-12)
        assert balanced_forman(graph.neighbours, j, i) == pytest.approx(expected, abs=1e-12)


def test_curvature_of_known_graphs() -> None:
    """A complete graph of n nodes has n / (n - 1), a cycle of 4 has 1, of 5 has 0 (Topping)."""
    complete = Rewiring(5, set(combinations(range(5), 2)), 1.0, 0.5)
    assert complete.curvature[0, 1] == pytest.approx(5 / 4)
    for length, expected in ((4, 1.0), (5, 0.0)):
        ring = {tuple(sorted((i, (i + 1) % length))) for i in range(length)}
        assert Rewiring(length, ring, 1.0, 0.5).curvature[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.2, 0.4])
def test_gains_by_adding_each_edge(share: float) -> None:
    """All gains are right, and every edge that is no candidate gains nothing."""
    pairs = random_pairs(2, share)
    graph, adjacency = Rewiring(N, pairs, 1.0, 0.5), matrix_of(pairs)
    for i, j in sorted(pairs)[::3]:
        before = searched_curvature(adjacency, i, j)
        candidates, gains = graph.support(i, j)
        found = {
            tuple(sorted(pair)): gain for pair, gain in zip(candidates.tolist(), gains, strict=True)
        }
        assert len(found) == len(gains)
        near_i, near_j = {i, *graph.neighbours[i]}, {j, *graph.neighbours[j]}
        for k, other in {(k, o) for k in near_i for o in near_j if k != o and not adjacency[k, o]}:
            changed = adjacency.copy()
            changed[k, other] = changed[other, k] = 1
            gain = searched_curvature(changed, i, j) - before
            pair = tuple(sorted((k, other)))
            assert found.get(pair, 0.0) == pytest.approx(gain, abs=1e-12)


def test_renewed_curvatures_are_those_of_the_new_graph() -> None:
    pairs = random_pairs(3, 0.25)
    graph = Rewiring(N, pairs, 5.0, 0.3, seed=1)
    for _ in range(15):
        edges = set(graph.curvature)
        assert graph.step()
        added, removed = set(graph.curvature) - edges, edges - set(graph.curvature)
        assert len(added) <= 1
        assert len(removed) <= 1
        adjacency = matrix_of(set(graph.curvature))
        assert [set(np.flatnonzero(row)) for row in adjacency] == graph.neighbours
        for (i, j), value in graph.curvature.items():
            assert value == pytest.approx(searched_curvature(adjacency, i, j), abs=1e-12)


def test_high_temperature_takes_the_best_edge() -> None:
    pairs = random_pairs(4, 0.25)
    graph = Rewiring(N, pairs, 1e6, 100.0)
    narrowest = min(graph.curvature, key=graph.curvature.__getitem__)
    candidates, gains = graph.support(*narrowest)
    best = {tuple(sorted(c)) for c in candidates[gains > gains.max() - 1e-9].tolist()}
    graph.step()
    assert set(graph.curvature) - pairs <= best


def edges_of(pairs: set[tuple[int, int]]) -> Tensor:
    edges = torch.tensor(sorted(pairs)).T
    return torch.cat([edges, edges.flip(0), torch.tensor([[5], [5]])], dim=1)


def test_rewired_edges_and_weights() -> None:
    pairs = random_pairs(5, 0.3)
    edges, settings = edges_of(pairs), {"iterations": 8, "temperature": 9.0, "bound": 0.3}
    weight = torch.arange(2.0, 2.0 + edges.shape[1])
    rewired, new_weight = rewire(edges, weight, N, **settings, seed=2)
    graph = Rewiring(N, pairs, 9.0, 0.3, seed=2)
    for _ in range(8):
        graph.step()
    expected = {(5, 5)} | {p for i, j in graph.curvature for p in ((i, j), (j, i))}
    old = {tuple(e): w for e, w in zip(edges.T.tolist(), weight.tolist(), strict=True)}
    found = {tuple(e): w for e, w in zip(rewired.T.tolist(), new_weight.tolist(), strict=True)}
    assert len(found) == rewired.shape[1]
    assert found == {pair: old.get(pair, 1.0) for pair in expected}
    again, none = rewire(edges, None, N, **settings, seed=2)
    assert none is None
    assert torch.equal(again, rewired)
    assert not torch.equal(rewire(edges, None, N, **settings, seed=3)[0], rewired)


def test_formula() -> None:
    """GCNConv of PyTorch Geometric on the rewired edges, with the same weights."""
    edges = edges_of(random_pairs(6, 0.3))
    x = torch.randn(N, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    model = GCNSDRF(5, 4, 3, iterations=6, bound=0.3).double().eval()
    rewired, _ = rewire(edges, None, N, iterations=6, temperature=100.0, bound=0.3)
    expected = x
    for i, ours in enumerate(model.convolutions):
        theirs = GCNConv(*ours.linear.weight.shape).double()
        with torch.no_grad():
            theirs.lin.weight.copy_(ours.linear.weight.T)
            theirs.bias.copy_(ours.bias.normal_())
        expected = theirs(expected if i == 0 else expected.relu(), rewired)
    torch.testing.assert_close(model(x, edges), expected, atol=1e-10, rtol=0)


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="num_layers must be at least 1, got 0"):
        GCNSDRF(5, 4, 3, num_layers=0)
