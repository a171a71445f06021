"""What a graph holds, before anything is trained on it: counts that show what went wrong.

N nodes, C classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier
    from bagcn.tables.graph import Layout

__all__ = ["columns_used", "describe", "remarks"]

_NO_CLASS = {
    "unknown",
    "unlabelled",
    "unlabeled",
    "missing",
    "none",
    "null",
    "nan",
    "na",
    "n/a",
    "?",
}


def describe(classifier: NodeClassifier) -> dict[str, Any]:
    """Return the counts of a classifier's graph as plain data, for people and for files."""
    counts, task = classifier.counts_, classifier.task_
    source, target = task.edge_index.numpy()
    once = len(source) if classifier.layout_.directed else int((source <= target).sum())
    return {
        "nodes": task.num_nodes,
        "components": _components(source, target, task.num_nodes),
        "isolated_nodes": counts.isolated,
        "edge_rows": counts.rows,
        "edges": once,
        "directed": classifier.layout_.directed,
        "self_loops_dropped": counts.self_loops,
        "duplicates_merged": counts.duplicates,
        "rows_with_unknown_ids_dropped": counts.unknown,
        "first_unknown_id": None if counts.first_unknown is None else str(counts.first_unknown),
        "rows_written_both_ways": counts.both_ways,
        "labelled_nodes": int((task.y >= 0).sum()),
        "classes": _classes(classifier),
        "columns": _columns(classifier),
        "features": task.num_features,
    }


def _components(source: np.ndarray, target: np.ndarray, size: int) -> int:
    ones = np.ones(len(source), dtype=np.int8)
    adjacency = sp.csr_matrix((ones, (source, target)), shape=(size, size))
    return int(connected_components(adjacency, directed=False)[0])


def _classes(classifier: NodeClassifier) -> list[dict[str, Any]]:
    """Return for each class its nodes, and how many of them train, validate and test."""
    y, split, size = classifier.task_.y, classifier.split_, len(classifier.classes_)
    parts = {"labelled": y[y >= 0], "train": y[split.train], "val": y[split.val]}
    parts["test"] = y[split.test]
    counts = {name: part.bincount(minlength=size).tolist() for name, part in parts.items()}
    return [
        {"class": str(name), **{part: counts[part][i] for part in counts}}
        for i, name in enumerate(classifier.classes_.tolist())
    ]


def _columns(classifier: NodeClassifier) -> list[dict[str, Any]]:
    columns = getattr(classifier.encoder_, "columns", ())
    return [
        {
            "column": column.name,
            "kind": column.kind or "left out",
            "why": column.why,
            "missing": column.missing,
            "features": len(column.names),
        }
        for column in columns
    ]


def columns_used(layout: Layout, edge_columns: list[str]) -> str:
    """Return in a sentence which columns hold ids, ends and weights, and which are not used."""
    weight = f", weighted by {layout.weight!r}" if layout.weight else ""
    used = {layout.source, layout.target, layout.weight}
    unused = [repr(column) for column in edge_columns if column not in used]
    rest = f"; not used: {', '.join(unused)}" if unused else ""
    return (
        f"Ids are in the column {layout.id!r}, edges join {layout.source!r} and "
        f"{layout.target!r}{weight}{rest}."
    )


def remarks(data: dict[str, Any]) -> list[str]:
    """Return what the owner of the graph should know, a sentence each."""
    sentences = [
        ("self_loops_dropped", "Edges from a node to itself, left out"),
        ("duplicates_merged", "Edges that repeat an earlier row, merged with it"),
        ("isolated_nodes", "Nodes without an edge, for which no neighbour speaks"),
        ("rows_with_unknown_ids_dropped", "Edges that name an id that no node has, left out"),
    ]
    found = [f"{text}: {data[name]:,}." for name, text in sentences if data[name]]
    if data["rows_with_unknown_ids_dropped"]:
        found[-1] = f"{found[-1][:-1]}; the first such id is {data['first_unknown_id']!r}."
    return found + _about_direction(data) + _about_balance(data) + _about_names(data)


def _about_direction(data: dict[str, Any]) -> list[str]:
    distinct = data["edge_rows"] - data["self_loops_dropped"] - data["duplicates_merged"]
    distinct -= data["rows_with_unknown_ids_dropped"]
    if data["directed"]:
        return ["Edges carry messages from source to target only (--directed)."]
    both = data["rows_written_both_ways"]
    if both == distinct:
        return []
    return [
        f"Edges written in both directions: {both:,} of {distinct:,}; all are used in both "
        "(--directed keeps the direction)."
    ]


def _about_balance(data: dict[str, Any]) -> list[str]:
    sizes = {row["class"]: row["labelled"] for row in data["classes"]}
    large, small = max(sizes, key=lambda n: sizes[n]), min(sizes, key=lambda n: sizes[n])
    if sizes[large] < 10 * sizes[small]:
        return []
    return [
        f"The classes are far from balanced: {sizes[large]:,} labels of {large!r}, "
        f"{sizes[small]:,} of {small!r}; look at macro-F1, not at accuracy alone."
    ]


def _about_names(data: dict[str, Any]) -> list[str]:
    names = [row["class"] for row in data["classes"] if row["class"].lower() in _NO_CLASS]
    return [
        f"The class {name!r} is learnt like any other; if it means that the class is not known, "
        "empty these cells."
        for name in names
    ]
