"""A run as one line of JSON: all that decided it, and all that came of it."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

import torch

from bagcn import __version__
from bagcn.data import Split
from bagcn.study.environment import commit, hardware, versions
from bagcn.study.recipe import Recipe
from bagcn.study.store import Record
from bagcn.training import Result

__all__ = ["Run", "record_of"]


@dataclass(frozen=True)
class Run:
    """A run that may or may not have taken place yet."""

    recipe: Recipe
    seed: int
    split: Split

    @property
    def id(self) -> str:
        """Return twelve hex digits that change with recipe, seed, split or this version."""
        parts = [self.recipe.hash, self.seed, self.split.hash, __version__]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def record_of(run: Run, result: Result, device: torch.device | str) -> Record:
    """Return the record of a finished run; accuracies are fractions.

    Args:
        run: what was run.
        result: what came of it.
        device: where it ran.
    """
    recipe, split = run.recipe, run.split
    return {
        "id": run.id,
        "model": recipe.model,
        "dataset": recipe.dataset,
        "variant": recipe.variant,
        "recipe": recipe.hash,
        "settings": recipe.settings(),
        "seed": run.seed,
        "split": {"name": split.name, "hash": split.hash},
        **_numbers(result),
        "hardware": hardware(device),
        "versions": {"bagcn": __version__, **versions()},
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _numbers(result: Result) -> dict[str, Any]:
    plain = asdict(result)
    for name in ("weights", "curves", "seed"):
        plain.pop(name)
    plain = {name: _finite(value) for name, value in plain.items()}
    plain["curve"] = _summary(result.curves)
    return plain


def _summary(curves: dict[str, list[float]]) -> dict[str, list[float | None]]:
    """Return ten points of every curve, the last epoch among them."""
    length = len(curves["loss"])
    at = sorted({round(length * k / 10) - 1 for k in range(1, 11)} - {-1})
    points = {name: [_finite(curve[i], 5) for i in at] for name, curve in curves.items()}
    return {"epoch": [i + 1 for i in at], **points}


def _finite(value: Any, digits: int = 6) -> Any:
    """Round a float; what JSON cannot say is nothing."""
    if not isinstance(value, float):
        return value
    return round(value, digits) if math.isfinite(value) else None
