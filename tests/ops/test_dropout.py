# N nodes, M members.
from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import vmap

from bagcn.ops import SparseMatrix, dropout, random_stream, stream_key, uniform

SIZE = 100_000


def key(seed: int, epoch: int = 0) -> Tensor:
    return stream_key(torch.tensor(seed, dtype=torch.int32), torch.tensor(epoch, dtype=torch.int32))


def masks(seed: int, epoch: int = 0, p: float = 0.5, calls: int = 1, size: int = SIZE) -> Tensor:
    """Which entries survive, (calls, size) bool."""
    with random_stream(key(seed, epoch)):
        return torch.stack([dropout(torch.ones(size), p) != 0 for _ in range(calls)])


def uncorrelated(*drawn: Tensor) -> bool:
    """Whether no two correlate by five standard errors: one pair of fair coins in 1.7 million."""
    correlation = torch.corrcoef(torch.stack(drawn).double())
    correlation.fill_diagonal_(0)
    return float(correlation.abs().max()) < 5 / len(drawn[0]) ** 0.5


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.6, 0.95])
@pytest.mark.parametrize("seed", [0, 1, 7, 2**31 - 1, -(2**31)])
def test_frequency_and_scale(seed: int, p: float) -> None:
    with random_stream(key(seed)):
        out = dropout(torch.full((SIZE,), 3.0), p)
    kept = out != 0
    torch.testing.assert_close(out[kept], torch.full((int(kept.sum()),), 3.0 / (1 - p)))
    error = 5 * (p * (1 - p) / SIZE) ** 0.5
    assert float(kept.double().mean()) == pytest.approx(1 - p, abs=error)


def test_seeds_epochs_and_calls_are_uncorrelated() -> None:
    drawn = [masks(seed, epoch)[0] for seed in (0, 1, 2, 1000) for epoch in (0, 1, 2, 199)]
    drawn += list(masks(0, 0, calls=5)[1:])
    assert uncorrelated(*drawn)


@pytest.mark.parametrize("shift", [1, 2, 3, 64, 1433, 2708])
def test_neighbouring_positions_are_uncorrelated(shift: int) -> None:
    """The same column of other rows included; in one call, and from one call to the next."""
    first, second = masks(3, 5, calls=2)
    assert uncorrelated(first[:-shift], first[shift:])
    assert uncorrelated(first[:-shift], second[shift:])


def test_counts_in_blocks_spread_like_coins() -> None:
    """The variance of the survivors in blocks of 100 is the binomial's, 25."""
    counts = masks(11)[0].view(-1, 100).sum(dim=1).double()
    assert float(counts.var()) == pytest.approx(25, rel=5 * (2 / len(counts)) ** 0.5)


def test_a_position_over_the_epochs() -> None:
    """Every single node is dropped as often as it should be over a training run's epochs."""
    epochs = 2000
    kept = torch.stack([masks(0, e, p=0.4, size=50)[0] for e in range(epochs)]).double()
    error = 5 * (0.4 * 0.6 / epochs) ** 0.5
    assert float((kept.mean(dim=0) - 0.6).abs().max()) < error


def test_the_same_key_is_the_same_mask() -> None:
    assert torch.equal(masks(5, 9, calls=3), masks(5, 9, calls=3))


def test_recorded_mask() -> None:
    """Numbers that a change of the hash would change: results would no longer reproduce."""
    found = [
        f"{int(''.join(str(int(b)) for b in m), 2):08x}" for m in masks(1, 2, calls=2, size=32)
    ]
    assert found == RECORDED


RECORDED = ["db46c806", "34894d70"]


@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.1, 0.5, 0.9)])
def test_a_member_draws_what_it_would_draw_alone(rates: tuple[float, ...]) -> None:
    seeds = torch.tensor([3, 4, 900], dtype=torch.int32)
    epoch = torch.tensor(6, dtype=torch.int32)

    def run(seed: Tensor, p: Tensor) -> Tensor:
        with random_stream(stream_key(seed, epoch)):
            return torch.cat([dropout(torch.ones(500), p), dropout(torch.ones(500), p)])

    together = vmap(run, randomness="different")(seeds, torch.tensor(rates))
    for number, rate in enumerate(rates):
        with random_stream(stream_key(seeds[number], epoch)):
            alone = torch.cat([dropout(torch.ones(500), rate) for _ in range(2)])
        torch.testing.assert_close(together[number], alone)


def test_members_of_one_rate_and_a_sparse_matrix() -> None:
    nodes = torch.arange(300)
    matrix = SparseMatrix.from_coo(nodes, nodes, torch.full((300,), 2.0), (300, 300))
    keys = torch.stack([key(1), key(2)])

    def run(own: Tensor) -> Tensor:
        with random_stream(own):
            return dropout(matrix, 0.25) @ torch.ones(300, 1)

    together = vmap(run)(keys)
    torch.testing.assert_close(together, torch.stack([run(own) for own in keys]))
    torch.testing.assert_close(together.unique(), torch.tensor([0.0, 2 / 0.75]))
    assert not torch.equal(together[0], together[1])


def test_a_sparse_matrix_keeps_its_zeros() -> None:
    matrix = SparseMatrix.from_coo(
        torch.tensor([0, 1, 2]), torch.tensor([1, 2, 0]), torch.tensor([1.0, 2.0, 3.0]), (3, 3)
    )
    with random_stream(key(0)):
        out = dropout(matrix, 0.5)
    assert out.pattern is matrix.pattern
    assert all(v in (0.0, 2.0 * w) for v, w in zip(out.values.tolist(), [1, 2, 3], strict=True))


def test_nothing_is_dropped_in_evaluation_or_at_rate_0() -> None:
    x = torch.ones(10)
    with random_stream(key(0)):
        assert dropout(x, 0.5, training=False) is x
        assert dropout(x, 0.0) is x


def test_gradient_passes_where_the_value_does() -> None:
    x = torch.ones(1000, requires_grad=True)
    with random_stream(key(0)):
        out = dropout(x, 0.3)
    out.sum().backward()
    torch.testing.assert_close(x.grad, out.detach())


def test_without_a_key_torch_draws() -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        first, second = dropout(torch.ones(1000), 0.5), dropout(torch.ones(1000), 0.5)
        torch.manual_seed(1)
        again = dropout(torch.ones(1000), 0.5)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5])
def test_a_rate_that_is_none(rate: float) -> None:
    with pytest.raises(ValueError, match=f"dropout must be from 0 to below 1, got {rate}"):
        dropout(torch.ones(3), rate)


def test_uniform() -> None:
    with random_stream(key(2)):
        u, v = uniform(torch.empty(SIZE)), uniform(torch.empty(SIZE, dtype=torch.float64))
    assert float(u.min()) >= 0
    assert float(u.max()) < 1
    assert float(u.mean()) == pytest.approx(0.5, abs=5 * (1 / 12 / SIZE) ** 0.5)
    assert v.dtype == torch.float64
    histogram = torch.histc(u, bins=20, min=0, max=1)
    chi_square = float(((histogram - SIZE / 20) ** 2 / (SIZE / 20)).sum())
    assert chi_square < 50.8  # 19 degrees of freedom: one in 10,000
    assert uncorrelated(u, v)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_gpu_draws_the_same_masks() -> None:
    """Its hash is a kernel of its own; alone and as members of a population."""
    keys = torch.stack([key(seed, epoch) for seed, epoch in ((0, 0), (5, 3), (-1, 199))])

    def drawn(k: Tensor, like: Tensor) -> Tensor:
        with random_stream(k):
            return torch.stack([uniform(like) for _ in range(3)])

    like = torch.empty(123, 45)
    here = torch.stack([drawn(k, like) for k in keys])
    there = torch.stack([drawn(k.cuda(), like.cuda()) for k in keys])
    together = vmap(drawn, in_dims=(0, None))(keys.cuda(), like.cuda())
    assert torch.equal(here, there.cpu())
    assert torch.equal(here, together.cpu())
