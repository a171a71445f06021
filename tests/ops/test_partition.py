# N nodes, E edges, P parts.
from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from bagcn.data.synthetic import synthetic_graph
from bagcn.ops import partition


def between(edges: Tensor, part: Tensor) -> int:
    return int((part[edges[0]] != part[edges[1]]).sum())


def both_ways(pairs: list[tuple[int, int]]) -> Tensor:
    return torch.tensor(pairs + [(j, i) for i, j in pairs]).T


def test_cliques_in_a_ring_are_found() -> None:
    """Eight cliques of five, whose nodes are numbered across: only the ring's edges are cut."""
    nodes = [[clique + 8 * k for k in range(5)] for clique in range(8)]
    pairs = [pair for clique in nodes for pair in itertools.combinations(clique, 2)]
    pairs += [(nodes[c][0], nodes[(c + 1) % 8][1]) for c in range(8)]
    part = partition(both_ways(pairs), 40, 8)
    assert all(len({int(part[i]) for i in clique}) == 1 for clique in nodes)


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_small_graphs_against_all_partitions(parts: int) -> None:
    """No cut is worse than 1.5 times the best of all balanced ones."""
    edges = both_ways([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6), (6, 7)])
    found = partition(edges, 8, parts)
    sizes = sorted(torch.bincount(found).tolist())
    best = (
        min(
            between(edges, torch.tensor(labels))
            for labels in itertools.product(range(parts), repeat=8)
            if sorted(torch.bincount(torch.tensor(labels), minlength=parts).tolist()) == sizes
        )
        if parts < 7
        else 14
    )
    assert between(edges, found) <= 1.5 * best


@pytest.mark.parametrize("parts", [1, 4, 7, 60])
def test_sizes_differ_by_one_at_most(parts: int) -> None:
    edges = synthetic_graph(60, num_classes=3, num_features=8).edge_index
    sizes = torch.bincount(partition(edges, 60, parts), minlength=parts)
    assert sizes.numel() == parts
    assert sizes.max() - sizes.min() <= 1


def test_same_edges_same_parts() -> None:
    """Their order, direction and number of mentions do not matter, nor do self-loops."""
    edges = synthetic_graph(60, num_classes=3, num_features=8).edge_index
    expected = partition(edges, 60, 7)
    loops = torch.arange(60).repeat(2, 1)
    other = torch.cat([edges.flip(1), edges[:, ::2], loops], dim=1)
    assert torch.equal(partition(other, 60, 7), expected)
    one_way = edges[:, edges[0] < edges[1]]
    assert torch.equal(partition(one_way, 60, 7), expected)


def test_far_fewer_edges_are_cut_than_by_chance() -> None:
    data = synthetic_graph(2_000, num_classes=4, regions_per_class=3, num_features=8)
    part = partition(data.edge_index, 2_000, 32)
    chance = part[torch.randperm(2_000, generator=torch.Generator().manual_seed(0))]
    assert between(data.edge_index, part) < 0.6 * between(data.edge_index, chance)


def test_no_edges() -> None:
    part = partition(torch.empty(2, 0, dtype=torch.long), 5, 2)
    assert sorted(torch.bincount(part).tolist()) == [2, 3]


@pytest.mark.parametrize("parts", [0, 9])
def test_wrong_number_of_parts(parts: int) -> None:
    with pytest.raises(ValueError, match=f"parts must be from 1 to the 8 nodes, got {parts}"):
        partition(torch.tensor([[0, 1], [1, 0]]), 8, parts)
