"""The state of a run in one file that is whole or not there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from bagcn._folder import replaced_file
from bagcn.training.member import Member

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """Where a run keeps its state, and how often.

    Args:
        path: the file; of many runs, the folder with a file for each.
        every: epochs between two saves.
        identity: names the run; a file of another run is refused.
        resume: continue from the file if it is there.
    """

    path: Path
    every: int = 50
    identity: str = ""
    resume: bool = False

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ValueError(f"epochs between two checkpoints must be at least 1, got {self.every}")

    def of(self, members: Sequence[Member]) -> Checkpoint:
        """Return the checkpoint of members that train together: a file in the folder."""
        each = [[m.seed, m.split.hash, sorted(m.settings.items())] for m in members]
        text = json.dumps([self.identity, each])
        identity = hashlib.sha256(text.encode()).hexdigest()[:16]
        return replace(self, path=self.path / f"{identity}.safetensors", identity=identity)

    def remove(self) -> None:
        """Delete the file, and what a kill left of one that was being written."""
        for file in (self.path, *self.path.parent.glob(f".*.{self.path.name}")):
            file.unlink(missing_ok=True)


def save_checkpoint(checkpoint: Checkpoint, state: dict[str, Tensor]) -> None:
    """Write the state; a kill at any moment leaves the file before it."""
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    with replaced_file(checkpoint.path) as partial:
        save_file(tensors, partial, metadata={"identity": checkpoint.identity})


@torch.no_grad()
def load_checkpoint(checkpoint: Checkpoint, state: dict[str, Tensor]) -> None:
    """Read the state back in place; a file of another run or a broken one is a ValueError."""
    from safetensors import SafetensorError, safe_open

    path = checkpoint.path
    try:
        with safe_open(path, framework="pt") as file:
            found = (file.metadata() or {}).get("identity")
            shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            same = shapes == {name: tuple(tensor.shape) for name, tensor in state.items()}
            if found != checkpoint.identity or not same:
                raise ValueError(
                    f"{path} belongs to another run ({found}): delete it, or resume with the "
                    "settings, the seed and the data that it was made with"
                )
            for name, tensor in state.items():
                tensor.copy_(file.get_tensor(name))
    except SafetensorError as error:
        raise ValueError(f"{path} is no readable checkpoint ({error}): delete it") from error
