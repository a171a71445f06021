"""Predictions as a table, with the owner's ids, in a format that other tools read.

N nodes, C classes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from bagcn._folder import replaced_file

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OUTPUTS", "prediction_table", "write_table"]

Array = np.ndarray

OUTPUTS = ("csv", "parquet", "json")
"""What predictions can be written as."""


def prediction_table(
    ids: Array, classes: Array, probabilities: Array, known: Array, id_name: str = "id"
) -> pd.DataFrame:
    """Return a row for each node: id, class, confidence, a probability per class, known label.

    Args:
        ids: the owner's, (N,).
        classes: the owner's, (C,).
        probabilities: (N, C).
        known: the labels that were given, None for the others, (N,).
        id_name: of the column of ids.
    """
    import pandas as pd

    if id_name in ("prediction", "confidence", "label"):
        id_name = "id"
    best = probabilities.argmax(axis=1)
    columns: dict[str, Any] = {
        id_name: _column(ids),
        "prediction": _column(classes[best]),
        "confidence": probabilities.max(axis=1),
    }
    for i, name in enumerate(classes.tolist()):
        columns[f"probability {name}"] = probabilities[:, i]
    columns["label"] = pd.Series(_column(known), dtype=object)
    return pd.DataFrame(columns)


def _column(values: Array) -> Array:
    """Return values that a table can hold: of several types, or unusual or huge ones, as texts."""
    if values.dtype != object:
        return values
    kinds = {type(value) for value in values if value is not None}
    huge = kinds == {int} and any(value is not None and abs(value) >= 2**63 for value in values)
    if len(kinds) <= 1 and not kinds & {UUID, tuple} and not huge:
        return values
    texts = (None if value is None else str(value) for value in values)
    return np.fromiter(texts, dtype=object, count=len(values))


def write_table(table: pd.DataFrame, path: str | Path, kind: str | None = None) -> None:
    """Write a table to a file, whole or not at all, or to standard output.

    Args:
        table: what to write.
        path: the file, or ``-`` for standard output.
        kind: a name of :data:`OUTPUTS`; by the file's ending if not given, else CSV.
    """
    ending = {".parquet": "parquet", ".pq": "parquet", ".json": "json"}
    if kind is None and Path(path).suffix.lower() in (".xlsx", ".xls", ".ods"):
        raise ValueError(f"{path} would be a workbook, which is not written: name a .csv file")
    kind = kind or ending.get(Path(path).suffix.lower(), "csv")
    if str(path) == "-":
        if kind == "parquet":
            raise ValueError("Parquet needs a file to write to: give one with --out")
        sys.stdout.write(_text(table, kind))
        return
    with replaced_file(Path(path)) as partial:
        if kind == "parquet":
            table.to_parquet(partial, index=False)
        else:
            partial.write_text(_text(table, kind), "utf-8")


def _text(table: pd.DataFrame, kind: str) -> str:
    if kind == "csv":
        return table.to_csv(index=False, lineterminator="\n")
    return json.dumps(table.to_dict("records"), ensure_ascii=False, indent=1) + "\n"
