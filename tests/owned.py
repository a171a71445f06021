"""A small library in tables, as the example makes it, and a model trained on it."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pandas as pd

EXAMPLES = Path(__file__).parent.parent / "examples"
TOPICS = ["astronomy", "botany", "chess", "dance"]


@cache
def example(name: str) -> ModuleType:
    """Return a script of the examples as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def library(folder: Path, num_nodes: int = 120) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write the example's tables of articles and citations, and return them."""
    nodes, edges = example("make_tables").make_tables(folder, num_nodes)
    return nodes, edges
