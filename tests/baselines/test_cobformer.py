# N nodes, F features, D hidden, C classes, P clusters, S nodes of a cluster.
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.baselines.cobformer import Clusters, CoBFormer, collaborative_loss
from bagcn.ops import partition
from battery import check_all
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features, recorded, wave

CASES = {"one layer": (1, 1, 2), "two layers": (2, 2, 3)}  # attention, heads, convolutions
PART = torch.tensor([0, 0, 0, 1, 1, 0, 2, 1, 2, 1, 2, 2])  # the clusters of the record


def fixed_model(case: str = "one layer", **arguments: float | str) -> CoBFormer:
    layers, heads, graph_layers = CASES[case]
    model = CoBFormer(
        FEATURES,
        4,
        CLASSES,
        num_layers=layers,
        num_heads=heads,
        graph_layers=graph_layers,
        clusters=3,
        **arguments,  # type: ignore[arg-type]
    )
    fix_parameters(model)
    return model.eval()


@pytest.mark.parametrize("clusters", [7, 30])
def test_battery(clusters: int) -> None:
    """Sixty nodes in clusters of eight and nine, and of two: who is alone needs no query."""
    check_all(
        lambda f, c: CoBFormer(f, 8, c, num_heads=2, clusters=clusters),
        equivariant=False,  # ties of the bisection are broken by the numbers of the nodes
    )


@pytest.mark.parametrize("view", ["graph", "attention"])
@pytest.mark.parametrize("case", CASES)
def test_outputs_of_the_authors_code(case: str, view: str) -> None:
    model = fixed_model(case, view=view)
    x, (adjacency, _) = model.prepare(fixed_features(), EDGES)
    with torch.no_grad():
        found = model(x, (adjacency, Clusters.of(PART)))
    torch.testing.assert_close(found, recorded("cobformer", f"{case} {view}"), atol=1e-5, rtol=0)


@pytest.mark.parametrize("case", CASES)
def test_loss_of_the_authors_code(case: str) -> None:
    model = fixed_model(case, alpha=0.7, tau=0.3)
    x, (adjacency, _) = model.prepare(fixed_features(), EDGES)
    y, labelled = torch.arange(NODES) % CLASSES, torch.arange(NODES) < 7
    graph = (adjacency, Clusters.of(PART))
    loss = model.objective(x, graph, y, labelled, torch.tensor(0))
    torch.testing.assert_close(loss, recorded("cobformer", f"{case} loss"), atol=1e-5, rtol=0)


def dense(layer: torch.nn.Module, x: Tensor, part: Tensor) -> Tensor:
    """Compute a layer cluster by cluster, with attention from PyTorch and no empty places."""

    def attended(block: torch.nn.Module, h: Tensor) -> Tensor:
        parts = [
            (h @ linear.weight).view(len(h), block.num_heads, -1).transpose(0, 1)
            for linear in (block.query, block.key, block.value)
        ]
        out = F.scaled_dot_product_attention(*parts)  # (H, S, D / H)
        return h + out.transpose(0, 1).flatten(1) @ block.out.weight

    h = layer.node_norm(x)
    own = [layer.node_map(attended(layer.nodes, h[part == p])) for p in range(int(part.max()) + 1)]
    means = layer.cluster_norm(torch.stack([rows.mean(0) for rows in own]))
    others = layer.cluster_map(attended(layer.clusters, means))
    out = torch.empty_like(h)
    for p, rows in enumerate(own):
        both = torch.cat([rows, others[p].expand_as(rows)], dim=1)
        out[part == p] = rows + layer.fuse(both).relu()
    return out


@pytest.mark.parametrize(
    "part",
    [
        PART,
        torch.tensor([0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 0, 1]),
        torch.arange(NODES),
        torch.zeros(NODES, dtype=torch.long),
    ],
)
def test_clusters_of_any_size(part: Tensor) -> None:
    """Empty places change nothing."""
    layer = fixed_model("two layers").double().layers[0]
    x = wave(NODES, 4, phase=0.4).double()
    found = layer(x, Clusters.of(part))
    torch.testing.assert_close(found, dense(layer, x, part), atol=1e-12, rtol=0)


def test_every_node_has_its_place() -> None:
    members, filled, place = Clusters.of(torch.tensor([2, 0, 0, 2, 2, 1]))
    assert members.flatten()[place].tolist() == [0, 1, 2, 3, 4, 5]
    assert filled.tolist() == [[1, 1, 0], [1, 0, 0], [1, 1, 1]]


def test_clusters_are_those_of_the_partition() -> None:
    model = fixed_model()
    _, (_, clusters) = model.prepare(fixed_features(), EDGES)
    rows = [set(row[full == 1].tolist()) for row, full in zip(*clusters[:2], strict=True)]
    part = partition(EDGES, NODES, 3)
    assert rows == [set((part == p).nonzero().flatten().tolist()) for p in range(3)]


def test_no_more_clusters_than_nodes() -> None:
    _, (_, clusters) = CoBFormer(FEATURES, 4, CLASSES).prepare(fixed_features(), EDGES)
    assert sorted(clusters.members.flatten().tolist()) == list(range(NODES))


def test_views_teach_each_other() -> None:
    first, second = (wave(6, 3, phase=p).double() for p in (0.0, 1.0))
    y, labelled = torch.tensor([0, 1, 2, 0, 0, 0]), torch.tensor([1, 1, 1, 0, 0, 0]).bool()
    total = torch.zeros((), dtype=torch.float64)
    for one, other in ((first, second), (second, first)):
        for i in range(6):
            if labelled[i]:
                total -= 0.6 / 3 * one[i].log_softmax(0)[y[i]]
            else:
                total -= 0.4 / 3 * (other[i] / 2).softmax(0) @ (one[i] / 2).log_softmax(0)
    found = collaborative_loss(first, second, y, labelled, 0.6, 0.5)
    torch.testing.assert_close(found, total, atol=1e-12, rtol=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"graph_layers": 0}, "graph_layers must be at least 1, got 0"),
        ({"clusters": 0}, "clusters must be at least 1, got 0"),
        ({"num_heads": 3}, "3 heads cannot share 4 hidden channels evenly"),
        ({"view": "both"}, "view must be attention or graph, got 'both'"),
    ],
)
def test_wrong_arguments(arguments: dict[str, int | str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CoBFormer(5, 4, 3, **arguments)  # type: ignore[arg-type]
