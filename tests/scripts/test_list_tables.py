from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def script(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("list_tables")


def test_the_lowest_loss_against_the_best_accuracy(script: ModuleType) -> None:
    """Ties in accuracy go to the lower loss; runs without a validation loss say nothing."""
    tied = {"val": [0.8, 0.8, 0.7], "val_loss": [1.0, 0.9, 0.5], "test": [0.1, 0.6, 0.7]}
    same = {"val": [0.5, 0.9], "val_loss": [0.9, 0.1], "test": [0.2, 0.3]}
    without = {"val": [None], "val_loss": [None], "test": [None]}
    runs = [{"curve": curve} for curve in (tied, same, without)]
    assert script.by_loss(runs) == pytest.approx(5.0)
    assert script.by_loss(runs[2:]) is None
