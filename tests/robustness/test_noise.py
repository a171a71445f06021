from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor
from torch_geometric.data import Data

from bagcn.data import synthetic_graph
from bagcn.robustness.noise import add_edges, add_feature_noise, mask_features, remove_edges

SIZE = 60


def pairs(edge_index: Tensor) -> set[tuple[int, int]]:
    """The undirected edges, after a look at each in both directions."""
    directed = [(int(i), int(j)) for i, j in edge_index.T]
    assert len(set(directed)) == len(directed), "an edge is there twice"
    assert all(i != j for i, j in directed), "a self-loop"
    assert {(j, i) for i, j in directed} == set(directed), "one direction is missing"
    return {(i, j) for i, j in directed if i < j}


@pytest.fixture
def edges(tiny_graph: Data) -> Tensor:
    index: Tensor = tiny_graph.edge_index
    return index


@pytest.mark.parametrize("ratio", [0, 0.1, 0.29, 0.5, 1, 2.5])
def test_so_many_edges_are_added_that_were_none(edges: Tensor, ratio: float) -> None:
    before, after = pairs(edges), pairs(add_edges(edges, SIZE, ratio, seed=3))
    assert before <= after
    assert len(after - before) == math.floor(round(ratio * len(before), 9))
    assert max(j for _, j in after) < SIZE


@pytest.mark.parametrize("ratio", [0, 0.1, 0.29, 0.5, 0.9, 1])
def test_so_many_edges_are_cut(edges: Tensor, ratio: float) -> None:
    before, after = pairs(edges), pairs(remove_edges(edges, SIZE, ratio, seed=3))
    assert after <= before
    assert len(before - after) == math.floor(round(ratio * len(before), 9))


def test_a_share_is_rounded_down_as_it_is_written() -> None:
    hundred = torch.stack([torch.arange(100), torch.arange(1, 101)])
    path = torch.cat([hundred, hundred.flip(0)], dim=1)
    assert 0.29 * 100 < 29
    assert len(pairs(remove_edges(path, 101, 0.29, seed=0))) == 71
    assert len(pairs(add_edges(path, 101, 0.29, seed=0))) == 129


def test_all_free_pairs_can_be_filled_and_no_more() -> None:
    square = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
    full = add_edges(square, 4, 0.5, seed=0)
    assert pairs(full) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    with pytest.raises(ValueError, match="cannot add 3 edges: only 2 pairs"):
        add_edges(square, 4, 0.75, seed=0)


def test_every_free_pair_is_as_likely() -> None:
    path = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]])
    free = {(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)}
    drawn = Counter(
        pair for seed in range(3_000) for pair in pairs(add_edges(path, 5, 0.5, seed)) - pairs(path)
    )
    assert set(drawn) == free
    assert stats.chisquare([drawn[pair] for pair in sorted(free)]).pvalue > 1e-3


def test_every_edge_is_as_likely_to_be_cut() -> None:
    path = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]])
    left = Counter(pair for s in range(3_000) for pair in pairs(remove_edges(path, 5, 0.5, s)))
    assert stats.chisquare([left[pair] for pair in sorted(pairs(path))]).pvalue > 1e-3


def test_a_seed_is_a_graph(edges: Tensor) -> None:
    for change in (add_edges, remove_edges):
        first, again, other = (change(edges, SIZE, 0.5, seed) for seed in (1, 1, 2))
        assert torch.equal(first, again)
        assert pairs(first) != pairs(other)
        keys = first[0] * SIZE + first[1]
        assert torch.equal(keys, keys.sort().values)


def test_one_direction_alone_or_a_self_loop_is_refused() -> None:
    for edge_index in ([[0, 1], [1, 2]], [[0, 1, 2], [1, 0, 2]]):
        with pytest.raises(ValueError, match="both directions of every edge"):
            remove_edges(torch.tensor(edge_index), 3, 0.5, seed=0)


@pytest.fixture(scope="module")
def bag_of_words() -> Tensor:
    """Binary features, sparse: (400, 300) with about a tenth of ones."""
    generator = torch.Generator().manual_seed(0)
    return (torch.rand(400, 300, generator=generator) < 0.1).float().to_sparse_csr()


def test_feature_noise_is_normal_with_the_mean_row_maximum_as_its_unit(
    bag_of_words: Tensor,
) -> None:
    x = bag_of_words.to_dense() * torch.linspace(0.5, 1.5, 400)[:, None]
    noise = add_feature_noise(x, 0.5, seed=4) - x
    unit = np.mean([max(row) for row in x.tolist()])
    assert unit == pytest.approx(1.0, abs=1e-6)
    assert stats.kstest(noise.flatten().numpy() / (0.5 * unit), "norm").pvalue > 1e-3
    assert float(noise.std()) == pytest.approx(0.5 * unit, rel=0.01)


def test_noise_on_sparse_features_is_the_same_noise(bag_of_words: Tensor) -> None:
    dense = add_feature_noise(bag_of_words.to_dense(), 1.0, seed=7)
    assert torch.equal(add_feature_noise(bag_of_words, 1.0, seed=7), dense)
    assert not torch.equal(add_feature_noise(bag_of_words, 1.0, seed=8), dense)
    assert torch.equal(add_feature_noise(bag_of_words, 0, seed=7), bag_of_words.to_dense())


@pytest.mark.parametrize("share", [0, 0.2, 0.75, 1])
def test_so_many_features_are_masked_and_no_other_changed(
    bag_of_words: Tensor, share: float
) -> None:
    before, count = bag_of_words.to_dense(), len(bag_of_words.values())
    masked = mask_features(bag_of_words, share, seed=2)
    assert masked.layout == torch.sparse_csr
    assert len(masked.values()) == count - math.floor(round(share * count, 9))
    after = masked.to_dense()
    assert ((after == before) | (after == 0)).all()
    assert torch.equal(mask_features(before, share, seed=2), after)
    assert torch.equal(bag_of_words.to_dense(), before)


def test_no_row_is_masked_more_than_others(bag_of_words: Tensor) -> None:
    before = bag_of_words.crow_indices().diff().double()
    after = mask_features(bag_of_words, 0.5, seed=2).crow_indices().diff().double()
    spread = (after - before / 2) / (before / 4).sqrt()  # about standard normal
    assert abs(float(spread.mean())) < 0.15
    assert float(spread.std()) == pytest.approx(1, abs=0.1)


def test_senseless_amounts_are_refused(edges: Tensor) -> None:
    x = synthetic_graph(60, num_features=8).x
    for change in (
        lambda: add_edges(edges, SIZE, -0.1, 0),
        lambda: add_feature_noise(x, float("nan"), 0),
    ):
        with pytest.raises(ValueError, match="must be 0 or more"):
            change()
    for change in (
        lambda: remove_edges(edges, SIZE, 1.1, 0),
        lambda: mask_features(x, 2, 0),
    ):
        with pytest.raises(ValueError, match="more than all there is"):
            change()
