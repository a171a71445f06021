"""A small data set in Planetoid's eight files, as the real ones are, only pickled by Python 3.

540 nodes: 6 train, 500 validate, 12 more are known, 22 test.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bagcn.data import DatasetInfo, RawFile

TRAIN, KNOWN, TEST, FEATURES, CLASSES = 6, 518, 22, 7, 3
NODES = KNOWN + TEST


def planetoid_parts() -> dict[str, Any]:
    """Return what is in the pickles, by the files' endings, and the order of the test nodes."""
    generator = np.random.Generator(np.random.PCG64(0))
    words = sp.csr_matrix((generator.random((NODES, FEATURES)) < 0.4).astype(np.float32))
    labels = np.eye(CLASSES, dtype=np.int32)[np.arange(NODES) % CLASSES]
    links = defaultdict(list)
    for a, b in generator.integers(NODES, size=(900, 2)).tolist():
        links[a].append(b)
    links[0] += [0, 1, 1]  # a loop and a duplicate, as the real files have
    order = KNOWN + generator.permutation(TEST)
    return {
        "x": words[:TRAIN],
        "y": labels[:TRAIN],
        "allx": words[:KNOWN],
        "ally": labels[:KNOWN],
        "tx": words[order],
        "ty": labels[order],
        "graph": links,
        "test.index": order,
    }


def write_planetoid(root: Path, parts: dict[str, Any] | None = None) -> DatasetInfo:
    """Write the files into the data folder ``root`` and return what is to be found in them."""
    folder = root / "Planetoid" / "Small" / "raw"
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in (parts or planetoid_parts()).items():
        file = folder / f"ind.small.{part}"
        if part == "test.index":
            file.write_text("".join(f"{node}\n" for node in content))
        else:
            file.write_bytes(pickle.dumps(content, protocol=4))
    clean = planetoid_parts()
    pairs = {frozenset((a, b)) for a, links in clean["graph"].items() for b in links if a != b}
    return DatasetInfo(
        name="small",
        title="Small",
        nodes=NODES,
        edges=len(pairs),
        features=FEATURES,
        classes=CLASSES,
        default_split="public",
        scaling="row",
        format="planetoid",
        folder="Planetoid/Small/raw",
        files=tuple(
            RawFile(f"ind.small.{part}", f"https://example.org/ind.small.{part}", "sha256:0")
            for part in clean
        ),
        homepage="https://example.org",
        paper="https://example.org/paper",
    )
