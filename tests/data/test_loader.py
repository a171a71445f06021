"""Held to the true statistics, and to what PyTorch Geometric reads from the same files."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.io import read_npz, read_planetoid_data
from torch_geometric.transforms import LargestConnectedComponents

from bagcn.data import DATASETS, DataFileError, load
from bagcn.data.planetoid import read_planetoid
from toy import toy_arrays, write_toy

RawData = Callable[[str], Path]

CLASS_SIZES = {
    "cora": [351, 217, 418, 818, 426, 298, 180],
    "citeseer": [249, 590, 668, 701, 596, 508],  # and 15 nodes without a label
    "pubmed": [4_103, 7_739, 7_875],
    "cora-ml": [354, 402, 452, 442, 857, 193, 295],
    "photo": [365, 1_634, 686, 901, 872, 798, 1_900, 331],
    "cs": [708, 462, 2_050, 429, 1_394, 2_193, 371, 924, 775, 118, 1_444, 2_033, 420, 4_136, 876],
    "physics": [5_750, 5_045, 17_426, 2_753, 3_519],
    "dblp": [7_920, 5_645, 1_982, 2_169],
}
STATISTICS = {  # nodes, undirected edges, features, classes: as published, duplicates taken out
    "cora": (2_708, 5_278, 1_433, 7),
    "citeseer": (3_327, 4_552, 3_703, 6),
    "pubmed": (19_717, 44_324, 500, 3),
    "cora-ml": (2_995, 8_158, 2_879, 7),
    "photo": (7_487, 119_043, 745, 8),
    "cs": (18_333, 81_894, 6_805, 15),
    "physics": (34_493, 247_962, 8_415, 5),
    "dblp": (17_716, 52_867, 1_639, 4),
    "cora-full": (19_793, 63_421, 8_710, 70),
}


def test_these_are_the_nine() -> None:
    assert list(DATASETS) == list(STATISTICS)
    for name, info in DATASETS.items():
        assert (info.nodes, info.edges, info.features, info.classes) == STATISTICS[name]


@pytest.mark.raw
@pytest.mark.parametrize("name", CLASS_SIZES)
def test_true_statistics(raw_data: RawData, name: str) -> None:
    data = load(name, data_dir=raw_data(name))
    nodes, edges, features, classes = STATISTICS[name]
    assert (data.num_nodes, data.num_edges, data.x.shape) == (nodes, 2 * edges, (nodes, features))
    assert torch.bincount(data.y[data.y >= 0], minlength=classes).tolist() == CLASS_SIZES[name]
    row, col = data.edge_index
    keys, back = row * nodes + col, col * nodes + row
    assert bool((keys.diff() > 0).all())  # sorted and without duplicates
    assert torch.equal(back.sort().values, keys)
    assert bool((row != col).all())
    assert data.x.layout == torch.sparse_csr
    assert data.x.dtype == torch.float32
    assert bool((data.x.values() != 0).all())
    assert data.name == name


def theirs(name: str, root: Path) -> Data:
    """What PyTorch Geometric reads."""
    info = DATASETS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it unpickles, and builds CSR tensors
        if info.format == "planetoid":
            return read_planetoid_data(str(root / info.folder), name)
        data = read_npz(str(root / info.folder / info.files[0].name), to_undirected=True)
        return LargestConnectedComponents()(data) if info.largest_component else data


@pytest.mark.raw
@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "cora-ml", "photo", "dblp"])
def test_equals_what_pytorch_geometric_reads(raw_data: RawData, name: str) -> None:
    root = raw_data(name)
    ours, expected = load(name, data_dir=root), theirs(name, root)
    order = (expected.edge_index[0] * expected.num_nodes + expected.edge_index[1]).argsort()
    assert torch.equal(ours.edge_index, expected.edge_index[:, order])
    x = ours.x.to_dense()
    if DATASETS[name].format == "npz":  # there, values become ones
        x = (x > 0).float()
    assert torch.equal(x, expected.x)
    unlabelled = ours.y < 0  # it gives them to the first class
    assert int(unlabelled.sum()) == (15 if name == "citeseer" else 0)
    assert torch.equal(ours.y.clamp_min(0), expected.y)
    for mask in ("train_mask", "val_mask", "test_mask"):
        assert (mask in ours) == (mask in expected)
        if mask in ours:
            assert torch.equal(ours[mask], expected[mask])


@pytest.mark.raw
def test_values_are_as_published(raw_data: RawData) -> None:
    """Counts in the graphs of co-authors, weights between 0 and 1 in those of citations."""
    x = load("cs", data_dir=raw_data("cs")).x.values()
    assert torch.equal(x, x.round())
    assert float(x.max()) > 90
    x = load("dblp", data_dir=raw_data("dblp")).x.values()
    assert 0 < float(x.min()) < float(x.max()) <= 1


def test_the_embedded_cora(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    data = load("cora", offline=True)
    nodes, edges, features, _ = STATISTICS["cora"]
    assert (data.num_nodes, data.num_edges, data.x.shape) == (nodes, 2 * edges, (nodes, features))
    assert torch.bincount(data.y).tolist() == CLASS_SIZES["cora"]
    masks = (data.train_mask, data.val_mask, data.test_mask)
    assert [mask.nonzero().flatten()[[0, -1]].tolist() for mask in masks] == [
        [0, 139],
        [140, 639],
        [1_708, 2_707],
    ]
    assert bool((data.x.values() == 1).all())
    assert data.x.values().numel() == 49_216


@pytest.mark.raw
def test_the_embedded_cora_equals_planetoid_s(
    raw_data: RawData, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = read_planetoid(raw_data("cora") / DATASETS["cora"].folder, "cora")
    monkeypatch.delenv("BAGCN_DATA")
    embedded = load("cora", offline=True)
    assert set(embedded.keys()) == set(expected.keys())
    for key, value in expected.items():
        if key == "x":
            for part in ("crow_indices", "col_indices", "values"):
                assert torch.equal(getattr(embedded.x, part)(), getattr(value, part)())
        elif isinstance(value, torch.Tensor):
            assert torch.equal(embedded[key], value), key
        else:
            assert embedded[key] == value


def test_an_unknown_name() -> None:
    with pytest.raises(ValueError, match="unknown data set 'pubmet'; did you mean 'pubmed'"):
        load("pubmet")


def test_a_file_of_another_graph_is_refused(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("toy").num_nodes == 90
    info = dataclasses.replace(DATASETS["toy"], nodes=91, edges=7, features=13, classes=4)
    monkeypatch.setitem(DATASETS, "toy", info)
    with pytest.raises(DataFileError) as caught:
        load("toy")
    edges = len(toy_arrays()["adj_indices"]) // 2
    assert str(caught.value) == (
        f"{own}/Toy/raw does not hold Toy: 90 nodes instead of 91, {edges} edges instead of 7, 12 "
        "features instead of 13, 3 classes instead of 4. Replace toy.npz by the files from "
        "https://example.org"
    )


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(file.relative_to(folder)): (file.stat().st_mtime_ns, file.read_bytes())
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_the_user_s_folder_is_never_written_to(own: Path) -> None:
    before = contents(own)
    assert load("toy").num_nodes == 90
    assert load("small").num_nodes == 540
    assert contents(own) == before


def relabelled(shift: int) -> dict[str, Any]:
    arrays = toy_arrays()
    return {**arrays, "labels": (arrays["labels"] + shift) % 3}


def test_data_dir_comes_before_bagcn_data_and_that_before_the_cache(
    own: Path, cache: Path, tmp_path: Path
) -> None:
    """The three hold other labels, so that it shows which one was read."""
    clean = torch.from_numpy(toy_arrays()["labels"])
    write_toy(tmp_path / "named", relabelled(1))
    write_toy(cache, relabelled(2))
    assert torch.equal(load("toy", data_dir=tmp_path / "named").y, (clean + 1) % 3)
    assert torch.equal(load("toy").y, clean)
    (own / "Toy" / "raw" / "toy.npz").unlink()
    assert torch.equal(load("toy").y, (clean + 2) % 3)
