"""A fitted classifier as a folder: safetensors and JSON, no pickle.

====================  =============================================================
file                  holds
====================  =============================================================
model.safetensors     the weights of the best epoch
graph.safetensors     the graph it was fitted on: features, edges, classes, split
encoders.safetensors  what the feature encoders learnt, where that is arrays
encoders.json         what the feature encoders learnt, and the columns' meaning
classes.json          the owner's classes, in the order of the logits
ids.json              the owner's node ids and known classes, in the order of the nodes
metrics.json          what training reached
config.json           settings, versions, and the SHA-256 of every file above and of itself
====================  =============================================================

The hashes find files that were cut short, mixed up or edited. They are no signature: whoever can
write the folder can write new hashes too.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from bagcn import __version__
from bagcn._folder import probe, replaced_folder

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier

__all__ = ["FORMAT", "check_place", "load", "save"]

FORMAT = 1
Tensors = dict[str, Tensor]


def save(classifier: NodeClassifier, path: str | Path) -> None:
    """Write a fitted classifier; the folder appears whole or not at all.

    Args:
        classifier: what was fitted.
        path: the folder; one that holds another bundle is replaced, any other is left alone.
    """
    from safetensors.torch import save as packed

    path = Path(path)
    check_place(path)
    texts, tensors = _texts(classifier), _tensors(classifier)
    with replaced_folder(path) as folder:
        for name, content in tensors.items():
            (folder / f"{name}.safetensors").write_bytes(packed(content))
        for name, value in texts.items():
            _write_json(folder / f"{name}.json", value)
        config = _config(classifier)
        config["sha256"] = {file.name: _hash(file) for file in sorted(folder.iterdir())}
        config["sha256"]["config.json"] = _own_hash(config)
        _write_json(folder / "config.json", config)


def check_place(path: Path) -> None:
    """Raise if a model cannot be saved there, so that nobody trains in vain."""
    if path.exists() and not (path / "config.json").is_file():
        raise ValueError(f"{path} is there and is no saved model: choose another place")
    there = next(folder for folder in path.absolute().parents if folder.exists())
    try:
        probe(there)
    except OSError as error:
        raise ValueError(f"cannot write into {there}: choose another place") from error


def load(path: str | Path, device: str = "auto") -> NodeClassifier:
    """Read a folder that :func:`save` wrote, on any machine.

    Args:
        path: the folder.
        device: where to predict; ``"auto"`` is a GPU where there is one.
    """
    folder = Path(path)
    config = _checked(folder)
    texts = {name: _read_json(folder / f"{name}.json") for name in _JSON}
    return _restored(config, texts, folder, device)


_JSON = ("classes", "ids", "encoders", "metrics")
_SAFETENSORS = ("model", "graph", "encoders")


def _texts(classifier: NodeClassifier) -> dict[str, Any]:
    from bagcn.tables.ids import to_json

    return {
        "classes": to_json(classifier.classes_),
        "ids": {"ids": to_json(classifier.ids_), "known": to_json(classifier.known_)},
        "encoders": {
            "encoder": classifier.encoder_.saved()[0],
            "layout": asdict(classifier.layout_),
        },
        "metrics": classifier.metrics_,
    }


def _tensors(classifier: NodeClassifier) -> dict[str, Tensors]:
    arrays = classifier.encoder_.saved()[1]
    weights = {n: t.detach().cpu().contiguous() for n, t in classifier.model_.state_dict().items()}
    return {
        "model": weights,
        "graph": _graph_tensors(classifier),
        "encoders": {name: torch.from_numpy(array) for name, array in arrays.items()},
    }


def _graph_tensors(classifier: NodeClassifier) -> Tensors:
    task, split = classifier.task_, classifier.split_
    assert isinstance(task.x, Tensor)
    tensors = {"edge_index": task.edge_index, "y": task.y, **_matrix_tensors(task.x)}
    tensors |= {part: getattr(split, part) for part in ("train", "val", "test")}
    if task.edge_weight is not None:
        tensors["edge_weight"] = task.edge_weight
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


def _matrix_tensors(x: Tensor) -> Tensors:
    if x.layout != torch.sparse_csr:
        return {"x": x}
    size = torch.tensor(x.shape)
    parts = {"crow": x.crow_indices(), "col": x.col_indices(), "values": x.values(), "size": size}
    return {f"x.{name}": tensor for name, tensor in parts.items()}


def _config(classifier: NodeClassifier) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "bagcn": __version__,
        "parameters": classifier.get_params(),
        "arguments": classifier.arguments_,
        "split": {"name": classifier.split_.name, "seed": classifier.split_.seed},
        "temperature": classifier.temperature_,
    }


def _checked(folder: Path) -> dict[str, Any]:
    """Return the settings of a folder whose files are all there and as they were written."""
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}: expected one that bagcn train saved")
    if not (folder / "config.json").is_file():
        raise ValueError(f"{folder} is no saved model: it holds no config.json")
    config = _read_json(folder / "config.json")
    if not isinstance(config, dict) or not isinstance(config.get("format"), int):
        raise ValueError(f"{folder / 'config.json'} does not describe a saved model")
    if config["format"] > FORMAT:
        raise ValueError(
            f"{folder} was saved by bagcn {config.get('bagcn')} in format {config['format']}, "
            f"this is bagcn {__version__}, which reads formats up to {FORMAT}: update bagcn"
        )
    hashes = dict(config.get("sha256", {}))
    needed = {f"{n}.json" for n in _JSON} | {f"{n}.safetensors" for n in _SAFETENSORS}
    for name in sorted(needed):
        if not (folder / name).is_file():
            raise ValueError(f"{folder} is not whole: {name} is missing; copy it anew")
        if hashes.get(name) != _hash(folder / name):
            raise ValueError(
                f"{folder / name} is not the file that was saved (its SHA-256 differs): "
                "copy the folder anew"
            )
    if hashes.get("config.json") != _own_hash(config):
        raise ValueError(
            f"{folder / 'config.json'} is not the file that was saved (its SHA-256 differs): "
            "copy the folder anew"
        )
    return config


def _restored(
    config: dict[str, Any], texts: dict[str, Any], folder: Path, device: str
) -> NodeClassifier:
    from safetensors.torch import load_file

    from bagcn.data import Split
    from bagcn.estimator import NodeClassifier
    from bagcn.tables.encoders import restored_encoder
    from bagcn.tables.graph import Layout
    from bagcn.tables.ids import from_json
    from bagcn.training import Task

    graph = load_file(folder / "graph.safetensors")
    arrays = {n: t.numpy() for n, t in load_file(folder / "encoders.safetensors").items()}
    classifier = NodeClassifier(**{**config["parameters"], "device": device})
    classifier._device()
    classifier.classes_ = from_json(texts["classes"])
    classifier.ids_ = from_json(texts["ids"]["ids"])
    classifier.known_ = from_json(texts["ids"]["known"])
    classifier.layout_ = Layout(**{n: _tuples(v) for n, v in texts["encoders"]["layout"].items()})
    classifier.encoder_ = restored_encoder(texts["encoders"]["encoder"], arrays)
    classifier.feature_names_ = classifier.encoder_.names
    classifier.metrics_ = texts["metrics"]
    classifier.temperature_ = config["temperature"]
    classifier.arguments_ = config["arguments"]
    classifier.split_ = Split(
        config["split"]["name"],
        graph["train"],
        graph["val"],
        graph["test"],
        config["split"]["seed"],
    )
    classifier.task_ = Task(
        _matrix(graph),
        graph["edge_index"],
        graph["y"],
        graph.get("edge_weight"),
        len(classifier.classes_),
    )
    try:
        classifier._build(load_file(folder / "model.safetensors"))
    except (RuntimeError, TypeError) as error:
        raise ValueError(
            f"{folder} does not fit together: its weights are not of its model"
        ) from error
    return classifier


def _matrix(tensors: Tensors) -> Tensor:
    from bagcn.data._csr import csr_tensor

    if "x" in tensors:
        return tensors["x"]
    rows, columns = tensors["x.size"].tolist()
    return csr_tensor(tensors["x.crow"], tensors["x.col"], tensors["x.values"], (rows, columns))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _hash(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _own_hash(config: dict[str, Any]) -> str:
    """Return the hash of the settings, without the one that will say so."""
    others = {n: h for n, h in config["sha256"].items() if n != "config.json"}
    text = json.dumps({**config, "sha256": others}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _write_json(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False), "utf-8")


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{file} is no readable JSON ({error}): copy the folder anew") from error
