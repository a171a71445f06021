"""Seeds as people write them."""

from __future__ import annotations

import re

__all__ = ["FIRST_TUNING_SEED", "parse_seeds"]

FIRST_TUNING_SEED = 10_000
"""Tuning draws its splits and its weights from this seed on; reported runs start at 0."""


def parse_seeds(text: str) -> list[int]:
    """Read ``"20"`` (the seeds 0 to 19), ``"5..9"`` (5 to 9) or ``"1,4,7"``."""
    if re.fullmatch(r"\d+", text) and int(text) > 0:
        return list(range(int(text)))
    if match := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        first, last = int(match[1]), int(match[2])
        if first <= last:
            return list(range(first, last + 1))
    if re.fullmatch(r"\d+(,\d+)+", text):
        return sorted({int(seed) for seed in text.split(",")})
    raise ValueError(
        f"cannot read the seeds {text!r}; expected a number of seeds (20), a range (5..9) "
        "or a list (1,4,7)"
    )
