"""Two frames, of nodes and of edges, as one graph; what does not fit together is told in a line.

N nodes, E rows of edges.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from bagcn.data import Split
from bagcn.data._names import unknown
from bagcn.tables.columns import cells_of, numbers_of
from bagcn.tables.graph import Counts, Graph, Layout, clean_edges
from bagcn.tables.ids import id_array, match
from bagcn.tables.labels import known_labels

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_frames"]

Array = np.ndarray
_WORDS = {"train": 0, "training": 0, "val": 1, "valid": 1, "validation": 1, "dev": 1, "test": 2}


def from_frames(
    nodes: pd.DataFrame,
    edges: pd.DataFrame,
    layout: Layout,
    *,
    labelled: bool = True,
    names: tuple[str, str] = ("the nodes' table", "the edges' table"),
) -> Graph:
    """Return the graph of two tables.

    Args:
        nodes: a row for each node.
        edges: a row for each edge.
        layout: what the columns mean.
        labelled: whether the columns of classes and of the split must be there.
        names: of the tables, for messages.
    """
    nodes, edges = nodes.rename(columns=str), edges.rename(columns=str)
    layout = _settled(nodes, edges, layout, names)
    assert layout.id is not None
    ids = _ids(nodes[layout.id], names[0])
    _unique(ids, layout.id, names[0])
    labels = _labels(nodes, layout, labelled, names[0])
    edge_index, weight, counts = _edges(edges, ids, layout, names)
    return Graph(
        ids=ids,
        labels=labels,
        edge_index=edge_index,
        edge_weight=weight,
        table=_features(nodes, layout, labelled, names[0]),
        split=_split(nodes, layout, labelled, names[0]),
        counts=counts,
        layout=layout,
    )


def _settled(
    nodes: pd.DataFrame, edges: pd.DataFrame, layout: Layout, names: tuple[str, str]
) -> Layout:
    """Return the layout with the columns of ids that it left open."""
    there = [str(column) for column in edges.columns]
    if len(there) < 2:
        raise ValueError(
            f"{names[1]} has the single column {there[0]!r}, but an edge needs two ends: "
            "is it separated by something else?"
        )
    settled = replace(
        layout,
        id=layout.id or _first(nodes, ("id",), 0),
        source=layout.source or _first(edges, ("source", "src", "from"), 0),
        target=layout.target or _first(edges, ("target", "dst", "to"), 1),
    )
    _present(nodes, settled.id, names[0])
    for column in (settled.source, settled.target, settled.weight):
        _present(edges, column, names[1])
    return settled


def _first(table: pd.DataFrame, names: tuple[str, ...], place: int) -> str:
    columns = [str(column) for column in table.columns]
    return next((name for name in names if name in columns), columns[place])


def _present(table: pd.DataFrame, column: str | None, name: str) -> None:
    if column is not None and column not in table.columns:
        raise unknown(f"column of {name}", column, [str(c) for c in table.columns])


def _ids(column: pd.Series[Any], name: str) -> Array:
    """Return a column of ids as they are; whole numbers that gaps made decimal are whole again."""
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        _no_gap(column.isna().to_numpy(dtype=bool), column, name)
        return _whole(column, name)
    cells = cells_of(column)
    _no_gap(np.array([cell is None or cell == "" for cell in cells], dtype=bool), column, name)
    return id_array(cells.tolist())


def _no_gap(gaps: Array, column: pd.Series[Any], name: str) -> None:
    if gaps.any():
        row = int(np.flatnonzero(gaps)[0]) + 1
        raise ValueError(f"{name} has no id in row {row}, column {column.name!r}")


def _whole(column: pd.Series[Any], name: str) -> Array:
    from pandas.api import types

    if types.is_integer_dtype(column.dtype):
        unsigned = str(column.dtype).lower().startswith("uint64")
        return column.to_numpy(dtype=np.uint64 if unsigned else np.int64)
    numbers = column.to_numpy(dtype=np.float64)
    if (numbers != np.round(numbers)).any() or (np.abs(numbers) > 2**53).any():
        raise ValueError(
            f"{name}, column {column.name!r}: ids must be whole numbers or texts, and decimal "
            "numbers came; store them as texts"
        )
    return numbers.astype(np.int64)


def _unique(ids: Array, column: str, name: str) -> None:
    import pandas as pd

    repeated = pd.Series(ids).duplicated(keep=False).to_numpy()
    if repeated.any():
        rows = np.flatnonzero(repeated)
        same = [i + 1 for i in rows if ids[i] == ids[rows[0]]]
        extra = len(pd.unique(ids[repeated]))
        raise ValueError(
            f"{name} has the id {ids.tolist()[rows[0]]!r} in the rows {same[0]} and {same[1]} of "
            f"column {column!r} ({extra:,} ids are not unique): every node needs an id of its own"
        )


def _edges(
    edges: pd.DataFrame, ids: Array, layout: Layout, names: tuple[str, str]
) -> tuple[Tensor, Tensor | None, Counts]:
    ends = [_ids(edges[column], names[1]) for column in (layout.source, layout.target)]
    source, target = (match(ids, end) for end in ends)
    strange = np.flatnonzero((source < 0) | (target < 0))
    first = None
    if len(strange):
        first = ends[0 if source[strange[0]] < 0 else 1].tolist()[strange[0]]
    if len(strange) and len(strange) == len(edges):
        raise ValueError(
            f"no row of {names[1]} joins two nodes of {names[0]}: the first unknown id is "
            f"{first!r}, and the nodes' ids are like {ids.tolist()[0]!r}"
        )
    weight = None if layout.weight is None else _weights(edges[layout.weight], names[1])
    edge_index, weights, counts = clean_edges(source, target, weight, len(ids), layout.directed)
    return edge_index, weights, replace(counts, first_unknown=first)


def _weights(column: pd.Series[Any], name: str) -> Array:
    weights = numbers_of(column)
    wrong = np.flatnonzero(~(weights > 0))
    if len(wrong):
        raise ValueError(
            f"{name}, column {column.name!r}: a weight must be a number above 0, but row "
            f"{wrong[0] + 1} holds {column.iloc[wrong[0]]!r} ({len(wrong):,} in all)"
        )
    return weights


def _labels(nodes: pd.DataFrame, layout: Layout, labelled: bool, name: str) -> Array:
    """Return the classes, None where unknown: (N,) objects."""
    if layout.label is None or (not labelled and layout.label not in nodes.columns):
        return known_labels(None, len(nodes))
    _present(nodes, layout.label, name)
    column = nodes[layout.label]
    cells = cells_of(column).tolist()
    filled = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, float) and cell.is_integer() for cell in filled):
        cells = [None if cell is None else int(cell) for cell in cells]
    return known_labels(cells, len(nodes), minus_one=False)


def _features(nodes: pd.DataFrame, layout: Layout, labelled: bool, name: str) -> pd.DataFrame:
    for column in (*(layout.features or ()), *(layout.drop if labelled else ())):
        _present(nodes, column, name)
    taken = {layout.id, layout.label, layout.split, *layout.drop}
    wanted = layout.features or [str(column) for column in nodes.columns]
    if layout.features and layout.label in layout.features:
        raise ValueError(f"the label column {layout.label!r} cannot be a feature too")
    return nodes[[column for column in wanted if column not in taken]]


def _split(nodes: pd.DataFrame, layout: Layout, labelled: bool, name: str) -> Split | None:
    """Return the split that a column of words tells."""
    if layout.split is None or not labelled:
        return None
    _present(nodes, layout.split, name)
    words = cells_of(nodes[layout.split])
    known = _labels(nodes, layout, labelled, name)
    parts: tuple[list[int], ...] = ([], [], [])
    for row, word in enumerate(words):
        if word is None or word == "" or known[row] is None:
            continue
        number = _WORDS.get(str(word).strip().lower())
        if number is None:
            raise ValueError(
                f"{name}, column {layout.split!r}: expected train, val, test or nothing, but row "
                f"{row + 1} holds {word!r}"
            )
        parts[number].append(row)
    for part, word in zip(parts[:2], ("train", "val"), strict=True):
        if not part:
            raise ValueError(
                f"{name}, column {layout.split!r}: no labelled node has the word {word}"
            )
    train, val, test = (torch.tensor(part, dtype=torch.int64) for part in parts)
    return Split(f"column {layout.split}", train, val, test)
