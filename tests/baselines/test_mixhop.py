# N nodes, F features, D hidden, C classes, E edges.
from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import MixHopConv

from bagcn.baselines.mixhop import MixHop, MixHopConvolution
from dense import dense_adjacency, some_weights
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features


def test_convolution_of_pytorch_geometric() -> None:
    ours = MixHopConvolution(FEATURES, [4, 4, 4]).double()
    theirs = MixHopConv(FEATURES, 4, powers=[0, 1, 2], bias=False).double()
    fix_parameters(ours)
    with torch.no_grad():
        for their, our in zip(theirs.lins, ours.linears, strict=True):
            their.weight.copy_(our.weight.T)
    model, x = MixHop(FEATURES, 3, CLASSES).double(), fixed_features().double()
    _, adjacency = model.prepare(x, EDGES)
    torch.testing.assert_close(ours(x, adjacency), theirs(x, EDGES), atol=1e-10, rtol=0)


def test_dense_formula() -> None:
    """Uneven widths, a power without columns, and a second power with two segments."""
    model = MixHop(FEATURES, 9, CLASSES, shares=(24, 18, 20), segments=(0, 1, 2)).double().eval()
    fix_parameters(model)
    assert model.first.widths == (3, 3, 3)
    assert model.second.widths == (0, CLASSES, 2 * CLASSES)
    x, weight = fixed_features().double(), some_weights(EDGES)
    adjacency = dense_adjacency(EDGES, weight, NODES)
    none, one, two = (linear.weight for linear in model.first.linears)
    mixed = torch.cat([x @ none, adjacency @ x @ one, adjacency @ adjacency @ x @ two], 1)
    spread = (mixed - mixed.mean(0)) / (mixed.var(0, unbiased=False) + 1e-3).sqrt()
    hidden = (spread + model.shift).clamp_min(0)
    first, second = (linear.weight for linear in model.second.linears)
    far = adjacency @ adjacency @ hidden @ second
    share = model.q.exp() / model.q.exp().sum()
    expected = share[0] * (adjacency @ hidden @ first)
    expected = expected + share[1] * far[:, :CLASSES] + share[2] * far[:, CLASSES:]
    torch.testing.assert_close(model(x, EDGES, weight), expected, atol=1e-10, rtol=0)


@pytest.mark.parametrize(
    ("shares", "widths"), [((24, 18, 18), (24, 18, 18)), ((17, 23, 20), (17, 23, 20))]
)
def test_widths_of_the_authors(shares: tuple[int, ...], widths: tuple[int, ...]) -> None:
    assert MixHop(5, 60, 3, shares=shares).first.widths == widths


def test_one_segment_has_no_weights() -> None:
    model = MixHop(FEATURES, 6, CLASSES, segments=(0, 0, 1)).eval()
    assert model.q is None
    assert model(fixed_features(), EDGES).shape == (NODES, CLASSES)


def test_gradient_of_edge_weights() -> None:
    model = MixHop(FEATURES, 9, CLASSES).double().eval()
    fix_parameters(model)
    x, weight = fixed_features().double(), some_weights(EDGES).requires_grad_()
    assert torch.autograd.gradcheck(lambda w: model(x, EDGES, w), weight)


def test_shares_and_segments_disagree() -> None:
    with pytest.raises(ValueError, match="one number for each power; got 2 and 3"):
        MixHop(5, 6, 3, shares=(1, 1))
