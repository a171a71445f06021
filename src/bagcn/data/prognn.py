"""Graphs that were attacked before training: Metattack and Nettack, as published with Pro-GNN.

The files lie in the folder ``ProGNN`` of the data folder: ``base/`` (the clean graphs, reduced to
their largest component), ``meta/`` and ``nettack/`` (attacked adjacencies), ``splits/``. They come
from https://github.com/ChandlerBang/Pro-GNN. Nothing in them is unpickled.

N nodes, E directed edges.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
import torch

from . import sources
from ._errors import DataFileError, MissingDataError
from ._graph import Array
from ._names import unknown
from .loader import load
from .npz import read_npz
from .splits import Split, public_split

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["ATTACKS", "SPLIT", "attack_levels", "load_attacked", "prognn_split"]

SPLIT = "prognn"
"""The name of the split that these graphs were attacked for: 10 % train, 10 % validate."""

ATTACKS: dict[str, tuple[float, ...]] = {
    "metattack": (0.05, 0.1, 0.15, 0.2, 0.25),
    "nettack": (1.0, 2.0, 3.0, 4.0, 5.0),
}
"""The strengths of either attack: a share of all edges, and edges a target."""

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, TypeError, KeyError)


@dataclass(frozen=True)
class _Base:
    """A graph before the attack: its file's stem, and how many of what it holds."""

    stem: str
    nodes: int
    edges: int
    targets: int = 0


_BASES = {
    "cora": _Base("cora", 2_485, 5_069, 83),
    "citeseer": _Base("citeseer", 2_110, 3_668, 63),
    "pubmed": _Base("pubmed", 19_717, 44_324, 186),
    "cora-ml": _Base("cora_ml", 2_810, 7_981),
}


def attack_levels(name: str, attack: str) -> tuple[float, ...]:
    """Return the strengths that there are of an attack on a data set; none if it was not."""
    if attack not in ATTACKS:
        raise unknown("attack", attack, ATTACKS)
    base = _BASES.get(name)
    return ATTACKS[attack] if base and (attack == "metattack" or base.targets) else ()


def load_attacked(
    name: str, attack: str, level: float, *, data_dir: str | Path | None = None
) -> Data:
    """Load a graph with the edges that an attack left it.

    Args:
        name: ``"cora"``, ``"citeseer"``, ``"cora-ml"`` or ``"pubmed"``.
        attack: ``"metattack"``, which lowers the accuracy of all nodes, or ``"nettack"``, which
            goes for single nodes of more than ten neighbours; these are then the test nodes.
        level: one of :data:`ATTACKS`; 0 is the clean graph with the same split.
        data_dir: the folder that holds ``ProGNN``; ``BAGCN_DATA`` if not given.

    Returns:
        A graph as :func:`bagcn.data.load` returns it; its masks are the attack's own split.
    """
    levels = attack_levels(name, attack)
    if not levels:
        known = [known for known in _BASES if attack_levels(known, attack)]
        raise unknown(f"data set with a ready {attack}", name, known)
    if level not in (0, *levels):
        strengths = ", ".join(f"{known:g}" for known in levels)
        raise ValueError(f"{attack} is ready at the levels 0, {strengths}; got {level:g}")
    folder, base = _folder(data_dir), _BASES[name]
    data = _clean(name, base, folder, data_dir)
    if level:
        changed = _adjacency(_adjacency_file(folder, base, attack, level), base)
        _check_changes(data, changed, base, attack, level)
        data.edge_index = torch.from_numpy(np.stack(changed.nonzero()).astype(np.int64))
    for part, mask in zip(("train", "val", "test"), _masks(folder, base, attack), strict=True):
        data[f"{part}_mask"] = mask
    data.split = SPLIT
    return data


def prognn_split(data: Data) -> Split:
    """Return the split of a graph from :func:`load_attacked`."""
    if data.get("split") != SPLIT:
        raise ValueError(
            f"{data.get('name') or 'this graph'} has no split {SPLIT!r}: only the graphs of "
            f"{', '.join(ATTACKS)} come with it"
        )
    return replace(public_split(data), name=SPLIT)


def _folder(data_dir: str | Path | None) -> Path:
    own = sources.data_folder(data_dir)
    if own is None or not (own / "ProGNN").is_dir():
        where = "no data folder was named" if own is None else f"{own / 'ProGNN'} does not exist"
        raise MissingDataError(
            f"the attacked graphs are missing: {where}. Put base, meta, nettack and splits of "
            "https://github.com/ChandlerBang/Pro-GNN into a folder ProGNN, and name the folder "
            "that holds it with --data-dir or BAGCN_DATA"
        )
    return own / "ProGNN"


def _present(file: Path) -> Path:
    if not file.is_file():
        raise MissingDataError(f"{file} is missing; it belongs to the files of Pro-GNN")
    return file


def _broken(file: Path, reason: object) -> DataFileError:
    return DataFileError(f"cannot use {file}: {reason}. Put a fresh copy from Pro-GNN in its place")


def _clean(name: str, base: _Base, folder: Path, data_dir: str | Path | None) -> Data:
    if name == "pubmed":
        return load(name, data_dir=data_dir)
    file = _present(folder / "base" / f"{base.stem}.npz")
    data = read_npz(file, name, largest=True)
    found = (data.num_nodes, data.num_edges // 2)
    if found != (base.nodes, base.edges):
        raise _broken(
            file,
            f"its largest component has {found[0]:,} nodes and {found[1]:,} edges, not "
            f"{base.nodes:,} and {base.edges:,}",
        )
    return data


def _adjacency_file(folder: Path, base: _Base, attack: str, level: float) -> Path:
    kind, text = ("meta", f"{level:g}") if attack == "metattack" else (attack, f"{level:.1f}")
    return _present(folder / kind / f"{base.stem}_{kind}_adj_{text}.npz")


def _adjacency(file: Path, base: _Base) -> sp.csr_matrix:
    try:
        with file.open("rb") as handle:
            matrix = sp.csr_matrix(sp.load_npz(handle))  # SciPy forbids pickles here
        matrix.check_format(full_check=True)
    except _DAMAGE as error:
        raise _broken(file, error) from error
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if matrix.shape != (base.nodes, base.nodes):
        raise _broken(file, f"it joins {matrix.shape[0]:,} nodes, not {base.nodes:,}")
    if (matrix != matrix.T).nnz or matrix.diagonal().any() or (matrix.data != 1).any():
        raise _broken(file, "it is not a plain undirected graph")
    return matrix


def _check_changes(
    data: Data, changed: sp.csr_matrix, base: _Base, attack: str, level: float
) -> None:
    """Refuse a graph that is not as far from the clean one as the attack's budget says."""
    row, col = data.edge_index.numpy()
    clean = sp.csr_matrix((np.ones(len(row)), (row, col)), shape=changed.shape)
    count = int(abs(clean - changed).sum()) // 2
    if attack == "metattack":
        expected = {int(level * base.edges)}
    else:  # an edge between two targets may serve both
        most = int(level * base.targets)
        expected = set(range(most * 9 // 10, most + 1))
    if count not in expected:
        raise DataFileError(
            f"{attack} at {level:g} on {data.name}: {count:,} edges differ from the clean graph "
            f"instead of {max(expected):,}; the files belong to different versions"
        )


def _masks(folder: Path, base: _Base, attack: str) -> list[torch.Tensor]:
    if attack == "metattack":
        file, test = folder / "splits" / f"{base.stem}_prognn_splits.json", "idx_test"
    else:
        file = folder / "nettack" / f"{base.stem}_nettacked_nodes.json"
        test = "attacked_test_nodes"
    text = _present(file).read_bytes()
    try:
        content = json.loads(text)
        parts = [np.array(content[key], dtype=np.int64) for key in ("idx_train", "idx_val", test)]
    except _DAMAGE as error:
        raise _broken(file, error) from error
    every = np.concatenate(parts)
    if len(np.unique(every)) < len(every) or every.min() < 0 or every.max() >= base.nodes:
        raise _broken(file, "its nodes are not disjoint sets of the graph's")
    return [_mask(part, base.nodes) for part in parts]


def _mask(nodes: Array, size: int) -> torch.Tensor:
    mask = torch.zeros(size, dtype=torch.bool)
    mask[torch.from_numpy(nodes)] = True
    return mask
