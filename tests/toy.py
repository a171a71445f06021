"""A small benchmark data set in a file of its own, in the format of CitationFull and Amazon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bagcn.data import DatasetInfo, RawFile, synthetic_graph

NODES, FEATURES, CLASSES = 90, 12, 3


def toy_arrays() -> dict[str, Any]:
    """Return what the file holds: adjacency, features and labels, and names as the real ones do."""
    data = synthetic_graph(
        NODES, num_classes=CLASSES, regions_per_class=2, num_features=FEATURES, noise=1.0
    )
    row, col = data.edge_index.numpy()
    adjacency = sp.csr_matrix((np.ones(len(row), np.float32), (row, col)), shape=(NODES, NODES))
    return {
        **csr_parts("adj", adjacency),
        **csr_parts("attr", sp.csr_matrix(data.x.numpy())),
        "labels": data.y.numpy(),
        "class_names": np.array(["a", "b", "c"], dtype=object),
    }


def csr_parts(prefix: str, matrix: sp.csr_matrix) -> dict[str, Any]:
    """Return the arrays that stand for a matrix in such a file."""
    names = ("data", "indices", "indptr", "shape")
    return {f"{prefix}_{name}": np.array(getattr(matrix, name)) for name in names}


def write_toy(root: Path, arrays: Mapping[str, Any] | None = None) -> DatasetInfo:
    """Write the file into the data folder ``root`` and return what is to be found in it."""
    own = toy_arrays() if arrays is None else arrays
    file = root / "Toy" / "raw" / "toy.npz"
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez(file, **own)
    clean = toy_arrays()
    return DatasetInfo(
        name="toy",
        title="Toy",
        nodes=NODES,
        edges=len(clean["adj_indices"]) // 2,
        features=FEATURES,
        classes=CLASSES,
        default_split="per-class",
        scaling="none",
        format="npz",
        folder="Toy/raw",
        files=(RawFile("toy.npz", "https://example.org/toy.npz", "sha256:" + "0" * 64),),
        homepage="https://example.org",
        paper="https://example.org/paper",
    )
