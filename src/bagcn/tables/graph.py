"""A user's graph before its features are encoded, and what was found while reading it.

N nodes, E edges, F features.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from bagcn.data import Split

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Counts", "Graph", "Layout", "clean_edges"]

Array = np.ndarray


@dataclass(frozen=True)
class Layout:
    """What the columns of the tables mean.

    Args:
        id: the nodes' id column; a column ``id`` or else the first, if not given.
        label: the column with the classes; empty cells are unknown.
        features: the feature columns; all others of the nodes' table, if not given.
        drop: columns to leave out.
        kinds: by column, ``number``, ``boolean``, ``category``, ``date`` or ``text``, where the
            detection is to be overruled.
        source: the edges' first end; a column ``source`` or else the first, if not given.
        target: the edges' second end; a column ``target`` or else the second, if not given.
        weight: a column of the edges with their weights.
        split: a column of the nodes with the words train, val and test.
        directed: whether edges carry messages from source to target only.
    """

    id: str | None = None
    label: str | None = None
    features: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    split: str | None = None
    directed: bool = False


@dataclass(frozen=True)
class Counts:
    """What was found in a list of edges."""

    rows: int = 0
    self_loops: int = 0
    duplicates: int = 0
    unknown: int = 0
    first_unknown: Any = None
    both_ways: int = 0
    isolated: int = 0


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph as its owner has it.

    Args:
        ids: the owner's node ids, (N,).
        labels: the owner's class of each node, None where unknown, (N,) objects.
        edge_index: edges between positions in ``ids``, (2, E).
        edge_weight: (E,), or None.
        table: a pandas frame of feature columns, or None.
        x: features that are numbers already, dense or sparse CSR, (N, F), or None.
        split: who trains, validates and tests, if the owner said so.
        counts: what was found in the edges.
        layout: what the columns of the tables meant.
    """

    ids: Array
    labels: Array
    edge_index: Tensor
    edge_weight: Tensor | None = None
    table: pd.DataFrame | None = None
    x: Tensor | None = None
    split: Split | None = None
    counts: Counts = field(default_factory=Counts)
    layout: Layout = field(default_factory=Layout)

    @property
    def num_nodes(self) -> int:
        """Return N."""
        return len(self.ids)


def clean_edges(
    source: Array, target: Array, weight: Array | None, num_nodes: int, directed: bool
) -> tuple[Tensor, Tensor | None, Counts]:
    """Return edges without self-loops and duplicates, both ways unless directed.

    The weights of repeated rows add up; where an undirected edge is written both ways, its weight
    is the larger of the two.

    Args:
        source: positions of the first ends, (E,); -1 where the id is unknown.
        target: positions of the second ends, (E,).
        weight: (E,), or None.
        num_nodes: N.
        directed: whether to keep the direction.
    """
    rows = len(source)
    known = (source >= 0) & (target >= 0)
    loops = known & (source == target)
    keep = known & ~loops
    source, target = source[keep].astype(np.int64), target[keep].astype(np.int64)
    keys, place = np.unique(source * num_nodes + target, return_inverse=True)
    sums = None if weight is None else np.bincount(place, weight[keep], len(keys))
    duplicates = len(source) - len(keys)
    source, target = np.divmod(keys, num_nodes)
    back = target * num_nodes + source
    both_ways = int(np.isin(back, keys, assume_unique=True).sum())
    if not directed:
        keys, sums = _both_ways(keys, back, sums)
        source, target = np.divmod(keys, num_nodes)
    touched = np.zeros(num_nodes, dtype=bool)
    touched[source] = touched[target] = True
    counts = Counts(
        rows=rows,
        self_loops=int(loops.sum()),
        duplicates=duplicates,
        unknown=int((~known).sum()),
        both_ways=both_ways,
        isolated=int((~touched).sum()),
    )
    edge_index = torch.from_numpy(np.stack([source, target]))
    weights = None if sums is None else torch.from_numpy(sums.astype(np.float32))
    return edge_index, weights, counts


def _both_ways(keys: Array, back: Array, sums: Array | None) -> tuple[Array, Array | None]:
    """Return the edges of both lists once each, in order, with the larger weight of equals."""
    both = np.concatenate([keys, back])
    if sums is None:
        return np.unique(both), None
    merged, place = np.unique(both, return_inverse=True)
    largest = np.zeros(len(merged))
    np.maximum.at(largest, place, np.concatenate([sums, sums]))
    return merged, largest
