# N nodes, C classes, M members.
from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.func import vmap

from bagcn.ops import cross_entropy


def test_mean_of_the_labelled_nodes() -> None:
    """Unlabelled nodes (class -1) take no part, neither in the value nor in the gradient."""
    logits = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    y = torch.tensor([0, 2, -1, 1, -1, 2])
    labelled = torch.tensor([True, True, False, False, False, True])
    found = cross_entropy(logits, y, labelled)
    expected = F.cross_entropy(logits[labelled], y[labelled])
    torch.testing.assert_close(found, expected)
    ours, theirs = (torch.autograd.grad(loss, logits)[0] for loss in (found, expected))
    torch.testing.assert_close(ours, theirs)
    assert float(ours[~labelled].abs().max()) == 0


def test_members_with_numbers_of_labels_of_their_own() -> None:
    logits = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(0))
    y = torch.tensor([0, 2, 0, 1, 1, 2])
    labelled = torch.tensor([[1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 0]], dtype=torch.bool)
    found = vmap(lambda out, mask: cross_entropy(out, y, mask))(logits, labelled)
    expected = [F.cross_entropy(logits[i, m], y[m]) for i, m in enumerate(labelled)]
    torch.testing.assert_close(found, torch.stack(expected))
