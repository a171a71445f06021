"""A saved model: the same after loading, and refused when it is not what was saved."""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file

import bagcn
from bagcn import NodeClassifier, bundle
from bagcn.tables import Layout
from owned import library

FILES = {
    *("classes.json", "config.json", "encoders.json", "ids.json", "metrics.json"),
    *("encoders.safetensors", "graph.safetensors", "model.safetensors"),
}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> NodeClassifier:
    nodes, edges = library(tmp_path_factory.mktemp("library"))
    return NodeClassifier(epochs=4, hidden_channels=8, device="cpu").fit(
        nodes, "topic", edges=edges, layout=Layout(weight="times", kinds=(("place", "category"),))
    )


@pytest.fixture(scope="module")
def saved(fitted: NodeClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(path)
    return path


@pytest.fixture
def copy(saved: Path, tmp_path: Path) -> Path:
    """A bundle of one's own to damage."""
    return Path(shutil.copytree(saved, tmp_path / "copy"))


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_what_is_loaded_is_what_was_saved(fitted: NodeClassifier, saved: Path, device: str) -> None:
    loaded = NodeClassifier.load(saved, device)
    assert loaded.get_params() == {**fitted.get_params(), "device": device}
    assert np.array_equal(loaded.predict_proba(), fitted.predict_proba())
    assert loaded.predict().tolist() == fitted.predict().tolist()
    assert loaded.classes_.tolist() == fitted.classes_.tolist()
    assert loaded.ids_.tolist() == fitted.ids_.tolist()
    assert loaded.known_.tolist() == fitted.known_.tolist()
    assert loaded.feature_names_ == fitted.feature_names_
    assert loaded.layout_ == fitted.layout_
    assert loaded.metrics_ == fitted.metrics_
    assert loaded.split_.hash == fitted.split_.hash
    assert loaded.score() == fitted.score()


def test_a_loaded_model_predicts_another_graph_alike(
    fitted: NodeClassifier, saved: Path, tmp_path: Path
) -> None:
    nodes, edges = library(tmp_path, 80)
    expected = fitted.predict_proba(nodes, edges=edges)
    assert np.array_equal(NodeClassifier.load(saved).predict_proba(nodes, edges=edges), expected)


@pytest.mark.parametrize(
    "ids",
    [
        [UUID(int=i) for i in range(12)],
        [2**60 + i for i in range(12)],
        [("a", i) for i in range(12)],
        [f"{i:03d}" for i in range(12)],
        list(range(12)),
    ],
    ids=lambda ids: repr(ids[0]),
)
def test_ids_of_any_type_come_back(ids: list[Any], tmp_path: Path) -> None:
    nodes = pd.DataFrame({"id": pd.Series(ids, dtype=object), "size": range(12)})
    edges = pd.DataFrame({"s": nodes["id"][:11].tolist(), "t": nodes["id"][1:].tolist()})
    classes = [False, True] * 5 + [None] * 2
    fitted = NodeClassifier("gcn", epochs=1).fit(nodes, classes, edges=edges)
    fitted.save(tmp_path / "model")
    loaded = NodeClassifier.load(tmp_path / "model")
    assert loaded.ids_.tolist() == ids
    assert [type(value) for value in loaded.ids_.tolist()] == [type(value) for value in ids]
    assert loaded.classes_.tolist() == [False, True]


@pytest.mark.parametrize("kind", ["sparse", "dense", "structural", "random-walk"])
def test_every_kind_of_features_comes_back(kind: str, tmp_path: Path, tiny_graph: Any) -> None:
    if kind == "sparse":
        tiny_graph.x = torch.eye(60)[:, :30]
    walk = kind if kind in ("structural", "random-walk") else None
    fitted = NodeClassifier(epochs=2, hidden_channels=4, no_features=walk).fit(tiny_graph)
    fitted.save(tmp_path / "model")
    loaded = NodeClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(tiny_graph), fitted.predict_proba(tiny_graph))
    assert np.array_equal(loaded.predict_proba(), fitted.predict_proba())


def test_the_folder_holds_safetensors_and_json_and_no_pickle(saved: Path) -> None:
    assert {file.name for file in saved.iterdir()} == FILES
    for file in saved.iterdir():
        content = file.read_bytes()
        if file.suffix == ".json":
            json.loads(content)
        else:
            load_file(file)
        assert content[:1] != b"\x80"  # a pickle's first byte
        assert content[:2] != b"PK"  # torch.save's zip file


MAY_PICKLE = {"training/workers.py", "data/planetoid.py"}  # own processes; a restricted reader


def test_no_pickle_in_the_source() -> None:
    root, found = Path(bagcn.__file__).parent, set()
    for file in root.rglob("*.py"):
        source = file.read_text("utf-8")
        if imported(source) & {"pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal"}:
            found.add(file.relative_to(root).as_posix())
        for call in (
            "torch.load(",
            "torch.save(",
            "allow_pickle=True",
            "read_pickle(",
            "to_pickle(",
        ):
            assert call not in source, file
    assert found == MAY_PICKLE


def imported(source: str) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def test_saving_twice_replaces_and_gives_the_same_bytes(
    fitted: NodeClassifier, saved: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        fitted.save(tmp_path / "model")
    assert [file.name for file in tmp_path.iterdir()] == ["model"]
    for name in FILES:
        assert (tmp_path / "model" / name).read_bytes() == (saved / name).read_bytes()


def test_a_folder_of_something_else_is_left_alone(fitted: NodeClassifier, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").write_text("")
    with pytest.raises(ValueError, match="photos is there and is no saved model: choose another"):
        fitted.save(tmp_path / "photos")
    assert [file.name for file in (tmp_path / "photos").iterdir()] == ["cat.png"]
    with pytest.raises(ValueError, match=r"cannot write into .*cat\.png: choose another place"):
        fitted.save(tmp_path / "photos" / "cat.png" / "model")


def test_no_room_on_the_disk(fitted: NodeClassifier, tmp_path: Path, small_files: None) -> None:
    with pytest.raises(ValueError, match=r"no room on the disk for .*model: nothing of it was wri"):
        fitted.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_no_room_leaves_the_old_model(
    fitted: NodeClassifier, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {file.name: file.read_bytes() for file in copy.iterdir()}

    def full(*arguments: Any, **others: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ValueError, match=r"no room on the disk for .*copy"):
        fitted.save(copy)
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before
    assert [file.name for file in copy.parent.iterdir()] == ["copy"]


def refusal(folder: Path) -> str:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        bundle.load(folder)
    return str(error.value)


@pytest.mark.parametrize("name", sorted(FILES - {"config.json"}))
def test_a_file_that_was_cut_short_edited_or_lost(copy: Path, name: str) -> None:
    file, content = copy / name, (copy / name).read_bytes()
    changed = f"{file} is not the file that was saved (its SHA-256 differs): copy the folder anew"
    file.write_bytes(content[:-5])
    assert refusal(copy) == changed
    file.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    assert refusal(copy) == changed
    file.unlink()
    assert refusal(copy) == f"{copy} is not whole: {name} is missing; copy it anew"


def test_settings_that_were_cut_short_or_edited(copy: Path) -> None:
    file = copy / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "temperature": 2 * config["temperature"]}))
    assert refusal(copy) == (
        f"{file} is not the file that was saved (its SHA-256 differs): copy the folder anew"
    )
    file.write_text(json.dumps(config)[:-20])
    assert refusal(copy).startswith(f"{file} is no readable JSON (")
    for other in ([1], {"format": "x"}, {}):
        file.write_text(json.dumps(other))
        assert refusal(copy) == f"{file} does not describe a saved model"


def test_a_newer_format_is_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config |= {"format": bundle.FORMAT + 1, "bagcn": "9.1"}
    (copy / "config.json").write_text(json.dumps(config))
    assert refusal(copy) == (
        f"{copy} was saved by bagcn 9.1 in format {bundle.FORMAT + 1}, this is bagcn "
        f"{bagcn.__version__}, which reads formats up to {bundle.FORMAT}: update bagcn"
    )


def test_weights_that_do_not_fit_are_refused(copy: Path) -> None:
    """Even where somebody has written the hashes anew."""
    file, config = copy / "model.safetensors", json.loads((copy / "config.json").read_text())
    save_file({name: torch.cat([t.flatten()] * 2) for name, t in load_file(file).items()}, file)
    config["sha256"][file.name] = hashlib.sha256(file.read_bytes()).hexdigest()
    config["sha256"]["config.json"] = bundle._own_hash(config)
    (copy / "config.json").write_text(json.dumps(config))
    assert refusal(copy) == f"{copy} does not fit together: its weights are not of its model"


def test_what_is_no_model(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is no saved model: it holds no config.json"
    expected = f"there is no folder {tmp_path}/x: expected one that bagcn train saved"
    assert refusal(tmp_path / "x") == expected


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda", "this machine or this build of torch has no GPU: use cpu or auto"),
        ("gpu", "expected a device like auto, cpu or cuda, got 'gpu'"),
    ],
)
def test_a_device_that_is_not_there(
    saved: Path, monkeypatch: pytest.MonkeyPatch, device: str, message: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match=message):
        NodeClassifier.load(saved, device)
