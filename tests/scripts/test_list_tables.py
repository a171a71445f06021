from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "list_tables", ROOT / "scripts" / "list_tables.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lowest_loss_against_the_best_accuracy(script: ModuleType) -> None:
    """Ties in accuracy go to the lower loss; runs without a validation loss say nothing."""
    tied = {"val": [0.8, 0.8, 0.7], "val_loss": [1.0, 0.9, 0.5], "test": [0.1, 0.6, 0.7]}
    same = {"val": [0.5, 0.9], "val_loss": [0.9, 0.1], "test": [0.2, 0.3]}
    without = {"val": [None], "val_loss": [None], "test": [None]}
    runs = [{"curve": curve} for curve in (tied, same, without)]
    assert script.by_loss(runs) == pytest.approx(5.0)
    assert script.by_loss(runs[2:]) is None


@pytest.mark.parametrize(("number", "text"), [(0.256, "+0.26"), (-1.0, "−1.00"), (None, "–")])
def test_a_difference_has_a_sign(script: ModuleType, number: float | None, text: str) -> None:
    assert script.signed(number) == text
