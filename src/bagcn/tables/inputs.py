"""Every kind of graph that people have, as one: :class:`~bagcn.tables.graph.Graph`.

N nodes, E edges, F features.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bagcn.data import Split
from bagcn.data._csr import from_scipy
from bagcn.tables.frames import from_frames
from bagcn.tables.graph import Graph, Layout, clean_edges
from bagcn.tables.ids import id_array
from bagcn.tables.labels import known_labels

__all__ = ["as_graph"]

Array = np.ndarray


def as_graph(
    graph: Any,
    y: Any = None,
    *,
    edges: Any = None,
    features: Any = None,
    layout: Layout | None = None,
    labelled: bool = True,
) -> Graph:
    """Return the graph that is meant.

    Args:
        graph: a PyTorch Geometric ``Data``; a NetworkX graph, whose node attributes are the
            feature columns (its edges are used both ways, unless ``layout`` says that they are
            directed); a square SciPy sparse matrix or array; or a pandas frame of nodes.
        y: classes: an array, in the order of the nodes, where None, NaN, an empty text and, among
            integers, -1 are unknown; or the name of a column or node attribute. Of ``Data``,
            ``data.y`` if not given.
        edges: a pandas frame of edges, with a frame of nodes.
        features: an array, a sparse matrix or a frame of features, with a SciPy matrix.
        layout: what the columns mean, where that is not plain.
        labelled: whether there must be classes.
    """
    layout = layout or Layout()
    if isinstance(graph, Graph):
        return graph
    if hasattr(graph, "edge_index"):
        return _from_data(graph, y, layout)
    if hasattr(graph, "columns") or hasattr(graph, "nodes"):
        named = isinstance(y, str)
        layout = replace(layout, label=y) if named else layout
        if labelled and layout.label is None and y is None:
            raise ValueError("which column holds the classes? give its name as y")
        owned = _from_columns(graph, edges, layout, labelled)
        return (
            owned if named or y is None else replace(owned, labels=known_labels(y, len(owned.ids)))
        )
    if hasattr(graph, "tocoo"):
        return _from_matrix(graph, y, features, layout)
    raise ValueError(
        "expected a PyTorch Geometric Data, a NetworkX graph, a SciPy sparse matrix or a pandas "
        f"frame of nodes with one of edges, got {type(graph).__name__}"
    )


def _from_columns(graph: Any, edges: Any, layout: Layout, labelled: bool) -> Graph:
    if hasattr(graph, "nodes"):
        return _from_networkx(graph, layout, labelled)
    if edges is None:
        raise ValueError("a frame of nodes needs a frame of edges: give it as edges=")
    if not hasattr(edges, "columns"):
        raise ValueError(f"expected edges as a pandas frame, got {type(edges).__name__}")
    return from_frames(graph, edges, layout, labelled=labelled)


def _from_networkx(graph: Any, layout: Layout, labelled: bool) -> Graph:
    """Take a NetworkX graph: its nodes are the ids, their attributes the columns."""
    import pandas as pd

    node, source, target = _NODE, *_ENDS
    nodes = pd.DataFrame([attributes for _, attributes in graph.nodes(data=True)])
    nodes[node] = pd.Series(list(graph.nodes), dtype=object)
    ends = list(graph.edges(data=True))
    edges = pd.DataFrame({source: [a for a, _, _ in ends], target: [b for _, b, _ in ends]})
    layout = replace(layout, id=node, source=source, target=target)
    if any("weight" in attributes for _, _, attributes in ends):
        edges["weight"] = [float(attributes.get("weight", 1)) for _, _, attributes in ends]
        layout = replace(layout, weight="weight")
    names = ("the graph's nodes", "the graph's edges")
    return from_frames(
        nodes,
        edges.astype({source: object, target: object}),
        layout,
        labelled=labelled,
        names=names,
    )


_NODE, _ENDS = "(node)", ("(source)", "(target)")  # no attribute is likely to have these names


def _from_data(data: Any, y: Any, layout: Layout) -> Graph:
    """Take a ``Data`` as it is, its edges and masks included."""
    size, edge_index = int(data.num_nodes), data.edge_index.cpu()
    y = data.get("y") if y is None else y
    if isinstance(y, Tensor) and y.dim() == 2 and y.shape[1] == 1:
        y = y[:, 0]
    source, target = edge_index.numpy()
    if edge_index.numel() and not 0 <= int(edge_index.min()) <= int(edge_index.max()) < size:
        raise ValueError(
            f"edge_index must hold numbers from 0 to {size - 1}, as there are {size} nodes, but "
            f"holds {int(edge_index.min())} to {int(edge_index.max())}"
        )
    _, _, counts = clean_edges(source, target, None, size, directed=True)
    labels = known_labels(y, size)
    return Graph(
        ids=np.arange(size),
        labels=labels,
        edge_index=edge_index,
        edge_weight=data.edge_weight.cpu() if data.get("edge_weight") is not None else None,
        x=None if data.get("x") is None else _features(data.x),
        split=_masks(data, labels),
        counts=replace(counts, self_loops=0, duplicates=0),  # as it is: none is left out
        layout=layout,
    )


def _masks(data: Any, labels: Array) -> Split | None:
    """Return the labelled nodes of the masks, if there are all three."""
    masks = [data.get(f"{part}_mask") for part in ("train", "val", "test")]
    if any(mask is None or mask.dim() != 1 for mask in masks):
        return None
    known = torch.tensor([label is not None for label in labels.tolist()])
    train, val, test = ((mask.cpu() & known).nonzero().flatten() for mask in masks)
    return Split("from masks", train, val, test)


def _features(x: Any) -> Tensor:
    """Return features as float32, dense or sparse CSR."""
    if hasattr(x, "tocsr"):
        return from_scipy(x)
    tensor = x.cpu() if isinstance(x, Tensor) else torch.from_numpy(np.array(x, np.float32))
    if tensor.layout == torch.sparse_coo:
        tensor = tensor.coalesce().to_sparse_csr()
    return tensor.float()


def _from_matrix(matrix: Any, y: Any, features: Any, layout: Layout) -> Graph:
    """Take a SciPy adjacency: entry (i, j) is an edge from i to j with that weight."""
    entries, size = matrix.tocoo(), matrix.shape[0]
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"expected a square adjacency matrix, got the shape {matrix.shape}")
    source, target = entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)
    if not (entries.data >= 0).all():
        raise ValueError(f"a weight must not be negative or NaN, but one is {entries.data.min()}")
    weight = None if (entries.data == 1).all() else entries.data.astype(np.float64)
    edge_index, edge_weight, counts = clean_edges(source, target, weight, size, layout.directed)
    frame = hasattr(features, "columns")
    return Graph(
        ids=id_array(features.index.to_numpy()) if frame else np.arange(size),
        labels=known_labels(y, size),
        edge_index=edge_index,
        edge_weight=edge_weight,
        table=features if frame else None,
        x=None if features is None or frame else _features(features),
        counts=counts,
        layout=layout,
    )
