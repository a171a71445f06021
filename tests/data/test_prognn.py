from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data
from torch_geometric.utils import degree

from bagcn.data import DataFileError, MissingDataError, sources
from bagcn.data.prognn import ATTACKS, attack_levels, load_attacked, prognn_split

CLEAN_EDGES = {"cora": 5_069, "citeseer": 3_668, "cora-ml": 7_981, "pubmed": 44_324}
SPLITS = {
    "cora": (247, 249, 1_988, 83),
    "citeseer": (210, 211, 1_688, 63),
    "cora-ml": (280, 282, 2_248, 0),
    "pubmed": (1_971, 1_972, 15_774, 186),
}


@pytest.fixture
def folder() -> Path:
    own = sources.data_folder(None)
    if own is None or not (own / "ProGNN").is_dir():
        pytest.skip("BAGCN_DATA does not hold the attacked graphs")
    return own


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    """A data folder of one's own with what Cora needs."""
    for part in ("base", "meta", "nettack", "splits"):
        (tmp_path / "ProGNN" / part).mkdir(parents=True)
        for file in (folder / "ProGNN" / part).glob("cora[_.]*"):
            shutil.copyfile(file, tmp_path / "ProGNN" / part / file.name)
    return tmp_path


def edges(data: Data) -> set[tuple[int, int]]:
    pairs = {(int(i), int(j)) for i, j in data.edge_index.T}
    assert len(pairs) == data.num_edges
    assert all((j, i) in pairs and i != j for i, j in pairs)
    return {(i, j) for i, j in pairs if i < j}


@pytest.mark.parametrize(
    ("name", "share"), [(n, s) for n in ("cora", "citeseer", "cora-ml") for s in (0.05, 0.25)]
)
def test_metattack_changes_exactly_its_share_of_the_edges(
    folder: Path, name: str, share: float
) -> None:
    clean = load_attacked(name, "metattack", 0)
    attacked = load_attacked(name, "metattack", share)
    assert len(edges(clean)) == CLEAN_EDGES[name]
    assert len(edges(clean) ^ edges(attacked)) == int(share * CLEAN_EDGES[name])
    assert torch.equal(clean.x.to_dense(), attacked.x.to_dense())
    assert torch.equal(clean.y, attacked.y)


def test_the_five_percent_graphs_are_the_known_ones(folder: Path) -> None:
    changes = {
        name: len(
            edges(load_attacked(name, "metattack", 0))
            ^ edges(load_attacked(name, "metattack", 0.05))
        )
        for name in ("cora", "citeseer", "cora-ml")
    }
    assert changes == {"cora": 253, "citeseer": 183, "cora-ml": 399}


@pytest.mark.parametrize("name", SPLITS)
def test_the_split_is_the_attack_s_own(folder: Path, name: str) -> None:
    split = prognn_split(load_attacked(name, "metattack", 0))
    assert split.name == "prognn"
    assert (len(split.train), len(split.val), len(split.test)) == SPLITS[name][:3]


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_nettack_is_tested_on_its_targets(folder: Path, name: str) -> None:
    clean, attacked = load_attacked(name, "nettack", 0), load_attacked(name, "nettack", 1)
    targets = prognn_split(attacked).test
    assert len(targets) == SPLITS[name][3]
    assert int(degree(clean.edge_index[0], clean.num_nodes)[targets].min()) == 11
    others = prognn_split(load_attacked(name, "metattack", 0))
    assert set(targets.tolist()) < set(others.test.tolist())
    assert torch.equal(prognn_split(attacked).train, others.train)
    changed = edges(clean) ^ edges(attacked)
    assert len(changed) == len(targets)
    touched = {node for pair in changed for node in pair}
    assert set(targets.tolist()) <= touched
    assert all(set(pair) & set(targets.tolist()) for pair in changed)


def test_pubmed_is_planetoid_s(folder: Path, raw_data: Callable[[str], Path]) -> None:
    raw_data("pubmed")
    clean = load_attacked("pubmed", "metattack", 0)
    attacked = load_attacked("pubmed", "metattack", 0.05)
    pairs = [d.edge_index[0] * d.num_nodes + d.edge_index[1] for d in (clean, attacked)]
    common = torch.isin(pairs[0], pairs[1]).sum()
    assert (len(pairs[0]) + len(pairs[1]) - 2 * int(common)) // 2 == 2_216


def test_which_attacks_are_ready() -> None:
    assert attack_levels("cora", "nettack") == ATTACKS["nettack"]
    assert attack_levels("cora-ml", "nettack") == ()
    assert attack_levels("photo", "metattack") == ()
    with pytest.raises(ValueError, match="did you mean 'metattack'"):
        attack_levels("cora", "metatack")
    with pytest.raises(ValueError, match="ready nettack 'cora-ml'; did you mean 'cora'"):
        load_attacked("cora-ml", "nettack", 1)
    with pytest.raises(ValueError, match=r"levels 0, 0\.05, 0\.1, 0\.15, 0\.2, 0\.25; got 0\.3"):
        load_attacked("cora", "metattack", 0.3)


def test_a_missing_folder_and_a_missing_file_are_named(copy: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"empty/ProGNN does not exist.*--data-dir"):
        load_attacked("cora", "metattack", 0, data_dir=tmp_path / "empty")
    file = copy / "ProGNN" / "meta" / "cora_meta_adj_0.1.npz"
    file.unlink()
    with pytest.raises(MissingDataError, match=r"cora_meta_adj_0\.1\.npz is missing"):
        load_attacked("cora", "metattack", 0.1, data_dir=copy)
    assert load_attacked("cora", "metattack", 0.15, data_dir=copy).num_nodes == 2_485


def test_without_any_folder_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    with pytest.raises(MissingDataError, match=r"no data folder was named.*BAGCN_DATA"):
        load_attacked("cora", "metattack", 0)


def test_files_of_another_graph_are_refused(copy: Path) -> None:
    meta = copy / "ProGNN" / "meta"
    shutil.copyfile(meta / "cora_meta_adj_0.1.npz", meta / "cora_meta_adj_0.2.npz")
    with pytest.raises(DataFileError, match=r"506 edges differ.*instead of 1,013"):
        load_attacked("cora", "metattack", 0.2, data_dir=copy)
    shutil.copyfile(meta / "cora_ml_meta_adj_0.1.npz", meta / "cora_meta_adj_0.2.npz")
    with pytest.raises(DataFileError, match=r"joins 2,810 nodes, not 2,485"):
        load_attacked("cora", "metattack", 0.2, data_dir=copy)
    base = copy / "ProGNN" / "base"
    shutil.copyfile(base / "cora_ml.npz", base / "cora.npz")
    with pytest.raises(DataFileError, match="2,810 nodes and 7,981 edges, not 2,485 and 5,069"):
        load_attacked("cora", "metattack", 0.2, data_dir=copy)


def test_a_graph_that_is_not_undirected_is_refused(copy: Path) -> None:
    file = copy / "ProGNN" / "meta" / "cora_meta_adj_0.1.npz"
    matrix = sp.load_npz(file).tolil()
    matrix[0, 0] = 1
    sp.save_npz(file, matrix.tocsr())
    with pytest.raises(DataFileError, match="not a plain undirected graph"):
        load_attacked("cora", "metattack", 0.1, data_dir=copy)


class Trap:
    """Unpickling it leaves a file behind."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


def test_a_pickle_in_a_file_is_refused_and_not_run(copy: Path, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    file = copy / "ProGNN" / "meta" / "cora_meta_adj_0.1.npz"
    np.savez(file, format=np.array(b"csr"), shape=np.array([Trap(sprung)], dtype=object))
    with pytest.raises(DataFileError, match=r"cora_meta_adj_0\.1\.npz"):
        load_attacked("cora", "metattack", 0.1, data_dir=copy)
    assert not sprung.exists()


def test_torn_files_are_refused(copy: Path) -> None:
    meta = copy / "ProGNN" / "meta" / "cora_meta_adj_0.1.npz"
    meta.write_bytes(meta.read_bytes()[:5_000])
    assert not zipfile.is_zipfile(meta)
    with pytest.raises(DataFileError, match="Put a fresh copy"):
        load_attacked("cora", "metattack", 0.1, data_dir=copy)
    split = copy / "ProGNN" / "splits" / "cora_prognn_splits.json"
    content = json.loads(split.read_text())
    content["idx_val"] = content["idx_train"]
    split.write_text(json.dumps(content))
    with pytest.raises(DataFileError, match="not disjoint"):
        load_attacked("cora", "metattack", 0, data_dir=copy)
    split.write_text("{}")
    with pytest.raises(DataFileError, match="idx_train"):
        load_attacked("cora", "metattack", 0, data_dir=copy)


def test_only_these_graphs_have_this_split(tiny_graph: Data) -> None:
    with pytest.raises(ValueError, match="has no split 'prognn'"):
        prognn_split(tiny_graph)
