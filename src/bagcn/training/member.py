"""One run of a population: what goes in, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import Tensor

from bagcn.data import Split

__all__ = ["Member", "Result", "divergence"]


@dataclass(frozen=True)
class Member:
    """One run of a population.

    Args:
        seed: of the initial parameters and the dropout masks.
        split: which nodes are learnt from, selected on and tested on.
        settings: where this member differs from the common settings: the learning rate, the
            weight decay, or any real-valued argument of the model.
    """

    seed: int
    split: Split
    settings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What came of one member, at the epoch of its best validation accuracy.

    ``seconds`` and ``peak_memory`` are the member's share of what ``together`` members took, on
    ``threads`` threads of the CPU.
    """

    seed: int
    test: float
    val: float
    val_loss: float
    best_epoch: int
    epochs: int
    diverged: int | None
    seconds: float
    peak_memory: int
    together: int
    threads: int
    curves: dict[str, list[float]]
    weights: dict[str, Tensor] | None = None

    def check(self) -> Result:
        """Return the result, or raise if the run diverged."""
        if self.diverged is not None:
            raise divergence(self.seed, self.diverged)
        return self


def divergence(seed: int, epoch: int) -> ValueError:
    """Return the error of a run whose loss was lost in this epoch, counted from 0."""
    return ValueError(
        f"seed {seed}: the loss became NaN or infinite in epoch {epoch + 1}; "
        "try a smaller learning rate, or scale the features"
    )
