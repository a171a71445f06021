"""Values as people write them on a command line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

__all__ = ["parse_bytes", "parse_settings"]

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value``, with values as in TOML and plain words as strings."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"expected --set KEY=VALUE, like --set lr=0.02, got {pair!r}")
        settings[key.strip()] = _value(pair, text.strip())
    return settings


def _value(pair: str, text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    try:
        content = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        content = {"value": text} if re.fullmatch(r"[A-Za-z][\w.:/-]*", text) else {}
    if content.keys() != {"value"}:
        raise ValueError(
            f"cannot read the value in --set {pair}; write a number (0.02), true or false, "
            "a word, or a list ([64, 128])"
        )
    return content["value"]


def parse_bytes(text: str) -> int:
    """Read a size in memory: ``4GiB``, ``500MB`` or ``2g``; a unit is a power of 1024."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if size < 1:
        raise ValueError(f"cannot read the size {text!r}; expected one like 4GiB or 500MiB")
    return size
