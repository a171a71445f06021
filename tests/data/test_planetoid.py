from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from bagcn.data import DATASETS, DataFileError, load
from bagcn.data.planetoid import read_planetoid, safe_unpickle
from planetoidfiles import FEATURES, KNOWN, NODES, TRAIN, planetoid_parts, write_planetoid


def test_rows_are_put_where_the_test_index_says(own: Path) -> None:
    data, parts = load("small"), planetoid_parts()
    x, y = data.x.to_dense().numpy(), data.y.numpy()
    assert (x[:KNOWN] == parts["allx"].toarray()).all()
    assert (y[:KNOWN] == parts["ally"].argmax(axis=1)).all()
    for place, node in enumerate(parts["test.index"]):
        assert (x[node] == parts["tx"].toarray()[place]).all()
        assert y[node] == parts["ty"][place].argmax()


def test_edges_lose_loops_and_duplicates_and_get_both_directions(own: Path) -> None:
    links = planetoid_parts()["graph"]
    expected = {(a, b) for a, others in links.items() for b in others if a != b}
    expected |= {(b, a) for a, b in expected}
    found = [(int(a), int(b)) for a, b in load("small").edge_index.T]
    assert sorted(expected) == found


def test_the_public_split(own: Path) -> None:
    data = load("small")
    assert data.train_mask.nonzero().flatten().tolist() == list(range(TRAIN))
    assert data.val_mask.nonzero().flatten().tolist() == list(range(TRAIN, TRAIN + 500))
    assert data.test_mask.nonzero().flatten().tolist() == list(range(KNOWN, NODES))


def test_ids_that_the_files_leave_out_become_nodes_without_anything(tmp_path: Path) -> None:
    """As in Citeseer: with gaps in the test index, the nodes between have no features or label."""
    parts = planetoid_parts()
    last, gap = NODES - 1, NODES + 2
    parts["test.index"] = [gap if node == last else node for node in parts["test.index"]]
    info = write_planetoid(tmp_path, parts)
    data = read_planetoid(tmp_path / info.folder, "small")
    assert data.num_nodes == gap + 1
    missing = [last, last + 1, last + 2]
    assert (data.y < 0).nonzero().flatten().tolist() == missing
    assert data.x.to_dense()[missing].abs().sum() == 0
    assert not bool(data.test_mask[missing].any())
    assert data.x.to_dense()[gap].abs().sum() > 0


class Call:
    """Pickled, it asks the reader to call a function; it is one that no data file may name."""

    def __init__(self, function: Any, *arguments: object) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, self.arguments


@pytest.mark.parametrize("part", ["y", "allx", "ally", "tx", "ty", "graph"])  # x is never read
def test_a_malicious_file_is_refused_and_nothing_of_it_runs(own: Path, part: str) -> None:
    sprung = own.parent / "sprung"
    file = own / "Planetoid" / "Small" / "raw" / f"ind.small.{part}"
    file.write_bytes(pickle.dumps(Call(os.system, f"touch {sprung}")))
    with pytest.raises(DataFileError) as caught:
        load("small")
    assert str(caught.value).startswith(
        f"cannot read {file}: it asks for {os.system.__module__}.system, which has no place in a "
        "data file; nothing of it was executed. Delete the file"
    )
    assert not sprung.exists()


def by_hand(module: str, name: str, argument: str) -> bytes:
    """A pickle in the text form of Python 2."""
    return f"c{module}\n{name}\n(S'{argument}'\ntR.".encode()


def in_an_array(trap: object) -> bytes:
    return pickle.dumps(np.array([[trap]], dtype=object))


def in_a_matrix(trap: object) -> bytes:
    matrix = sp.csr_matrix(np.eye(2, dtype=np.float32))
    matrix.secret = trap
    return pickle.dumps(matrix)


@pytest.mark.parametrize("kind", ["function", "eval", "text", "array", "matrix", "list", "getattr"])
def test_wherever_the_call_hides(tmp_path: Path, kind: str) -> None:
    sprung, file = tmp_path / "sprung", tmp_path / "file"
    trap = Call(Path.touch, sprung)
    content = {
        "function": lambda: pickle.dumps(trap),
        "eval": lambda: pickle.dumps(Call(eval, f"open({str(sprung)!r}, 'w').close()")),
        "text": lambda: by_hand("os", "system", f"touch {sprung}"),
        "array": lambda: in_an_array(trap),
        "matrix": lambda: in_a_matrix(trap),
        "list": lambda: pickle.dumps({0: [1, 2, trap]}),
        "getattr": lambda: pickle.dumps(Call(getattr, np.ndarray, "tofile")),
    }[kind]()
    file.write_bytes(content)
    with pytest.raises(DataFileError, match="which has no place in a data file; nothing of it was"):
        safe_unpickle(file)
    assert not sprung.exists()
    if kind in ("function", "eval"):  # the trap is one: the usual reader falls into it
        pickle.loads(content)
        assert sprung.exists()


@pytest.mark.parametrize("named", ["numpy\nload", "numpy\nfromfile", "scipy.sparse\nload_npz"])
def test_other_functions_of_the_same_libraries_are_refused(tmp_path: Path, named: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(by_hand(*named.split("\n"), "secret"))
    with pytest.raises(DataFileError, match=named.replace("\n", r"\.")):
        safe_unpickle(file)


def test_a_file_cannot_change_what_is_read_after_it(tmp_path: Path) -> None:
    """BUILD sets attributes; neither of the shared objects nor of SciPy's class may it."""
    file = tmp_path / "file"
    for module, name in (("numpy", "dtype"), ("scipy.sparse.csr", "csr_matrix")):
        file.write_bytes(f"c{module}\n{name}\n(S'check_format'\nS'gone'\ndb.".encode())
        with pytest.raises(DataFileError):
            safe_unpickle(file)
    assert callable(sp.csr_matrix.check_format)
    file.write_bytes(pickle.dumps(np.arange(3.0)))
    assert safe_unpickle(file).tolist() == [0, 1, 2]


def replaced(**parts: Any) -> dict[str, Any]:
    return {**planetoid_parts(), **{name.replace("_", "."): part for name, part in parts.items()}}


def broken_csr() -> sp.csr_matrix:
    matrix = planetoid_parts()["allx"].copy()
    matrix.indices = matrix.indices.copy()
    matrix.indices[4] = FEATURES + 90_000  # compiled code would write past the end
    return matrix


def with_nan() -> sp.csr_matrix:
    matrix = planetoid_parts()["allx"].copy()
    matrix.data[3] = np.nan
    return matrix


@pytest.mark.parametrize(
    ("parts", "file", "message"),
    [
        (lambda: replaced(allx=broken_csr()), "allx", "expected a sparse matrix"),
        (lambda: replaced(allx=with_nan()), "allx", "it holds NaN or infinite values"),
        (lambda: replaced(allx=np.eye(3)), "allx", "expected a sparse matrix"),
        (lambda: replaced(ally=np.arange(9)), "ally", "expected a table of one-hot labels"),
        (lambda: replaced(graph=[1, 2]), "graph", "expected a list of neighbours for every node"),
        (lambda: replaced(graph={0: [NODES]}), "graph", f"node ids should lie in 0..{NODES - 1}"),
        (lambda: replaced(graph={-1: [0]}), "graph", f"node ids should lie in 0..{NODES - 1}"),
        (lambda: replaced(test_index=[KNOWN] * 22), "test.index", "an id comes twice"),
        (lambda: replaced(test_index=["a"]), "test.index", "expected one node id a line"),
        (lambda: replaced(test_index=range(22)), "test.index", f"ids should start at {KNOWN}"),
        (lambda: replaced(test_index=[]), "test.index", "ty has other rows"),
        (
            lambda: replaced(y=np.eye(KNOWN, 3)[: KNOWN - 499]),
            "y",
            f"of {KNOWN} nodes, {KNOWN - 499} train and 500 validate",
        ),
        (lambda: replaced(tx=sp.eye(22, 5, format="csr")), "tx", "allx has other columns"),
        (lambda: replaced(ty=np.eye(22, 4)), "ty", "ally has other columns"),
        (lambda: replaced(ty=np.eye(21, 3)), "tx", "ty has another number of rows"),
    ],
)
def test_broken_files(own: Path, parts: Any, file: str, message: str) -> None:
    write_planetoid(own, parts())
    with pytest.raises(DataFileError) as caught:
        load("small")
    path = own / "Planetoid" / "Small" / "raw" / f"ind.small.{file}"
    assert str(caught.value).startswith(f"cannot read {path}: {message}")


@pytest.mark.parametrize("part", ["allx", "graph", "ty"])
@pytest.mark.parametrize("left", [0, 1, 60, -1])
def test_truncated_files(own: Path, part: str, left: int) -> None:
    file = own / DATASETS["small"].folder / f"ind.small.{part}"
    file.write_bytes(file.read_bytes()[:left])
    with pytest.raises(DataFileError) as caught:
        load("small")
    assert str(caught.value).startswith(f"cannot read {file}: ")


def test_python_2_pickles_are_read(tmp_path: Path) -> None:
    """What NumPy under Python 2 wrote for ``array([[0, 1], [1, 0]], dtype=int32)``."""
    file = tmp_path / "file"
    file.write_bytes(
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b"
        b"\x87Rq\x03(K\x01K\x02K\x02\x86cnumpy\ndtype\nq\x04U\x02i4K\x00K\x01\x87Rq\x05(K\x03U\x01<"
        b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10\x00\x00\x00\x00\x01\x00\x00\x00\x01"
        b"\x00\x00\x00\x00\x00\x00\x00tb."
    )
    found = safe_unpickle(file)
    assert found.dtype == np.int32
    assert found.tolist() == [[0, 1], [1, 0]]


def test_a_missing_file_is_just_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        safe_unpickle(tmp_path / "nothing")


def test_features_stay_sparse(own: Path) -> None:
    x = load("small").x
    assert x.layout == torch.sparse_csr
    assert x.values().numel() == planetoid_parts()["allx"].nnz + planetoid_parts()["tx"].nnz
