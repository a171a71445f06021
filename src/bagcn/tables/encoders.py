"""From a graph's columns to the features that models take: learnt once, applied to any graph.

N nodes, F features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from bagcn.data._csr import from_scipy
from bagcn.data._names import unknown
from bagcn.tables.arrays import ArrayEncoder
from bagcn.tables.columns import KINDS, Found, detect
from bagcn.tables.graph import Graph
from bagcn.tables.learnt import ENCODINGS
from bagcn.tables.structure import StructureEncoder

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Encoder", "TableEncoder", "fit_encoder", "restored_encoder"]

Array = np.ndarray
Saved = tuple[dict[str, Any], dict[str, Array]]
SPARSE_BELOW = 0.25  # share of entries that are not zero


@dataclass(frozen=True)
class Column:
    """A column of the nodes' table: what it holds, why, how many gaps, and what was learnt."""

    name: str
    kind: str | None
    why: str
    missing: int
    learnt: Mapping[str, Any]

    @property
    def names(self) -> list[str]:
        """Return a name for each of its features."""
        if self.kind is None:
            return []
        names: list[str] = ENCODINGS[self.kind][3](self.name, self.learnt)
        return names

    def transform(self, table: pd.DataFrame) -> Array | sp.csr_matrix:
        """Return its features for the rows of a table: (N, W)."""
        assert self.kind is not None
        cells, _, apply, _ = ENCODINGS[self.kind]
        return apply(cells(table[self.name]), self.learnt)


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """The encoders of all columns of a nodes' table."""

    columns: tuple[Column, ...]

    @classmethod
    def fit(cls, table: pd.DataFrame, kinds: Mapping[str, str]) -> TableEncoder:
        """Find out what every column holds, unless ``kinds`` says so, and learn to encode it."""
        for name, kind in kinds.items():
            if name not in table.columns:
                raise unknown("feature column", name, [str(c) for c in table.columns])
            if kind not in KINDS:
                raise unknown("kind of column", kind, KINDS)
        encoder = cls(tuple(_learnt(table[name], kinds.get(str(name))) for name in table.columns))
        if not encoder.names:
            left = ", ".join(f"{column.name} ({column.why})" for column in encoder.columns)
            raise ValueError(f"no column can be used as a feature: {left}; see --as")
        return encoder

    @property
    def used(self) -> list[Column]:
        """Return the columns that give features."""
        return [column for column in self.columns if column.kind is not None]

    @property
    def names(self) -> list[str]:
        """Return a name for each feature."""
        return [name for column in self.used for name in column.names]

    def transform(self, graph: Graph) -> Tensor:
        """Return the features (N, F): sparse CSR where most are zero, dense otherwise."""
        if graph.table is None:
            raise ValueError(
                "the model was trained on the columns of a table, but this graph comes without"
            )
        lacking = [c.name for c in self.used if c.name not in graph.table.columns]
        if lacking:
            there = ", ".join(map(str, graph.table.columns)) or "none"
            raise ValueError(
                f"the model was trained on columns that the nodes' table lacks: "
                f"{', '.join(lacking)}; its feature columns are {there}"
            )
        return _joined([column.transform(graph.table) for column in self.used])

    def saved(self) -> Saved:
        """Return what was learnt, as JSON and as arrays."""
        arrays, columns = {}, []
        for i, column in enumerate(self.columns):
            plain = dict(column.learnt)
            for key in [key for key, value in plain.items() if isinstance(value, np.ndarray)]:
                arrays[f"{i}.{key}"] = plain.pop(key)
            columns.append({**vars(column), "learnt": plain})
        return {"kind": "table", "columns": columns}, arrays

    @classmethod
    def restored(cls, saved: Mapping[str, Any], arrays: Mapping[str, Array]) -> TableEncoder:
        """Return the encoder that :meth:`saved` describes."""
        columns = []
        for i, column in enumerate(saved["columns"]):
            own = {k.split(".", 1)[1]: a for k, a in arrays.items() if k.startswith(f"{i}.")}
            columns.append(Column(**{**column, "learnt": {**column["learnt"], **own}}))
        return cls(tuple(columns))


Encoder = ArrayEncoder | TableEncoder | StructureEncoder


def _learnt(column: pd.Series[Any], kind: str | None) -> Column:
    found = Found(kind, "as told") if kind and column.notna().any() else detect(column)
    name = str(column.name)
    if found.kind is None:
        missing = len(column) if found.why == "empty" else int(column.isna().sum())
        return Column(name, None, found.why, missing, {})
    cells, learn, _, _ = ENCODINGS[found.kind]
    values = cells(column)
    return Column(name, found.kind, found.why, _gaps(values), learn(values))


def _gaps(values: Array) -> int:
    if values.dtype == object:
        return sum(value is None for value in values)
    return int(np.isnan(values[:, 0]).sum())


def _joined(blocks: list[Array | sp.csr_matrix]) -> Tensor:
    """Put the columns' features side by side."""
    rows, width = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
    if sum(map(_stored, blocks)) < SPARSE_BELOW * rows * width:
        return from_scipy(sp.hstack([sp.csr_matrix(block) for block in blocks], format="csr"))
    dense = [block if isinstance(block, np.ndarray) else block.toarray() for block in blocks]
    return torch.from_numpy(np.hstack(dense).astype(np.float32, copy=False))


def _stored(block: Array | sp.csr_matrix) -> int:
    return int(block.size)  # of a sparse matrix, SciPy counts the entries it stores


def fit_encoder(graph: Graph, scaling: str = "auto", no_features: str | None = None) -> Encoder:
    """Learn how to encode a graph's features, or what stands in for them.

    Args:
        graph: the graph.
        scaling: of features that are arrays.
        no_features: what is used in place of features, ``"structural"`` or ``"random-walk"``.
    """
    if no_features is not None:
        return StructureEncoder.fit(graph, no_features)
    if graph.x is not None:
        return ArrayEncoder.fit(graph.x, scaling)
    if graph.table is not None and len(graph.table.columns):
        return TableEncoder.fit(graph.table, dict(graph.layout.kinds))
    raise ValueError(
        "the nodes have no features: choose --no-features structural (what a node's surroundings "
        "look like) or --no-features random-walk (where in the graph a node is), in "
        "Python no_features='structural' or 'random-walk'"
    )


def restored_encoder(saved: dict[str, Any], arrays: dict[str, Array]) -> Encoder:
    """Return the encoder whose ``saved()`` gave these."""
    encoders: dict[str, Any] = {
        "array": ArrayEncoder,
        "table": TableEncoder,
        "structure": StructureEncoder,
    }
    encoder: Encoder = encoders[saved["kind"]].restored(saved, arrays)
    return encoder
