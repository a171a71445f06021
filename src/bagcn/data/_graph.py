"""From arrays to one clean graph: undirected, no self-loops, no duplicates.

N nodes, F features, E directed edges.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import connected_components

from ._csr import from_scipy

if TYPE_CHECKING:
    from torch_geometric.data import Data

Array = np.ndarray


def undirected(row: Array, col: Array, num_nodes: int) -> Array:
    """Both directions of every edge once, without self-loops, sorted by row: (2, E)."""
    keep = row != col
    row, col = row[keep].astype(np.int64), col[keep].astype(np.int64)
    keys = np.unique(np.concatenate([row * num_nodes + col, col * num_nodes + row]))
    return np.stack(np.divmod(keys, num_nodes))


def largest_component(edges: Array, num_nodes: int) -> Array:
    """The nodes of the largest connected component, ascending; the first one on a tie."""
    ones = np.ones(edges.shape[1], dtype=np.int8)
    adjacency = sp.csr_matrix((ones, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    _, component = connected_components(adjacency, directed=False)
    return np.flatnonzero(component == np.bincount(component).argmax())


def induced(edges: Array, nodes: Array, num_nodes: int) -> Array:
    """The edges among ``nodes``, renumbered by their position in ``nodes``."""
    position = np.full(num_nodes, -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    renumbered: Array = position[edges]
    return renumbered[:, (renumbered >= 0).all(axis=0)]


def build(name: str, x: sp.spmatrix, edges: Array, y: Array, **masks: Array) -> Data:
    """The graph as a PyTorch Geometric object with sparse features."""
    data = data_class()(
        x=from_scipy(x),
        edge_index=torch.from_numpy(np.ascontiguousarray(edges, dtype=np.int64)),
        y=torch.from_numpy(np.ascontiguousarray(y, dtype=np.int64)),
    )
    for key, mask in masks.items():
        data[key] = torch.from_numpy(mask)
    data.num_nodes = x.shape[0]
    data.name = name
    return data


def data_class() -> Any:
    """PyTorch Geometric's Data, imported late: it costs more than a second."""
    with warnings.catch_warnings():
        # On import it compiles some of its classes in a way that PyTorch calls deprecated.
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        from torch_geometric.data import Data
    return Data
