# N nodes, F features, D hidden of a head, H heads, M random features, K samples, E edges.
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from bagcn.baselines import nodeformer
from bagcn.baselines.nodeformer import (
    NodeFormer,
    _squared,
    gumbel,
    kernel_features,
    normal,
    orthogonal_features,
)
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features, recorded, wave

HEADS, FEATURE_COUNT, SAMPLES = 2, 6, 3


def fixed_model(edge_loss: float = 1.0) -> NodeFormer:
    """Return a model whose layers have the random features that the record was made with."""
    model = NodeFormer(
        FEATURES,
        4,
        CLASSES,
        num_heads=HEADS,
        num_features=FEATURE_COUNT,
        num_samples=SAMPLES,
        hops=3,
        edge_loss=edge_loss,
    ).eval()
    fix_parameters(model)
    for i, layer in enumerate(model.layers):
        layer.features.copy_(wave(FEATURE_COUNT, 4, phase=20.0 + i))
    return model


def fix_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let training draw the features and the noise that the record was made with."""
    features = iter([wave(FEATURE_COUNT, 4, phase=20.0 + i) for i in range(2)])
    noise = iter([wave(NODES, HEADS, SAMPLES, phase=30.0 + i) for i in range(2)])
    monkeypatch.setattr(nodeformer, "orthogonal_features", lambda *drawn: next(features))
    monkeypatch.setattr(nodeformer, "gumbel", lambda like: next(noise))


@pytest.mark.parametrize("case", ["predict", "train"])
def test_outputs_of_the_authors_code(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fixed_model().train(case == "train")
    fix_noise(monkeypatch)
    with torch.no_grad():
        found, likelihood = model._logits(*model.prepare(fixed_features(), EDGES))
    torch.testing.assert_close(found, recorded("nodeformer", case), atol=1e-5, rtol=0)
    torch.testing.assert_close(likelihood, recorded("nodeformer", f"{case} edges"))


def test_objective_of_the_authors_code(monkeypatch: pytest.MonkeyPatch) -> None:
    model = fixed_model(edge_loss=0.7).train()
    fix_noise(monkeypatch)
    y, labelled = torch.arange(NODES) % CLASSES, torch.arange(NODES) < 7
    graph = model.prepare(fixed_features(), EDGES)
    loss = model.objective(*graph, y, labelled, torch.tensor(0))
    expected = F.cross_entropy(recorded("nodeformer", "train")[:7], y[:7])
    expected = expected - 0.7 * recorded("nodeformer", "train edges")
    torch.testing.assert_close(loss, expected, atol=1e-5, rtol=0)


def small(phase: float) -> Tensor:
    return 0.6 * wave(NODES, 1, 4, phase=phase).double()


def test_random_features_approximate_the_softmax() -> None:
    query, key, value = small(0.0), small(1.0), small(2.0)[:, 0]
    weights = (query[:, 0] @ key[:, 0].T / 2).softmax(-1)  # (N, N), sqrt(D) is 2
    drawn = torch.Generator().manual_seed(0)
    noise = [torch.randn(4_000, 4, generator=drawn, dtype=torch.float64) for _ in range(2)]
    features = orthogonal_features(*noise)
    queries = kernel_features(query, features, shared=False)[:, 0]  # (N, M)
    keys = kernel_features(key, features, shared=True)[:, 0]
    products = queries @ keys.T
    found = products / products.sum(-1, keepdim=True)
    torch.testing.assert_close(found, weights, atol=0.01, rtol=0)
    torch.testing.assert_close(found @ value, weights @ value, atol=0.02, rtol=0)


def test_gumbel_noise_makes_samples_of_the_softmax() -> None:
    """At a low temperature every sample is one node, drawn as often as the softmax says."""
    scores = torch.tensor([0.0, 1.0, 2.0])
    torch.manual_seed(0)
    winners = (scores + gumbel(torch.empty(40_000, 3))).argmax(1)
    shares = torch.bincount(winners, minlength=3) / len(winners)
    torch.testing.assert_close(shares, scores.softmax(0), atol=0.01, rtol=0)


def test_normal_noise() -> None:
    torch.manual_seed(0)
    drawn = normal(torch.empty(100_000)).sort().values
    expected = torch.distributions.Normal(0.0, 1.0).cdf(drawn)
    rank = (torch.arange(100_000) + 0.5) / 100_000
    assert (expected - rank).abs().max() < 0.006  # Kolmogorov and Smirnov, one in a thousand


def test_features_are_orthogonal_in_blocks() -> None:
    rows = orthogonal_features(wave(10, 4, phase=0.3), wave(10, 4, phase=0.9))
    torch.testing.assert_close(rows.norm(dim=1), wave(10, 4, phase=0.9).norm(dim=1))
    for start in (0, 4, 8):
        block = F.normalize(rows[start : start + 4])
        torch.testing.assert_close(block @ block.T, torch.eye(len(block)), atol=1e-6, rtol=0)


def test_pairs_within_two_steps() -> None:
    path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
    near = {
        (i, j) for i in range(5) for j in range(5) if i == j or (max(i, j) < 4 and abs(i - j) <= 2)
    }
    assert set(map(tuple, _squared(path, 5).T.tolist())) == near


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="must be at least 1, got 0 and 2"):
        NodeFormer(5, 4, 3, num_layers=0)
