"""Which epoch of a member counts: the one with the best validation accuracy.

M members, N nodes, C classes, T epochs. Everything lies in tensors on the device, so that looking
at an epoch never makes the host wait.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["CURVES", "Scores", "note_epoch", "selection_state"]

Tensors = dict[str, Tensor]
CURVES = ("loss", "val", "val_loss", "test")


class Scores:
    """How good predictions are on every member's own split.

    Args:
        y: classes (N,), -1 where unknown.
        val: validation nodes, (M, N) bool.
        test: test nodes, (M, N) bool.
    """

    def __init__(self, y: Tensor, val: Tensor, test: Tensor) -> None:
        self.y, self.val, self.test = y, val, test

    def narrow(self, keep: Tensor) -> None:
        """Go on with these members only; ``keep`` holds their positions."""
        self.val, self.test = self.val[keep], self.test[keep]

    def __call__(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return validation accuracy, validation loss and test accuracy of (M, N, C): (M,) each."""
        classes = self.y.clamp_min(0).expand(logits.shape[:2])  # (M, N)
        each = F.cross_entropy(logits.movedim(-1, 1), classes, reduction="none")  # (M, N)
        right = logits.argmax(-1) == self.y  # (M, N)
        return _mean(right, self.val), _mean(each, self.val), _mean(right, self.test)


def selection_state(members: int, epochs: int, device: torch.device) -> Tensors:
    """Return what is noted during training, before the first epoch."""
    return {
        "epoch": torch.zeros((), dtype=torch.int32, device=device),
        "curves": torch.full((epochs, len(CURVES), members), torch.nan, device=device),
        "best_rank": torch.full((members,), -torch.inf, device=device),
        "best_tie": torch.full((members,), torch.inf, device=device),
        "best_val": torch.full((members,), torch.nan, device=device),
        "best_val_loss": torch.full((members,), torch.nan, device=device),
        "best_test": torch.full((members,), torch.nan, device=device),
        "best_epoch": torch.full((members,), -1, dtype=torch.int32, device=device),
        "epochs": torch.zeros(members, dtype=torch.int32, device=device),
        "diverged": torch.full((members,), -1, dtype=torch.int32, device=device),
        "active": torch.ones(members, dtype=torch.bool, device=device),
    }


def note_epoch(
    state: Tensors, kept: dict[str, tuple[Tensor, Tensor]], numbers: Tensor, *, by_loss: bool
) -> Tensor:
    """Note an epoch in place, keep the tensors of members at their best; return who improved.

    Args:
        state: from :func:`selection_state`.
        kept: pairs of (what to keep the best of, its present value), stacked over members.
        numbers: the epoch's value of every curve, (4, M).
        by_loss: whether the lowest training loss counts, not the best validation accuracy.
    """
    loss, val, val_loss, test = numbers
    rank, tie = (-loss, torch.zeros_like(loss)) if by_loss else (val, val_loss)
    active, epoch = state["active"], state["epoch"]
    state["curves"].index_copy_(0, epoch.long()[None], numbers.where(active, torch.nan)[None])
    failed = active & ~torch.isfinite(loss)
    state["diverged"].copy_(torch.where(failed, epoch, state["diverged"]))
    tied = (rank == state["best_rank"]) & (tie < state["best_tie"])
    better: Tensor = active & ~failed & ((rank > state["best_rank"]) | tied)
    now = {"rank": rank, "tie": tie, "val": val, "val_loss": val_loss, "test": test, "epoch": epoch}
    for name, value in now.items():
        best = state[f"best_{name}"]
        best.copy_(torch.where(better, value, best))
    for best, value in kept.values():
        best.copy_(torch.where(better.view(-1, *[1] * (best.dim() - 1)), value, best))
    state["epochs"] += active
    active &= ~failed
    return better


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean over each member's masked nodes: (M, N), (M, N) to (M,)."""
    mean: Tensor = values.masked_fill(~mask, 0).sum(1) / mask.sum(1)
    return mean
