"""Node classification with learned shortcuts between distant nodes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier
    from bagcn.nn import BAGCN, BiaffineLayer

__version__ = "0.1.0"

__all__ = ["BAGCN", "BiaffineLayer", "NodeClassifier", "__version__"]

_HOMES = {"NodeClassifier": "bagcn.estimator", "BAGCN": "bagcn.nn", "BiaffineLayer": "bagcn.nn"}


def __getattr__(name: str) -> Any:
    """Import what is asked for only now: torch takes seconds, and ``--help`` needs none of it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
