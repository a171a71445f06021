"""What a training run can be told, apart from the model's own arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

__all__ = ["TrainSettings"]


@dataclass(frozen=True, kw_only=True)
class TrainSettings:
    """How to train.

    Args:
        epochs: full-batch steps, at most.
        lr: learning rate of Adam.
        weight_decay: L2 penalty, added to the gradient.
        decay: which parameters it acts on: ``"weights"`` (all with two or more dimensions),
            ``"first"`` (the first of these, as in the original GCN), ``"all"``, or a factor for
            each prefix of the parameters' names (the longest that fits counts; none is 0).
        ema: predict with a moving average of the weights, of which so much is kept in every epoch;
            0 predicts with the weights themselves.
        patience: stop when validation has not improved for so many epochs; 0 never stops early.
    """

    epochs: int = 200
    lr: float = 0.01
    weight_decay: float = 5e-4
    decay: str | Mapping[str, float] = "weights"
    patience: int = 0
    ema: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("patience", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.lr <= 0:
            raise ValueError(f"lr must be above 0, got {self.lr}")
        if not 0 <= self.ema < 1:
            raise ValueError(f"ema must be at least 0 and below 1, got {self.ema}")
        if self.weight_decay < 0:
            raise ValueError(f"weight_decay must not be negative, got {self.weight_decay}")
        if not isinstance(self.decay, Mapping) and self.decay not in ("weights", "first", "all"):
            raise ValueError(f"decay must be one of weights, first, all; got {self.decay!r}")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all settings."""
        return tuple(field.name for field in fields(cls))
