"""The npz format of CitationFull, Amazon and Coauthor: two CSR matrices and labels.

The files also carry names as object arrays, which would have to be unpickled; only the numeric
arrays are touched, so pickles stay forbidden.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from ._errors import bad_file
from ._graph import Array, build, induced, largest_component, undirected

if TYPE_CHECKING:
    from torch_geometric.data import Data

_CSR_PARTS = ("data", "indices", "indptr", "shape")
_KEYS = (*(f"{m}_{part}" for m in ("adj", "attr") for part in _CSR_PARTS), "labels")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


def read_npz(path: Path, name: str, *, largest: bool = False) -> Data:
    """Read a graph; ``largest`` keeps its largest connected component only, in the same order.

    Feature values are returned as stored (counts in Coauthor, weights in Cora-ML and DBLP).
    """
    arrays = _read_arrays(path)
    adjacency, x = _csr(path, arrays, "adj").tocoo(), _csr(path, arrays, "attr")
    y, num_nodes = arrays["labels"], x.shape[0]
    if not np.isfinite(x.data).all():
        raise bad_file(path, "its features hold NaN or infinite values")
    if y.dtype.kind not in "iu":
        raise bad_file(path, f"expected whole numbers as labels, found {y.dtype}")
    if adjacency.shape != (num_nodes, num_nodes) or y.shape != (num_nodes,):
        shapes = f"links {adjacency.shape}, features {x.shape}, labels {y.shape}"
        raise bad_file(path, f"its parts do not fit together: {shapes}")
    edges = undirected(adjacency.row, adjacency.col, num_nodes)
    if largest:
        nodes = largest_component(edges, num_nodes)
        x, y, edges = x[nodes], y[nodes], induced(edges, nodes, num_nodes)
    return build(name, x, edges, y)


def _read_arrays(path: Path) -> dict[str, Array]:
    if path.is_file() and not zipfile.is_zipfile(path):
        raise bad_file(path, "it is no npz file, or not a whole one")
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [key for key in _KEYS if key not in file]
            if not missing:
                return {key: file[key] for key in _KEYS}
    except FileNotFoundError:
        raise
    except _DAMAGE as error:
        raise bad_file(path, str(error) or type(error).__name__) from error
    raise bad_file(path, f"it lacks the arrays {', '.join(missing)}")


def _csr(path: Path, arrays: dict[str, Array], prefix: str) -> sp.csr_matrix:
    data, indices, indptr, shape = (arrays[f"{prefix}_{part}"] for part in _CSR_PARTS)
    try:
        rows, columns = (int(size) for size in shape)
        if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
            raise ValueError(
                f"indices from {indices.min()} to {indices.max()} should lie in 0..{columns - 1}"
            )
        matrix = sp.csr_matrix((data, indices, indptr), shape=(rows, columns))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise bad_file(path, f"{prefix}: {error}") from error
    return matrix
