from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from bagcn.data import DATASETS, DataFileError, load
from bagcn.data.npz import read_npz
from toy import CLASSES, FEATURES, NODES, csr_parts, toy_arrays


def test_the_loader_of_cora_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its file is read from its place in the layout of CitationFull, with only the sizes changed.

    As in the real one, links point one way only, some twice, and names are pickled objects.
    """
    row, col = np.array([0, 1, 2, 2, 3, 4]), np.array([1, 2, 0, 2, 1, 3])
    links = sp.csr_matrix((np.ones(6, np.float32), (row, col)), shape=(6, 6))
    words = sp.csr_matrix(np.array([[0.5, 0], [0, 0.25], [1, 1], [0, 0], [0, 2], [3, 0]]))
    info = DATASETS["cora-full"]
    folder = tmp_path / "CitationFull" / "cora" / "raw"
    folder.mkdir(parents=True)
    np.savez(
        folder / "cora.npz",
        **csr_parts("adj", links),
        **csr_parts("attr", words),
        labels=np.array([0, 1, 2, 0, 1, 2]),
        idx_to_node=np.array({0: "a"}, dtype=object),
        node_names=np.array(["a", "b"], dtype=object),
    )
    monkeypatch.setitem(
        DATASETS,
        "cora-full",
        dataclasses.replace(info, nodes=6, edges=5, features=2, classes=3),
    )
    data = load("cora-full", data_dir=tmp_path)
    pairs = [(0, 1), (0, 2), (1, 0), (1, 2), (1, 3), (2, 0), (2, 1), (3, 1), (3, 4), (4, 3)]
    assert [tuple(pair) for pair in data.edge_index.T.tolist()] == pairs
    assert torch.equal(data.x.to_dense(), torch.from_numpy(words.toarray()).float())
    assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
    assert data.name == "cora-full"
    assert "train_mask" not in data
    assert (info.default_split, info.files[0].name) == ("per-class", "cora.npz")


def test_largest_component_keeps_the_order(tmp_path: Path) -> None:
    """Nodes 1, 3, 4, 5 hang together and become 0, 1, 2, 3."""
    links = sp.csr_matrix((np.ones(4), ([5, 3, 1, 0], [1, 4, 3, 2])), shape=(7, 7))
    words = sp.csr_matrix(np.diag(np.arange(1.0, 8.0)))
    np.savez(
        tmp_path / "f.npz",
        **csr_parts("adj", links),
        **csr_parts("attr", words),
        labels=np.arange(7),
    )
    data = read_npz(tmp_path / "f.npz", "f", largest=True)
    assert data.y.tolist() == [1, 3, 4, 5]
    assert torch.equal(data.x.to_dense(), torch.from_numpy(words.toarray()[[1, 3, 4, 5]]).float())
    assert data.edge_index.T.tolist() == [[0, 1], [0, 3], [1, 0], [1, 2], [2, 1], [3, 0]]


def test_the_toy_s_arrays(own: Path) -> None:
    data, arrays = load("toy"), toy_arrays()
    assert data.x.shape == (NODES, FEATURES)
    assert torch.equal(data.x.values(), torch.from_numpy(arrays["attr_data"]))
    assert torch.equal(data.edge_index[1], torch.from_numpy(arrays["adj_indices"]).long())
    assert int(data.y.max()) == CLASSES - 1


def test_pickled_names_are_never_opened(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return Path.touch, (sprung,)

    trap = np.array([Trap()], dtype=object)
    np.savez(tmp_path / "names.npz", **{**toy_arrays(), "class_names": trap})
    assert read_npz(tmp_path / "names.npz", "toy").num_nodes == NODES
    np.savez(tmp_path / "data.npz", **{**toy_arrays(), "labels": trap})
    with pytest.raises(DataFileError, match="Object arrays cannot be loaded"):
        read_npz(tmp_path / "data.npz", "toy")
    assert not sprung.exists()


def test_a_missing_array_is_named(tmp_path: Path) -> None:
    arrays = toy_arrays()
    del arrays["labels"], arrays["adj_data"]
    np.savez(tmp_path / "f.npz", **arrays)
    with pytest.raises(DataFileError, match=r"f\.npz: it lacks the arrays adj_data, labels\. Del"):
        read_npz(tmp_path / "f.npz", "toy")


def test_a_page_instead_of_a_file(tmp_path: Path) -> None:
    """What a proxy may answer with."""
    (tmp_path / "f.npz").write_text("<html>please log in</html>")
    with pytest.raises(DataFileError, match="it is no npz file, or not a whole one"):
        read_npz(tmp_path / "f.npz", "toy")
    with pytest.raises(FileNotFoundError):
        read_npz(tmp_path / "g.npz", "toy")
