# N nodes, C classes.
from __future__ import annotations

import pytest
import torch

from bagcn.baselines.gcn import GCN
from bagcn.baselines.sharpening import Sharpened, SharpenedGCN
from bagcn.ops import cross_entropy, sharpened_cross_entropy
from fixed import CLASSES, EDGES, FEATURES, NODES, fix_parameters, fixed_features, recorded, wave

Y = torch.arange(NODES) % CLASSES
LABELLED = torch.zeros(NODES, dtype=torch.bool).index_fill(0, torch.tensor([0, 1, 5, 9]), True)
EPOCH = torch.tensor(0)


def test_value_of_the_authors_code() -> None:
    logits = 3 * wave(NODES, CLASSES, phase=0.5)
    found = sharpened_cross_entropy(logits, Y, LABELLED, 0.6)
    torch.testing.assert_close(found, recorded("sharpening", "loss"), atol=1e-5, rtol=0)


def test_dense_formula() -> None:
    """Node by node: entropies of the unlabelled count for, those of the labelled against."""
    logits = wave(NODES, CLASSES, phase=0.5).double()
    expected = torch.zeros((), dtype=torch.float64)
    for i in range(NODES):
        p = logits[i].exp() / logits[i].exp().sum()
        entropy = sum(p[c] * (1 - p[c]) for c in range(CLASSES))
        expected += (-p[Y[i]].log() - 0.4 * entropy) / 4 if LABELLED[i] else 0.4 * entropy / 8
    found = sharpened_cross_entropy(logits, Y, LABELLED, 0.4)
    torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


def test_without_weight_it_is_cross_entropy() -> None:
    model, plain = SharpenedGCN(FEATURES, 4, CLASSES, sharpening=0.0), GCN(FEATURES, 4, CLASSES)
    fix_parameters(model)
    fix_parameters(plain)
    graph = model.eval().prepare(fixed_features(), EDGES)
    found = model.objective(*graph, Y, LABELLED, EPOCH)
    expected = cross_entropy(plain.eval()(*graph), Y, LABELLED)
    torch.testing.assert_close(found, expected, atol=0, rtol=0)


def test_every_node_labelled() -> None:
    logits, everyone = wave(NODES, CLASSES, phase=0.5), torch.ones(NODES, dtype=torch.bool)
    entropy = (1 - logits.softmax(1).square().sum(1)).mean()
    expected = cross_entropy(logits, Y, everyone) - 0.5 * entropy
    torch.testing.assert_close(sharpened_cross_entropy(logits, Y, everyone, 0.5), expected)


def test_any_model_can_have_it() -> None:
    class Fixed(torch.nn.Module):
        def forward(self, x: torch.Tensor, graph: None) -> torch.Tensor:
            return x

    class SharpenedFixed(Sharpened, Fixed):
        sharpening = 0.6

    logits = 3 * wave(NODES, CLASSES, phase=0.5)
    found = SharpenedFixed().objective(logits, None, Y, LABELLED, EPOCH)
    assert float(found) == pytest.approx(float(recorded("sharpening", "loss")), abs=1e-5)
