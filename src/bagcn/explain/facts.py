"""What a graph's owner knows of a node: the cells of a table, or features in the owner's units.

B nodes asked about, F features.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from torch import Tensor

from bagcn.explain.named import Named
from bagcn.ops import SparseMatrix, as_matrix
from bagcn.tables.encoders import Encoder, TableEncoder

__all__ = ["facts"]

Array = np.ndarray
Learnt = Mapping[str, Any]
Cell = str | float | None
Fact = tuple[int, str | float]
Told = list[tuple[int, float]]

COLUMNS = 12
"""How many columns of a table are told: the first ones."""
FEATURES = 6
"""How many features of a node without a table are told: those that set it apart most."""
LENGTH = 40
"""How many letters of a cell are told."""


def facts(named: Named, nodes: Tensor) -> tuple[list[str], list[list[Fact]]]:
    """Return names, and for each node pairs of the number of a name and what holds for the node.

    Of a table these are its columns, read back from the features: of a text the words that tell
    most. What is missing is left out.
    """
    x = as_matrix(named.x)
    if isinstance(named.encoder, TableEncoder):
        return _cells(_rows(x, nodes), named.encoder)
    if isinstance(x, SparseMatrix):
        features = _rare(x, nodes)
    else:
        features = _extreme(x, nodes, _units(named.encoder))
    used = sorted({column for row in features for column, _ in row})
    place = {column: number for number, column in enumerate(used)}
    told: list[list[Fact]] = [[(place[c], value) for c, value in row] for row in features]
    return [named.features[column] for column in used], told


def _rows(x: Tensor | SparseMatrix, nodes: Tensor) -> sp.csr_matrix:
    """Return the features of the nodes, (B, F)."""
    if not isinstance(x, SparseMatrix):
        return sp.csr_matrix(x[nodes.to(x.device)].cpu().double().numpy())
    parts = (part.cpu().numpy() for part in (x.values.double(), x.pattern.col, x.pattern.crow))
    return sp.csr_matrix(tuple(parts), shape=x.shape)[nodes.numpy()]


def _cells(x: sp.csr_matrix, encoder: TableEncoder) -> tuple[list[str], list[list[Fact]]]:
    """Read the cells of a table back from its features."""
    columns, start, read = encoder.used[:COLUMNS], 0, []
    by_column = x.tocsc()
    for column in columns:
        stop = start + len(column.names)
        assert column.kind is not None
        read.append(_READ[column.kind](by_column[:, start:stop], column.learnt))
        start = stop
    rows: list[list[Fact]] = [[] for _ in range(x.shape[0])]
    for number, cells in enumerate(read):
        for row, cell in zip(rows, cells, strict=True):
            if cell is not None:
                row.append((number, cell[:LENGTH] if isinstance(cell, str) else cell))
    return [column.name for column in columns], rows


def _numbers(block: sp.csc_matrix, learnt: Learnt) -> list[Cell]:
    found = block.toarray()
    values = _rounded(_unscaled(found, learnt)[:, 0], learnt["scale"][0])
    return _present(values.tolist(), found, learnt)


def _unscaled(found: Array, learnt: Learnt) -> Array:
    width = len(learnt["mean"])
    values: Array = found[:, :width] * learnt["scale"] + learnt["mean"]
    return values


def _rounded(values: Array, scale: float) -> Array:
    """Drop the digits that a number in single precision does not have."""
    return np.round(values, 4 - math.floor(math.log10(scale)))


def _present(cells: list[Any], found: Array, learnt: Learnt) -> list[Cell]:
    """Leave out the cells with a flag in the last feature that says there was none."""
    if not learnt["missing"]:
        return cells
    return [None if gap else cell for cell, gap in zip(cells, found[:, -1], strict=True)]


def _booleans(block: sp.csc_matrix, learnt: Learnt) -> list[Cell]:
    found = block.toarray()
    return _present(["yes" if value else "no" for value in found[:, 0]], found, learnt)


def _dates(block: sp.csc_matrix, learnt: Learnt) -> list[Cell]:
    """Return dates, with the time where a day does not begin then."""
    found = block.toarray()
    parts = _unscaled(found, learnt)
    minutes = np.rint(parts[:, 3] * 60).astype(int)
    days = np.rint(parts[:, 0] - minutes / 1440).astype("datetime64[D]")
    times = days + minutes.astype("timedelta64[m]")
    texts = [
        str(time).replace("T", " ") if minute else str(day)
        for time, day, minute in zip(times, days, minutes, strict=True)
    ]
    return _present(texts, found, learnt)


def _categories(block: sp.csc_matrix, learnt: Learnt) -> list[Cell]:
    names = [*learnt["categories"], *(["a rare one"] if learnt["rare"] else []), None]
    found = block.toarray()
    known = found.any(axis=1)
    place = found.argmax(axis=1)
    return [names[p] if k else None for p, k in zip(place.tolist(), known, strict=True)]


def _texts(block: sp.csc_matrix, learnt: Learnt) -> list[Cell]:
    """Return the words that tell most, the most telling first."""
    rows, terms = block.tocsr(), learnt["terms"]
    cells: list[Cell] = []
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        order = np.lexsort((rows.indices[start:stop], -rows.data[start:stop]))[:FEATURES]
        words = [terms[term] for term in rows.indices[start:stop][order]]
        cells.append(" ".join(words) or None)
    return cells


_READ: dict[str, Callable[[sp.csc_matrix, Learnt], list[Cell]]] = {
    "number": _numbers,
    "boolean": _booleans,
    "date": _dates,
    "category": _categories,
    "text": _texts,
}


def _rare(x: SparseMatrix, nodes: Tensor) -> list[Told]:
    """Pick the stored values that are large, and rare in the graph."""
    shared = np.bincount(x.pattern.col.cpu().numpy(), minlength=x.shape[1])
    rarity = np.log(x.shape[0] / np.maximum(shared, 1)) + 1e-9
    rows = _rows(x, nodes)
    out = []
    for start, stop in zip(rows.indptr, rows.indptr[1:], strict=False):
        columns, values = rows.indices[start:stop], rows.data[start:stop]
        out.append(_largest(columns, values, np.abs(values) * rarity[columns]))
    return out


def _extreme(x: Tensor, nodes: Tensor, units: tuple[Array, Array] | None) -> list[Told]:
    """Pick the values that are furthest from their column's mean, in standard deviations."""
    mean, deviation = x.mean(0), x.std(0).clamp_min(1e-12)
    rows = x[nodes.to(x.device)]
    far = ((rows - mean) / deviation).abs().cpu().numpy()
    values = rows.cpu().double().numpy()
    if units is not None:
        values = values * units[0] + units[1]
    columns = np.arange(x.shape[1])
    return [_largest(columns, row, z) for row, z in zip(values, far, strict=True)]


def _units(encoder: Encoder | None) -> tuple[Array, Array] | None:
    """Return what standardised features are multiplied by, and what is added to them: (F,) each."""
    mean, scale = getattr(encoder, "mean", None), getattr(encoder, "scale", None)
    return None if mean is None or scale is None else (scale, mean)


def _largest(columns: Array, values: Array, importance: Array) -> Told:
    order = np.argsort(-importance, kind="stable")[:FEATURES].tolist()
    return [(int(columns[place]), float(f"{values[place]:.5g}")) for place in order]
