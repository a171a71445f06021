"""Models to compare with, one paper a file.

A file holds the model's class and its cards in ``CARDS``; every file here is found by itself, so
a new model is one new file (and ``recipes/NAME.toml`` with its settings).
"""

from __future__ import annotations

import importlib
import pkgutil

from bagcn.baselines.card import Card

__all__ = ["MODELS", "Card"]


def _found() -> dict[str, Card]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names if name != "card"]
    return {card.name: card for module in modules for card in module.CARDS}


MODELS: dict[str, Card] = _found()
"""Every model by its name."""
