"""The cross-entropy of the labelled nodes.

N nodes, C classes.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

__all__ = ["cross_entropy"]


def cross_entropy(logits: Tensor, y: Tensor, labelled: Tensor) -> Tensor:
    """Return the mean cross-entropy of the labelled nodes.

    A mask, not an index: its shape does not depend on the labels, so that members of a
    population with different splits can be computed together.

    Args:
        logits: (N, C).
        y: classes (N,); of unlabelled nodes any value.
        labelled: (N,) bool.
    """
    losses = F.cross_entropy(logits, y.clamp_min(0), reduction="none")  # (N,)
    return (losses * labelled).sum() / labelled.sum()
