# N nodes, F features, D embedding, C classes, M members.
from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.baselines import grace
from bagcn.baselines.grace import GRACE, contrastive_loss
from bagcn.ops import normalized_adjacency
from battery import check_all
from fixed import (
    CLASSES,
    EDGES,
    FEATURES,
    NODES,
    fix_parameters,
    fixed_features,
    recorded,
    wave,
)

EPOCH = torch.tensor(0)
NOTHING = torch.zeros(NODES, dtype=torch.bool)


def test_battery_of_a_sample() -> None:
    check_all(lambda f, c: GRACE(f, 16, c, activation="prelu", sample=20))


@pytest.mark.parametrize("activation", ["relu", "prelu"])
def test_outputs_of_the_authors_code(activation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both views drop the edges and columns that the record was made with."""
    model = GRACE(
        FEATURES,
        4,
        CLASSES,
        activation=activation,  # type: ignore[arg-type]
        drop_edge_1=0.3,
        drop_edge_2=0.5,
        mask_feature_1=0.4,
        mask_feature_2=0.2,
        temperature=0.4,
    )
    fix_parameters(model)
    phases = iter((0.1, 1.1, 2.1, 3.1))
    monkeypatch.setattr(
        grace, "uniform", lambda like: (wave(*like.shape, phase=next(phases)) + 1) / 2
    )
    x, graph = model.prepare(fixed_features(), EDGES)
    embedding = F.normalize(recorded("grace", f"{activation}_embedding"))
    torch.testing.assert_close(model.embed(x, graph), embedding, atol=1e-5, rtol=0)
    loss = model.objective(x, graph, torch.zeros(NODES), NOTHING, EPOCH)
    torch.testing.assert_close(loss, recorded("grace", f"{activation}_loss"), atol=1e-5, rtol=0)


def dense_loss(u: Tensor, v: Tensor, temperature: float) -> Tensor:
    """Write the paper's equation down, pair by pair."""
    terms = []
    for one, other in ((u, v), (v, u)):
        for i in range(len(u)):
            alike = [
                torch.exp(F.cosine_similarity(one[i], row, dim=0) / temperature) for row in other
            ]
            within = [
                torch.exp(F.cosine_similarity(one[i], row, dim=0) / temperature) for row in one
            ]
            terms.append(-torch.log(alike[i] / (sum(alike) + sum(within) - within[i])))
    return torch.stack(terms).mean()


@pytest.fixture
def views() -> tuple[Tensor, Tensor]:
    return tuple(  # type: ignore[return-value]
        wave(7, 3, phase=phase).double().requires_grad_() for phase in (0.1, 2.0)
    )


@pytest.mark.parametrize("entries", [1, 30, 42, 10_000])  # blocks of 1, 2, 3 and all 14 rows
def test_blocks_of_the_loss(
    views: tuple[Tensor, Tensor], entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grace, "ENTRIES", entries)
    expected, found = dense_loss(*views, 0.3), contrastive_loss(*views, 0.3)
    torch.testing.assert_close(found, expected, atol=1e-10, rtol=0)
    for theirs, ours in zip(
        torch.autograd.grad(expected, views), torch.autograd.grad(found, views), strict=True
    ):
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=0)


def test_members_of_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grace, "ENTRIES", 60)  # of three members of ten rows: two rows at a time
    u, v = (wave(3, 5, 4, phase=phase).double().requires_grad_() for phase in (0.1, 2.0))
    temperatures = torch.tensor([0.2, 0.5, 1.0], dtype=torch.float64)
    together = torch.vmap(contrastive_loss)(u, v, temperatures)
    alone = torch.stack([dense_loss(u[i], v[i], float(temperatures[i])) for i in range(3)])
    torch.testing.assert_close(together, alone, atol=1e-10, rtol=0)
    torch.testing.assert_close(
        torch.autograd.grad(together.sum(), u)[0],
        torch.autograd.grad(alone.sum(), u)[0],
        atol=1e-10,
        rtol=0,
    )


def test_small_temperature_does_not_overflow(views: tuple[Tensor, Tensor]) -> None:
    u, v = (view.float() for view in views)
    assert torch.isfinite(contrastive_loss(u, v, 0.005))


def test_no_large_matrix_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    blocks = grace._blocks

    def noted(z: Tensor) -> Iterator[tuple[slice, Tensor]]:
        for rows, exponentials in blocks(z):
            held.append(exponentials.numel())
            yield rows, exponentials

    monkeypatch.setattr(grace, "_blocks", noted)
    monkeypatch.setattr(grace, "ENTRIES", 2_000)
    u, v = torch.randn(150, 4, requires_grad=True), torch.randn(150, 4)
    contrastive_loss(u, v, 0.5).backward()
    assert max(held) <= 2_000
    assert sum(held) < 2 * 0.52 * 300**2  # both passes see only half of the pairs


def test_dropped_edges_are_absent_before_normalisation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view is the encoder on the graph without those edges, self-loops and all other columns."""
    model = GRACE(FEATURES, 4, CLASSES)
    fix_parameters(model)
    x, graph = model.prepare(fixed_features(), EDGES)
    draws = [torch.rand(graph.values.shape), torch.rand(FEATURES)]
    pending = iter(draws)
    monkeypatch.setattr(grace, "uniform", lambda like: next(pending))
    found = model._view(x, graph, 0.5, 0.4)
    row, col = graph.pattern.row.long(), graph.pattern.col.long()
    kept = (draws[0] >= 0.5) & (row != col)
    adjacency = normalized_adjacency(torch.stack([col[kept], row[kept]]), num_nodes=NODES)
    masked = fixed_features() * (draws[1] >= 0.4)
    hidden = model.first(masked, adjacency).relu()
    torch.testing.assert_close(found, model.second(hidden, adjacency).relu())


def test_sample_contrasts_only_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    model = GRACE(FEATURES, 4, CLASSES, sample=5)
    order = torch.tensor([7, 3, 1, 11, 0, 2, 4, 5, 6, 8, 9, 10])
    monkeypatch.setattr(grace, "permutation", lambda like: order)
    seen: list[Tensor] = []
    monkeypatch.setattr(GRACE, "_projected", lambda self, hidden: seen.append(hidden) or hidden)
    loss = model.objective(
        *model.prepare(fixed_features(), EDGES), torch.zeros(NODES), NOTHING, EPOCH
    )
    u, v = (hidden[order[:5]] for hidden in seen)
    torch.testing.assert_close(loss, contrastive_loss(u, v, 0.4))


def test_unknown_activation() -> None:
    with pytest.raises(ValueError, match="activation must be relu or prelu, got 'elu'"):
        GRACE(5, 4, 3, activation="elu")  # type: ignore[arg-type]
