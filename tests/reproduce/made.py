"""A small study and a made-up store for it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bagcn.reproduce.definition import Study, parse_study
from bagcn.reproduce.grid import cells_of
from bagcn.study.store import Record, Store

STUDY = """
title = "Two models on two data sets"
where = "nowhere"
seeds = 6

[[columns]]
name = "Cora"
dataset = "cora"

[[columns]]
name = "Citeseer"
dataset = "citeseer"

[[rows]]
name = "GCN"
model = "gcn"
paper = [81.7, [70.9, 0.5]]

[[rows]]
name = "SGC"
model = "sgc"
note = "no hidden layer"
"""


def study(text: str = STUDY) -> Study:
    return parse_study("made", tomllib.loads(text))


def record(recipe: str, seed: int, test: float, **more: Any) -> Record:
    return {
        "id": f"{recipe}-{seed}",
        "model": "gcn",
        "dataset": "cora",
        "variant": "official",
        "recipe": recipe,
        "seed": seed,
        "test": test,
        "val": 0.5,
        "diverged": None,
        "seconds": 1.0,
        "peak_memory": 1000,
        "split": {"name": "public", "hash": "0"},
        "hardware": {"device": "cpu", "name": "made up"},
        **more,
    }


def stored(
    folder: Path, made: Study, tests: Mapping[tuple[str, str], list[float]]
) -> dict[tuple[str, str], str]:
    """Store these test accuracies (%) of seeds from 0 on; return the recipes of all cells."""
    hashes = {}
    for cell in cells_of(made):
        place = (cell.row.key, cell.column.key)
        hashes[place] = cell.recipes[0].hash
        Store(folder / "made").add(
            record(hashes[place], seed, test / 100)
            for seed, test in enumerate(tests.get(place, ()))
        )
    return hashes
