"""Cora inside the package, so that a first run needs no network.

The asset is built by ``scripts/build_embedded_cora.py``. It holds the feature indices row by row,
the citations and the labels, in Planetoid's node order; the rest follows.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ._graph import build, undirected
from .planetoid import public_masks

if TYPE_CHECKING:
    from torch_geometric.data import Data

_FEATURES = 1_433
_TRAIN = 140
_TEST = 1_000


def read_embedded() -> Data:
    """Cora with its public split, equal to the one read from Planetoid's files."""
    with (files("bagcn.data") / "assets" / "cora.npz").open("rb") as file:
        arrays = np.load(file, allow_pickle=False)
        words, counts, links, y = (arrays[k] for k in ("words", "counts", "links", "labels"))
    n = len(y)
    ones, indptr = np.ones(len(words), np.float32), np.concatenate([[0], np.cumsum(counts)])
    x = sp.csr_matrix((ones, words, indptr), shape=(n, _FEATURES))
    masks = public_masks(n, _TRAIN, np.arange(n - _TEST, n))
    return build("cora", x, undirected(links[0], links[1], n), y, **masks)
