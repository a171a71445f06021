# N nodes, D hidden, H heads, M members.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import vmap

from bagcn.nn import attend, attention_weights, biaffine_attention

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def by_hand(query: Tensor, key: Tensor, value: Tensor, scale: float) -> Tensor:
    """One head, query by query and key by key."""
    rows = []
    for q in query:
        e = torch.stack([torch.exp(scale * (q * k).sum()) for k in key])
        rows.append(((e / e.sum())[:, None] * value).sum(0))
    return torch.stack(rows)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_attend_and_its_gradients(dtype: torch.dtype) -> None:
    """Longer than one block of the fused kernels, and not a multiple of it."""
    exact = [draw(2, n, 5, seed=n).float().double().requires_grad_() for n in (33, 34, 35)]
    exact = [tensor[:, :33].detach().requires_grad_() for tensor in exact]
    ours = [tensor.detach().to(dtype).requires_grad_() for tensor in exact]
    found = attend(*ours, scale=0.8)
    expected = torch.stack([by_hand(*(t[h] for t in exact), scale=0.8) for h in range(2)])
    assert found.dtype == dtype
    torch.testing.assert_close(found.double(), expected, atol=TOLERANCE[dtype], rtol=0)
    found.square().sum().backward()
    expected.square().sum().backward()
    for mine, theirs in zip(ours, exact, strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        largest = float(theirs.grad.abs().max())
        error = float((mine.grad.double() - theirs.grad).abs().max())
        assert error < TOLERANCE[dtype] * max(1.0, largest)


@pytest.mark.parametrize("batched", [(0, 0, 0), (0, None, None), (1, 0, None), (None, 0, 0)])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_members_of_a_population(batched: tuple[int | None, ...], dtype: torch.dtype) -> None:
    """One call for all members gives what each call would, gradients included."""
    plain = [draw(2, 11, 4, seed=k, dtype=dtype) for k in range(3)]
    stacked = [draw(3, 2, 11, 4, seed=10 + k, dtype=dtype) for k in range(3)]
    args = [
        (plain[k] if dim is None else stacked[k].movedim(0, dim)).detach().requires_grad_()
        for k, dim in enumerate(batched)
    ]
    together = vmap(lambda q, k, v: attend(q, k, v, 0.5), in_dims=batched)(*args)
    alone = torch.stack(
        [
            attend(
                *(t if d is None else t.select(d, m) for t, d in zip(args, batched, strict=True)),
                0.5,
            )
            for m in range(3)
        ]
    )
    torch.testing.assert_close(together, alone, atol=TOLERANCE[dtype], rtol=0)
    weight = draw(*together.shape, seed=99, dtype=dtype)
    first = torch.autograd.grad((together * weight).sum(), args, retain_graph=True)
    second = torch.autograd.grad((alone * weight).sum(), args)
    torch.testing.assert_close(first, second, atol=10 * TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_biaffine_attention(dtype: torch.dtype) -> None:
    local, ego = draw(9, 4, seed=1, dtype=dtype), draw(9, 4, seed=2, dtype=dtype)
    m_1, m_2 = draw(4, 4, seed=3, dtype=dtype), draw(4, 4, seed=4, dtype=dtype)
    for_local, for_ego = biaffine_attention(local, ego, m_1, m_2, scale=1.0)
    tolerance = {"atol": TOLERANCE[dtype], "rtol": 0}
    torch.testing.assert_close(for_local, by_hand(local @ m_1, ego, ego, 1.0), **tolerance)
    torch.testing.assert_close(for_ego, by_hand(ego @ m_2, local, local, 1.0), **tolerance)


def test_attention_weights() -> None:
    query, key = draw(6, 4), draw(8, 4, seed=1)
    weights = attention_weights(query, key, 0.3)
    assert weights.shape == (6, 8)
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(6, dtype=torch.float64))
    torch.testing.assert_close(weights @ key, by_hand(query, key, key, 0.3), atol=1e-12, rtol=0)
    ratio = torch.exp(0.3 * query[2] @ (key[5] - key[7]))
    torch.testing.assert_close(weights[2, 5] / weights[2, 7], ratio)


def test_bf16_is_close_and_comes_back_in_the_precision_it_went_in() -> None:
    query, key, value = (draw(2, 40, 8, seed=k, dtype=torch.float32) for k in range(3))
    exact = attend(query, key, value, 0.35)
    rough = attend(query, key, value, 0.35, precision="bf16")
    assert rough.dtype == torch.float32
    assert 0 < float((rough - exact).abs().max()) < 0.03  # bf16 has eight bits


def test_scores_too_large_for_exp() -> None:
    """The largest key wins alone; nothing overflows."""
    query = torch.tensor([[[1000.0, 0.0], [0.0, 1000.0]]])
    key, value = torch.eye(2)[None], torch.tensor([[[1.0, 2.0], [3.0, 4.0]]])
    torch.testing.assert_close(attend(query, key, value, 1.0), value)
