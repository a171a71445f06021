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

__all__ = ["describe", "remarks"]


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


def remarks(data: dict[str, Any]) -> list[str]:
    """Return what the owner of the graph should know, a sentence each."""
    sentences = [
        (data["self_loops_dropped"], "edges from a node to itself are left out"),
        (data["duplicates_merged"], "edges repeat an earlier row and are merged with it"),
        (data["isolated_nodes"], "nodes have no edge: only their own features speak for them"),
    ]
    found = [f"{count:,} {text}." for count, text in sentences if count]
    if data["rows_with_unknown_ids_dropped"]:
        found.append(
            f"{data['rows_with_unknown_ids_dropped']:,} edges name an id that no node has and are "
            f"left out; the first such id is {data['first_unknown_id']!r}."
        )
    return found + _about_direction(data) + _about_balance(data)


def _about_direction(data: dict[str, Any]) -> list[str]:
    distinct = data["edge_rows"] - data["self_loops_dropped"] - data["duplicates_merged"]
    distinct -= data["rows_with_unknown_ids_dropped"]
    if data["directed"]:
        return ["Edges carry messages from source to target only (--directed)."]
    if 0 < data["rows_written_both_ways"] < distinct:
        share = data["rows_written_both_ways"] / distinct
        return [
            f"{share:.0%} of the edges are written in both directions; all are used in both "
            "(--directed keeps the direction)."
        ]
    return []


def _about_balance(data: dict[str, Any]) -> list[str]:
    sizes = {row["class"]: row["labelled"] for row in data["classes"]}
    large, small = max(sizes, key=lambda n: sizes[n]), min(sizes, key=lambda n: sizes[n])
    if sizes[large] < 10 * sizes[small]:
        return []
    return [
        f"The classes are far from balanced: {sizes[large]:,} labels of {large!r}, "
        f"{sizes[small]:,} of {small!r}; look at macro-F1, not at accuracy alone."
    ]
