# N nodes, F features, D hidden, H heads, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch_geometric.nn.attention import SGFormerAttention

from bagcn.baselines.sgformer import SGFormer, SimpleAttention, simple_attention
from battery import check_all
from fixed import CLASSES, EDGES, FEATURES, fix_parameters, fixed_features, recorded, wave

CASES = {
    "plain": {"residual": False, "norm": False},
    "full": {"num_layers": 2, "num_heads": 2, "values": True, "graph_weight": 0.3},
}


@pytest.mark.parametrize("arguments", [*CASES.values()], ids=[*CASES])
def test_battery(arguments: dict[str, float | bool]) -> None:
    check_all(lambda f, c: SGFormer(f, 8, c, **arguments))


@pytest.mark.parametrize("case", CASES)
def test_outputs_of_the_authors_code(case: str) -> None:
    model = SGFormer(FEATURES, 4, CLASSES, graph_layers=3, **CASES[case]).eval()
    fix_parameters(model)
    with torch.no_grad():
        found = model(fixed_features(), EDGES)
    torch.testing.assert_close(found, recorded("sgformer", case), atol=1e-5, rtol=0)


def test_dense_attention() -> None:
    query, key, value = (wave(9, 2, 4, phase=p).double() for p in range(3))
    norms = query.square().sum().sqrt() * key.square().sum().sqrt()
    scores = torch.einsum("ihd,jhd->hij", query, key) / norms  # (H, N, N)
    scores = scores + 9 * torch.eye(9, dtype=torch.float64)  # a node attends to itself anyway
    weights = scores / scores.sum(-1, keepdim=True)
    expected = torch.einsum("hij,jhd->ihd", weights, value)
    found = simple_attention(query, key, value)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_pytorch_geometric_has_another_norm() -> None:
    ours, theirs = SimpleAttention(4, 2, values=True), SGFormerAttention(4, 2, 4, qkv_bias=True)
    fix_parameters(ours)
    pairs = ((theirs.q, ours.query), (theirs.k, ours.key), (theirs.v, ours.value))
    with torch.no_grad():
        for their, our in pairs:
            their.weight.copy_(our.weight.T)
            their.bias.copy_(our.bias)
        x = wave(50, 4, phase=0.0)
        assert (ours(x) - theirs(x[None])[0]).abs().max() > 0.01


def test_no_layers() -> None:
    with pytest.raises(ValueError, match="must be at least 1, got 0 and 4"):
        SGFormer(5, 4, 3, num_layers=0)
