"""A result as a line of JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from bagcn.data import Split
from bagcn.study import environment
from bagcn.study.recipe import load_recipe
from bagcn.study.record import Run, record_of
from bagcn.training import Result


def result(**changes: Any) -> Result:
    curves = {name: [1 / 3 + k for k in range(25)] for name in ("loss", "val", "val_loss", "test")}
    plain = {
        "seed": 3,
        "test": 0.8,
        "val": 0.7,
        "val_loss": 1 / 3,
        "best_epoch": 4,
        "epochs": 25,
        "diverged": None,
        "seconds": 1.23456789,
        "peak_memory": 1000,
        "together": 2,
        "threads": 1,
        "curves": curves,
        "weights": {"a": torch.zeros(2)},
    }
    return Result(**{**plain, **changes})


def record(**changes: Any) -> dict[str, Any]:
    split = Split("some", *(torch.tensor([k]) for k in range(3)))
    found = record_of(Run(load_recipe("gcn", "cora"), 3, split), result(**changes), "cpu")
    again: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    return again


def test_ten_points_of_every_curve_and_no_weights() -> None:
    found = record()
    assert found["curve"]["epoch"] == [2, 5, 8, 10, 12, 15, 18, 20, 22, 25]
    assert found["curve"]["loss"][-1] == round(1 / 3 + 24, 5)
    assert found["val_loss"] == round(1 / 3, 6)
    assert found["seconds"] == 1.234568
    assert "weights" not in found
    assert "curves" not in found
    short = {name: [0.5, 0.25] for name in ("loss", "val", "val_loss", "test")}
    assert record(curves=short)["curve"]["epoch"] == [1, 2]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_json_cannot_say_is_nothing(value: float) -> None:
    lost = {name: [0.5, value] for name in ("loss", "val", "val_loss", "test")}
    found = record(test=value, diverged=1, curves=lost)
    assert (found["test"], found["diverged"]) == (None, 1)
    assert found["curve"]["loss"] == [0.5, None]


def test_where_it_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    found = record()
    assert found["hardware"]["device"] == "cpu"
    assert found["hardware"]["cores"] >= 1
    assert {"bagcn", "python", "torch", "numpy"} <= found["versions"].keys()
    environment.commit.cache_clear()
    monkeypatch.setenv("BAGCN_COMMIT", "abc123")  # a copy that is no checkout is told
    assert record()["commit"] == "abc123"
    environment.commit.cache_clear()
