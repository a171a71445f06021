"""Planetoid's files: eight per data set, pickled by Python 2, in two groups of nodes.

``allx``/``ally`` hold the nodes outside the test set, ``tx``/``ty`` the test nodes in the order
of ``test.index``; ``x``/``y`` are the first, labelled rows of ``allx``/``ally``.
A pickle can run any program, so these are read by an unpickler that knows only the handful of
types the official files are made of.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._errors import bad_file
from ._graph import Array, build, undirected

if TYPE_CHECKING:
    from torch_geometric.data import Data

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
"""The endings of a data set's eight files."""

PUBLIC_VALIDATION = 500
"""The public split validates on the 500 nodes that follow the training nodes."""


class _DType:
    """``numpy.dtype`` as old pickles call it: with integers for flags, for which NumPy warns.

    Without attributes, so that a file cannot change it for those that are read later.
    """

    __slots__ = ()

    def __call__(self, spec: str, align: object = False, copy: object = False) -> np.dtype[Any]:
        return np.dtype(spec, align=bool(align), copy=bool(copy))


_reconstruct = np.empty(0).__reduce__()[0]  # what NumPy names in a pickled array

_ALLOWED: dict[tuple[str, str], object] = {
    ("numpy", "dtype"): _DType(),
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}
_CSR = {("scipy.sparse.csr", "csr_matrix"), ("scipy.sparse._csr", "csr_matrix")}


class _Unpickler(pickle.Unpickler):
    """Knows the few types of Planetoid's files and refuses everything else."""

    def find_class(self, module: str, name: str) -> object:
        if (module, name) in _CSR:
            # A class of its own that holds the parts: a file can write attributes of any class
            # that it gets hold of, so it does not get SciPy's.
            return type(name, (), {})
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise pickle.UnpicklingError(
                f"it asks for {module}.{name}, which has no place in a data file; "
                "nothing of it was executed"
            ) from None


def safe_unpickle(path: Path) -> Any:
    """What the pickle at ``path`` holds, if it is made of arrays, CSR matrices and lists only.

    A matrix comes back as a bare object with the parts as attributes.
    """
    try:
        return _Unpickler(io.BytesIO(path.read_bytes()), encoding="latin1").load()
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged pickle may raise anything
        raise bad_file(path, str(error) or type(error).__name__) from error


@dataclass(frozen=True)
class _Raw:
    """The parts of one data set. The rows of x are also in allx, so only their number counts."""

    num_train: int
    allx: sp.csr_matrix
    tx: sp.csr_matrix
    ally: Array
    ty: Array
    graph: Array  # (2, E), as listed
    test_index: Array


def read_planetoid(folder: Path, name: str) -> Data:
    """Read a Planetoid data set, in Planetoid's node order, with its public split.

    Test ids that the files leave out (15 in Citeseer) become isolated nodes without features,
    as everywhere; they have no label in the files, so theirs is -1.
    """
    raw = _read_parts(folder, name)
    num_nodes = int(max(raw.test_index.max() + 1, len(raw.ally) + len(raw.test_index)))
    nodes = np.concatenate([np.arange(len(raw.ally)), raw.test_index])
    place = sp.csr_matrix(
        (np.ones(len(nodes), np.float32), (nodes, np.arange(len(nodes)))), (num_nodes, len(nodes))
    )
    y = np.full(num_nodes, -1, dtype=np.int64)
    y[nodes] = np.concatenate([raw.ally, raw.ty]).argmax(axis=1)
    edges = undirected(raw.graph[0], raw.graph[1], num_nodes)
    x = place @ sp.vstack([raw.allx, raw.tx], format="csr")
    return build(name, x, edges, y, **public_masks(num_nodes, raw.num_train, raw.test_index))


def public_masks(num_nodes: int, num_train: int, test: Array) -> dict[str, Array]:
    """The public split: the first nodes train, the next 500 validate, the listed ones test."""
    masks = {key: np.zeros(num_nodes, bool) for key in ("train_mask", "val_mask", "test_mask")}
    masks["train_mask"][:num_train] = True
    masks["val_mask"][num_train : num_train + PUBLIC_VALIDATION] = True
    masks["test_mask"][test] = True
    return masks


def _read_parts(folder: Path, name: str) -> _Raw:
    paths = {part: folder / f"ind.{name}.{part}" for part in PARTS}
    raw = _Raw(
        num_train=len(_labels(paths["y"])),
        allx=_features(paths["allx"]),
        tx=_features(paths["tx"]),
        ally=_labels(paths["ally"]),
        ty=_labels(paths["ty"]),
        graph=_links(paths["graph"]),
        test_index=_test_index(paths["test.index"]),
    )
    _check(raw, paths)
    return raw


def _check(raw: _Raw, paths: dict[str, Path]) -> None:
    """Refuse parts that do not fit together."""
    known, columns, test = len(raw.ally), raw.allx.shape[1], raw.test_index
    _require(raw.allx.shape[0] == known, paths["allx"], "ally has another number of rows")
    _require(raw.tx.shape[0] == len(raw.ty), paths["tx"], "ty has another number of rows")
    _require(raw.tx.shape[1] == columns, paths["tx"], "allx has other columns")
    _require(raw.ty.shape[1] == raw.ally.shape[1], paths["ty"], "ally has other columns")
    fits = raw.num_train + PUBLIC_VALIDATION <= known
    _require(fits, paths["y"], f"of {known} nodes, {raw.num_train} train and 500 validate")
    _require(len(raw.ty) == len(test), paths["test.index"], "ty has other rows")
    _require(len(set(test.tolist())) == len(test), paths["test.index"], "an id comes twice")
    _require(len(test) > 0, paths["test.index"], "it is empty")
    _require(int(test.min()) >= known, paths["test.index"], f"ids should start at {known}")
    _require(int(test.max()) < known + 2 * len(test), paths["test.index"], "ids leave large gaps")
    highest = max(int(test.max()), known + len(test) - 1)
    in_range = ((raw.graph >= 0) & (raw.graph <= highest)).all()
    _require(bool(in_range), paths["graph"], f"node ids should lie in 0..{highest}")


def _require(condition: bool, path: Path, reason: str) -> None:
    if not condition:
        raise bad_file(path, reason)


def _features(path: Path) -> sp.csr_matrix:
    matrix = safe_unpickle(path)
    try:
        # A damaged matrix must not reach compiled code that trusts its indices.
        parts = (matrix.data.astype(np.float32), matrix.indices, matrix.indptr)
        csr = sp.csr_matrix(parts, shape=matrix._shape)
        csr.check_format(full_check=True)
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise bad_file(path, f"expected a sparse matrix: {error}") from error
    _require(bool(np.isfinite(csr.data).all()), path, "it holds NaN or infinite values")
    return csr


def _labels(path: Path) -> Array:
    labels = safe_unpickle(path)
    table = isinstance(labels, np.ndarray) and labels.ndim == 2 and labels.shape[1] > 0
    if not table or labels.dtype.kind not in "biuf":
        raise bad_file(path, "expected a table of one-hot labels")
    return labels  # type: ignore[no-any-return]


def _links(path: Path) -> Array:
    lists = safe_unpickle(path)
    try:
        pairs = [(int(node), int(other)) for node, links in lists.items() for other in links]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        raise bad_file(path, "expected a list of neighbours for every node") from error


def _test_index(path: Path) -> Array:
    try:
        return np.array([int(line) for line in path.read_text("ascii").split()], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise bad_file(path, f"expected one node id a line: {error}") from error
