"""``bagcn evaluate``: tables on the terminal, JSON, and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bagcn import NodeClassifier, evaluation
from bagcn.bundle import load
from cli.conftest import Bagcn
from owned import TOPICS, library


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    nodes, edges = library(tmp_path_factory.mktemp("library"))
    fitted = NodeClassifier(epochs=20, hidden_channels=8, device="cpu")
    path = tmp_path_factory.mktemp("evaluate") / "model"
    fitted.fit(nodes, "topic", edges=edges).save(path)
    return path


@pytest.fixture(scope="module")
def expected(model: Path) -> dict[str, Any]:
    return evaluation.evaluate(load(model, "cpu"))


def rows(out: str) -> list[list[str]]:
    return [[c.strip() for c in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]


def test_the_tables(bagcn: Bagcn, model: Path, expected: dict[str, Any]) -> None:
    answer = bagcn("evaluate", model)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[0] == (
        f"On {expected['nodes']} test nodes: accuracy {expected['accuracy']:.1%}, macro-F1 "
        f"{expected['macro_f1']:.1%}, calibration error {expected['calibration_error']:.3f}."
    )
    found, curve = rows(answer.out), expected["reliability"]
    methods = {"this model": expected, **expected["baselines"]}
    assert found[:4] == [
        [name, f"{row['accuracy']:.1%}", f"{row['macro_f1']:.1%}"] for name, row in methods.items()
    ]
    assert found[4:8] == [
        [
            row["class"],
            *(f"{row[key]:.3f}" for key in ("precision", "recall", "f1")),
            str(row["nodes"]),
        ]
        for row in expected["per_class"]
    ]
    bins = zip(curve["confidence"], curve["accuracy"], curve["count"], strict=True)
    assert found[8:-4] == [[f"{c:.3f}", f"{a:.3f}", str(n)] for c, a, n in bins]
    assert found[-4:] == [
        [name, *map(str, row)] for name, row in zip(TOPICS, expected["confusion"], strict=True)
    ]


def test_json(bagcn: Bagcn, model: Path, expected: dict[str, Any]) -> None:
    assert json.loads(bagcn("evaluate", model, "--json").out) == expected


def test_the_files(bagcn: Bagcn, model: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    answer = bagcn("evaluate", model, "--out", tmp_path / "report")
    assert answer.err == f"evaluation.json and evaluation.png are in {tmp_path / 'report'}\n"
    assert json.loads((tmp_path / "report" / "evaluation.json").read_text()) == expected
    assert (tmp_path / "report" / "evaluation.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(list((tmp_path / "report").iterdir())) == 2


def test_no_room_on_the_disk(bagcn: Bagcn, model: Path, tmp_path: Path, small_files: None) -> None:
    answer = bagcn("evaluate", model, "--out", tmp_path / "report")
    assert "there is no room on the disk for " in answer.error
    assert list((tmp_path / "report").iterdir()) == []


def test_what_is_no_model(bagcn: Bagcn, tmp_path: Path) -> None:
    assert bagcn("evaluate", tmp_path).error == (
        f"{tmp_path} is no saved model: it holds no config.json"
    )
