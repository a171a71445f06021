# N nodes, C classes.
from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bagcn.nn import consistency, sharpen


def logits(seed: int, nodes: int = 12, classes: int = 4) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(nodes, classes, generator=generator, dtype=torch.float64)
    return (1.5 * drawn).requires_grad_()


def gradients(loss: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, inputs)


def test_sharpen_by_hand() -> None:
    """0.5² : 0.3² : 0.2² = 25 : 9 : 4."""
    found = sharpen(torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64), 0.5)
    expected = torch.tensor([[25.0, 9.0, 4.0]], dtype=torch.float64) / 38
    torch.testing.assert_close(found, expected, atol=1e-14, rtol=0)


def test_sharpen_towards_one_hot_and_flat() -> None:
    p = torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64)
    torch.testing.assert_close(sharpen(p, 1.0), p)
    torch.testing.assert_close(sharpen(p, 0.01), torch.eye(3, dtype=torch.float64)[:1])
    torch.testing.assert_close(sharpen(p, 1e9), torch.full_like(p, 1 / 3))


def test_sharpen_a_certain_prediction() -> None:
    """A probability of exactly 0 stays 0, in float32 too, and brings no NaN."""
    p = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    torch.testing.assert_close(sharpen(p, 0.5), p)


@pytest.mark.parametrize("confidence", [0.0, 0.5])
def test_without_sharpening_it_is_cl2_at_a_quarter(confidence: float) -> None:
    """Values and gradients: the paper's "w/o S" and its CL2 differ by a factor of 4 only."""
    p, q = logits(0), logits(1)
    plain = consistency(p, q, temperature=1.0, confidence=confidence)
    cl2 = consistency(p, q, target="pairwise", confidence=confidence) / 4
    torch.testing.assert_close(plain, cl2, atol=1e-14, rtol=0)
    torch.testing.assert_close(gradients(plain, p, q), gradients(cl2, p, q), atol=1e-14, rtol=0)


def test_without_sharpening_the_gradient_is_the_same_detached_or_not() -> None:
    p, q = logits(0), logits(1)
    for detach in (True, False):
        found = gradients(consistency(p, q, temperature=1.0, detach=detach), p, q)
        torch.testing.assert_close(
            found, gradients(consistency(p, q, target="pairwise") / 4, p, q), atol=1e-14, rtol=0
        )


def test_the_sharpened_average_is_a_constant() -> None:
    """Gradients are those of the distance to a fixed target; with ``detach=False`` they are not."""
    p, q = logits(2), logits(3)
    y = sharpen(((p.softmax(1) + q.softmax(1)) / 2).detach(), 0.7)
    by_hand = 0.5 * ((y - p.softmax(1)) ** 2 + (y - q.softmax(1)) ** 2).sum() / len(y)
    found = consistency(p, q, temperature=0.7)
    torch.testing.assert_close(found, by_hand, atol=1e-14, rtol=0)
    expected = gradients(by_hand, p, q)
    torch.testing.assert_close(gradients(found, p, q), expected, atol=1e-14, rtol=0)
    through = gradients(consistency(p, q, temperature=0.7, detach=False), p, q)
    assert float((through[0] - expected[0]).abs().max()) > 1e-3


def test_only_confident_nodes_take_part() -> None:
    """The sum runs over the confident nodes; the mean is over all, so weights stay comparable."""
    p, q = logits(4), logits(5)
    confident = ((p.softmax(1) + q.softmax(1)) / 2).amax(dim=1) > 0.5
    assert 0 < int(confident.sum()) < len(p)
    found = consistency(p, q, temperature=0.7, confidence=0.5)
    part = consistency(p[confident], q[confident], temperature=0.7) * confident.sum() / len(p)
    torch.testing.assert_close(found, part, atol=1e-14, rtol=0)
    assert float(gradients(found, p)[0][~confident].abs().max()) == 0
    everyone = consistency(p, q, temperature=0.7, confidence=torch.tensor(0.0))
    torch.testing.assert_close(everyone, consistency(p, q, temperature=0.7))


def test_equal_views_still_sharpen() -> None:
    """Where the views agree, what is left is the distance to their own sharpened prediction."""
    p = logits(6).detach()
    one = p.softmax(1)
    expected = (sharpen(one, 0.5) - one).square().sum() / len(p)
    torch.testing.assert_close(consistency(p, p, temperature=0.5), expected)
    assert float(consistency(p, p, temperature=1.0)) < 1e-30
    assert float(consistency(p, p, target="pairwise")) == 0


def test_more_than_two_views() -> None:
    """Means over the views, or over their pairs, in place of the halves."""
    three = [logits(seed) for seed in (0, 1, 2)]
    p, q, r = (view.softmax(1) for view in three)
    y = sharpen(((p + q + r) / 3).detach(), 0.6)
    by_hand = ((y - p) ** 2 + (y - q) ** 2 + (y - r) ** 2).sum() / 3 / len(p)
    torch.testing.assert_close(consistency(*three, temperature=0.6), by_hand)
    pairs = ((p - q) ** 2 + (p - r) ** 2 + (q - r) ** 2).sum() / 3 / len(p)
    torch.testing.assert_close(consistency(*three, target="pairwise"), pairs)
