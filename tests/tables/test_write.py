"""Predictions as CSV, Parquet and JSON; a file that is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from bagcn.tables import prediction_table, write_table

IDS = np.array([2**60 + 1, 3])
CLASSES = np.array(["x", "y"], dtype=object)
CHANCES = np.array([[0.25, 0.75], [0.625, 0.375]], dtype=np.float32)
KNOWN = np.array([None, "y"], dtype=object)


def table(ids: Any = IDS, classes: Any = CLASSES, known: Any = KNOWN, name: str = "id") -> Any:
    return prediction_table(ids, classes, CHANCES, known, name)


def test_the_table() -> None:
    expected = {
        "article": IDS.tolist(),
        "prediction": ["y", "x"],
        "confidence": [0.75, 0.625],
        "probability x": [0.25, 0.625],
        "probability y": [0.75, 0.375],
        "label": [None, "y"],
    }
    assert table(name="article").to_dict("list") == expected


@pytest.mark.parametrize("name", ["label", "prediction", "confidence"])
def test_an_id_column_cannot_take_the_name_of_another(name: str) -> None:
    assert next(iter(table(name=name).columns)) == "id"


def test_csv(tmp_path: Path) -> None:
    write_table(table(), tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_text() == (
        "id,prediction,confidence,probability x,probability y,label\n"
        "1152921504606846977,y,0.75,0.25,0.75,\n"
        "3,x,0.625,0.625,0.375,y\n"
    )


def test_json(tmp_path: Path) -> None:
    write_table(table(), tmp_path / "p.json")
    rows = json.loads((tmp_path / "p.json").read_text())
    assert rows[0] == {
        **{"id": 2**60 + 1, "prediction": "y", "confidence": 0.75},
        **{"probability x": 0.25, "probability y": 0.75, "label": None},
    }


@pytest.mark.parametrize("name", ["p.parquet", "p.PQ"])
def test_parquet(tmp_path: Path, name: str) -> None:
    write_table(table(), tmp_path / name)
    found = pq.read_table(tmp_path / name).to_pydict()
    assert found == table().to_dict("list")


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        ([2**63 + 1, 2**64 - 1], [2**63 + 1, 2**64 - 1]),
        (["007", "é"], ["007", "é"]),
        ([UUID(int=1), UUID(int=2)], [str(UUID(int=1)), str(UUID(int=2))]),
        ([("a", 1), ("b", 2)], ["('a', 1)", "('b', 2)"]),
        ([1, "1b"], ["1", "1b"]),
        ([2**70, 5], [str(2**70), "5"]),
    ],
)
def test_ids_in_parquet(tmp_path: Path, ids: list[Any], shown: list[Any]) -> None:
    objects = np.fromiter(ids, dtype=object, count=2)
    array = np.array(ids, np.uint64) if ids[0] == 2**63 + 1 else objects
    write_table(table(array), tmp_path / "p.parquet")
    assert pq.read_table(tmp_path / "p.parquet")["id"].to_pylist() == shown


def test_numbers_and_booleans_as_classes(tmp_path: Path) -> None:
    found = table(classes=np.array([10, 20]), known=np.array([None, 20], dtype=object))
    write_table(found, tmp_path / "p.parquet")
    columns = pq.read_table(tmp_path / "p.parquet").to_pydict()
    assert (columns["prediction"], columns["label"]) == ([20, 10], [None, 20])
    known = np.array([None, True], dtype=object)
    found = table(classes=np.array([False, True], dtype=object), known=known)
    write_table(found, tmp_path / "p.json")
    rows = json.loads((tmp_path / "p.json").read_text())
    assert [row["prediction"] for row in rows] == [True, False]


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_table(table(), "-", "json")
    assert json.loads(capsys.readouterr().out)[1]["label"] == "y"
    with pytest.raises(ValueError, match="Parquet needs a file to write to: give one with --out"):
        write_table(table(), "-", "parquet")


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.json"])
def test_no_room_on_the_disk(tmp_path: Path, name: str, small_files: None) -> None:
    """The file that was there stays as it was, and nothing else is left."""
    (tmp_path / name).write_text("old")
    long = pd.concat([table()] * 5000, ignore_index=True).assign(id=np.arange(10_000))
    with pytest.raises(ValueError, match=r"there is no room on the disk for .*: nothing of it was"):
        write_table(long, tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"
