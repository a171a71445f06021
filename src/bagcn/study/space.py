"""What tuning searches: ranges and choices, as a recipe file declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Choice", "Range", "Space", "parse_space", "space_text"]


@dataclass(frozen=True)
class Range:
    """Any number from ``low`` to ``high``; trials that differ in it can be trained together."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Choice:
    """One of some values; trials that differ in it are different computations."""

    values: tuple[Any, ...]


Space = Mapping[str, Range | Choice]


def parse_space(space: Mapping[str, Any]) -> dict[str, Range | Choice]:
    """Read the ``[space]`` table of a recipe file.

    ``lr = { low = 1e-3, high = 1e-1, log = true }`` is a range, ``hidden_channels = [64, 128]``
    are choices.
    """
    return {name: _dimension(name, value) for name, value in space.items()}


def _dimension(name: str, value: Any) -> Range | Choice:
    if isinstance(value, list) and value:
        return Choice(tuple(value))
    if isinstance(value, dict) and {"low", "high"} <= value.keys() <= {"low", "high", "log"}:
        low, high, log = float(value["low"]), float(value["high"]), bool(value.get("log", False))
        if low < high and (low > 0 or not log):
            return Range(low, high, log)
    raise ValueError(
        f"cannot read the search space of {name}: {value!r}; expected a list of choices, or "
        "{ low = 1e-3, high = 1e-1, log = true } with low < high (and low > 0 where log)"
    )


def space_text(space: Space) -> str:
    """Return the space in one line: ``lr 0.001..0.1 log, hidden_channels 64|128``."""
    return ", ".join(f"{name} {_dimension_text(dimension)}" for name, dimension in space.items())


def _dimension_text(dimension: Range | Choice) -> str:
    if isinstance(dimension, Choice):
        return "|".join(map(str, dimension.values))
    return f"{dimension.low:g}..{dimension.high:g}{' log' if dimension.log else ''}"
