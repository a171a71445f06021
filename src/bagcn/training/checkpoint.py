"""The state of a run in one file that is whole or not there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """Where a run keeps its state, and how often.

    Args:
        path: the file.
        every: epochs between two saves.
        identity: names the run; a file of another run is refused.
    """

    path: Path
    every: int = 50
    identity: str = ""


def save_checkpoint(path: Path, state: dict[str, Tensor], identity: str) -> None:
    """Write the state beside the file and then move it there, so that a kill leaves the old one."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    save_file(tensors, partial, metadata={"identity": identity})
    partial.replace(path)


@torch.no_grad()
def load_checkpoint(path: Path, state: dict[str, Tensor], identity: str) -> None:
    """Read the state back in place; a file of another run or a broken one is a ValueError."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            found = (file.metadata() or {}).get("identity")
            names = list(file.keys())
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in names}
            if found != identity or shapes != {n: tuple(t.shape) for n, t in state.items()}:
                raise ValueError(
                    f"{path} belongs to another run ({found}): delete it, or resume with the "
                    "settings, the seed and the data that it was made with"
                )
            for name, tensor in state.items():
                tensor.copy_(file.get_tensor(name))
    except SafetensorError as error:
        raise ValueError(f"{path} is no readable checkpoint ({error}): delete it") from error
