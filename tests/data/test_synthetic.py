# N nodes, C classes, R regions.
from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch_geometric.data import Data

from bagcn.data import synthetic_graph


def adjacency(data: Data, edges: Tensor | None = None) -> sp.csr_matrix:
    row, col = (data.edge_index if edges is None else edges).numpy()
    ones = np.ones(len(row), dtype=np.int8)
    return sp.csr_matrix((ones, (row, col)), shape=(data.num_nodes, data.num_nodes))


def homophily(data: Data) -> float:
    row, col = data.edge_index
    return float((data.y[row] == data.y[col]).float().mean())


@pytest.mark.parametrize("nodes", [48, 203, 1_000])
def test_every_region_is_a_component(nodes: int) -> None:
    data = synthetic_graph(nodes, num_classes=4, regions_per_class=3)
    count, component = connected_components(adjacency(data), directed=False)
    assert count == 12
    pairs = {(int(a), int(b)) for a, b in zip(component, data.region, strict=True)}
    assert len(pairs) == 12  # one to one
    sizes = torch.bincount(data.region)
    assert int(sizes.max() - sizes.min()) <= 1


def test_a_class_is_at_home_in_its_regions() -> None:
    data = synthetic_graph(600, num_classes=3, regions_per_class=2, homophily=1.0)
    assert torch.equal(data.region % 3, data.y)
    mixed = synthetic_graph(600, num_classes=3, regions_per_class=2, homophily=0.7)
    home = (mixed.region % 3 == mixed.y).float().mean()
    share = 2 / 3 * (1 - (1 - 3 / 2 * 0.3) ** 0.5)  # of strangers: (1-s)² + s²/2 = 0.7
    assert float(home) == pytest.approx(1 - share, abs=0.005)
    assert torch.bincount(mixed.y).tolist() == [200, 200, 200]


@pytest.mark.parametrize("wanted", [0.25, 0.5, 0.8, 0.9, 1.0])
def test_homophily_is_what_was_asked_for(wanted: float) -> None:
    assert homophily(synthetic_graph(20_000, homophily=wanted)) == pytest.approx(wanted, abs=0.01)


def test_labels_are_in_the_first_regions_only() -> None:
    data = synthetic_graph(900, num_classes=3, regions_per_class=3, labelled_regions=2)
    learnt = data.train_mask | data.val_mask
    assert set(data.region[learnt].tolist()) == set(range(6))
    assert set(data.region[data.test_mask].tolist()) == set(range(9))
    assert torch.bincount(data.y[data.train_mask]).tolist() == [20, 20, 20]
    assert torch.bincount(data.y[data.val_mask]).tolist() == [30, 30, 30]
    masks = data.train_mask.int() + data.val_mask.int() + data.test_mask.int()
    assert bool((masks == 1).all())


def test_connected_is_a_chain_of_regions() -> None:
    data = synthetic_graph(800, num_classes=4, regions_per_class=2, connected=True)
    assert connected_components(adjacency(data), directed=False)[0] == 1
    ends = data.region[data.edge_index]
    bridges = {(int(a), int(b)) for a, b in ends.T if a < b}
    assert bridges == {(region, region + 1) for region in range(7)}
    assert int((ends[0] < ends[1]).sum()) == 7  # one edge each


def test_noise_is_the_deviation_from_the_class_s_centre() -> None:
    quiet, loud = (synthetic_graph(4_000, noise=noise, num_features=16) for noise in (0.0, 0.7))
    for label in range(4):
        centre = quiet.x[quiet.y == label]
        assert bool((centre == centre[0]).all())
        assert float(centre[0].norm()) == pytest.approx(1, abs=1e-6)
        spread = loud.x[loud.y == label] - centre[0]
        assert float(spread.std()) == pytest.approx(0.7, rel=0.02)
        assert float(spread.mean(dim=0).abs().max()) < 0.1


@pytest.mark.parametrize("degree", [2.0, 4.0, 10.0])
def test_the_mean_degree(degree: float) -> None:
    data = synthetic_graph(20_000, degree=degree)
    assert data.num_edges / data.num_nodes == pytest.approx(degree, rel=0.02)


def test_edges_go_both_ways_once() -> None:
    matrix = adjacency(synthetic_graph(500))
    assert matrix.max() == 1
    assert (matrix != matrix.T).nnz == 0
    assert matrix.diagonal().sum() == 0


def test_the_numbering_tells_nothing() -> None:
    data = synthetic_graph(2_000, homophily=1.0)
    numbers = torch.arange(2_000, dtype=torch.float64)
    for values in (data.y, data.region):
        both = torch.stack([numbers, values.double()])
        assert abs(float(torch.corrcoef(both)[0, 1])) < 0.06


def test_any_size() -> None:
    data = synthetic_graph(300_000, num_features=4)
    assert data.x.shape == (300_000, 4)
    assert data.num_edges == pytest.approx(1_200_000, rel=0.01)


def test_a_seed_means_this_graph_for_ever() -> None:
    """Recorded once; the features only to some digits, which a library may round otherwise."""
    data = synthetic_graph(200, seed=7)
    digest = hashlib.sha256()
    for tensor in (data.edge_index, data.y, data.region):
        digest.update(tensor.numpy().astype("<i8").tobytes())
    assert digest.hexdigest()[:16] == "8a0783f5d158aebb"
    assert data.x[0, :3].tolist() == pytest.approx([0.0526, 0.8792, -0.1349], abs=1e-4)
    again, other = synthetic_graph(200, seed=7), synthetic_graph(200, seed=8)
    assert torch.equal(again.x, data.x)
    assert not torch.equal(other.x, data.x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_classes": 1}, "expected num_classes >= 2, got 1"),
        ({"labelled_regions": 4}, "expected 1 <= labelled_regions <= regions_per_class, got 4 and"),
        ({"labelled_regions": 0}, "got 0 and 3"),
        ({"num_nodes": 47}, "expected at least 48 nodes, four for each of 12 regions, got 47"),
        ({"num_features": 0}, "expected num_features >= 1, got 0"),
        ({"homophily": 0.2}, "expected homophily from 1/num_classes = 0.25 to 1, got 0.2"),
        ({"homophily": 1.1}, "got 1.1"),
        ({"degree": 1.5}, "expected degree >= 2, which keeps a region connected, got 1.5"),
        ({"noise": -1}, "expected noise >= 0, got -1"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        synthetic_graph(**arguments)
