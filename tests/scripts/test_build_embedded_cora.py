"""The script is given tables as the wheel has them, made of Planetoid's files in another order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bagcn.data import DATASETS, load

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script(load_script: Callable[[str], ModuleType]) -> ModuleType:
    return load_script("build_embedded_cora")


def tables(script: ModuleType) -> tuple[str, str]:
    """``cora.content`` and ``cora.cites`` with the papers in the order of the script's ORDER."""
    data = load("cora")
    words, labels = data.x.to_dense().numpy().astype(int), data.y.numpy()
    row_of = script.decode(script.ORDER, len(labels))
    lines = [""] * len(labels)
    for node, row in enumerate(row_of):
        name = script.CLASSES[labels[node]]
        lines[row] = "\t".join([f"paper{row}", *map(str, words[node]), name])
    links = [f"paper{row_of[a]}\tpaper{row_of[b]}" for a, b in data.edge_index.T.tolist() if a < b]
    return "\n".join(lines), "\n".join(links)


def test_the_order_is_one_and_reads_as_it_was_written(script: ModuleType) -> None:
    order = script.decode(script.ORDER, 2_708)
    assert sorted(order.tolist()) == list(range(2_708))
    assert script.encode(order) == script.ORDER.strip()


def test_it_builds_what_is_in_the_package(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    read = script.read_tables(*tables(script))
    monkeypatch.setattr(script, "ASSET", tmp_path / "cora.npz")
    script.build(*read, script.decode(script.ORDER, 2_708))
    built = np.load(tmp_path / "cora.npz")
    kept = np.load(ROOT / "src" / "bagcn" / "data" / "assets" / "cora.npz")
    assert set(built) == set(kept) == {"words", "counts", "links", "labels"}
    for name in ("words", "counts", "labels"):
        assert (built[name] == kept[name]).all()
    proper = kept["links"][:, kept["links"][0] != kept["links"][1]]
    assert (built["links"] == proper).all()


@pytest.mark.raw
def test_the_order_follows_from_planetoid_s_files(
    script: ModuleType, raw_data: Callable[[str], Path]
) -> None:
    folder = raw_data("cora") / DATASETS["cora"].folder
    words, _, links = script.read_tables(*tables(script))
    order = script.derive(words, links, folder)
    assert script.encode(order) == script.ORDER.strip()
