"""How much memory a population takes: measured while it runs, estimated before.

M members, N nodes, C classes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from bagcn.ops import SparseMatrix, as_matrix
from bagcn.training.member import Member
from bagcn.training.stack import Build, Stack
from bagcn.training.task import Task

__all__ = [
    "DoesNotFitError",
    "Footprint",
    "as_size",
    "available_memory",
    "estimate",
    "lacking",
    "peak_memory",
]

COPIES = 6  # of every parameter: itself, its gradient, Adam's two moments, the best, a temporary
SLACK = 1.5  # what an operation holds beside what it saves for the backward pass
SHARE = 0.85  # of the memory that is free


_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class DoesNotFitError(MemoryError):
    """A single run takes more memory than there is.

    Args:
        message: for the user.
        need: bytes that it takes at least, measured or estimated.
    """

    def __init__(self, message: str, need: int) -> None:
        super().__init__(message, need)
        self.need = need

    def __str__(self) -> str:
        return str(self.args[0])


def as_size(size: float) -> str:
    """Return bytes as people write them: ``4.6 MiB``, ``276 MiB``, ``1.25 GiB``, ``140 GiB``."""
    if size < 2**30:
        mebibytes = size / 2**20
        return f"{mebibytes:.{0 if mebibytes >= 10 else 1}f} MiB"
    gibibytes = size / 2**30
    return f"{gibibytes:,.{0 if gibibytes >= 10 else 2}f} GiB"


def lacking(error: RuntimeError, device: torch.device) -> int | None:
    """Return the bytes that were held and asked for when memory ran out, if the error says so."""
    asked = re.search(r"tried to allocate ([\d.]+) (bytes|[KMGT]iB)", str(error), re.IGNORECASE)
    if asked is None:
        return None
    return peak_memory(device) + int(float(asked[1]) * _UNITS[asked[2]])


@dataclass(frozen=True)
class Footprint:
    """Bytes that a population takes: once for the graph, and again for every member."""

    shared: int
    member: int

    def members_within(self, budget: int) -> int:
        """Return how many members fit; at least one, which may then not fit either."""
        return max(1, (budget - self.shared) // self.member)


def estimate(
    build: Build, task: Task, member: Member, device: torch.device | str = "cpu"
) -> Footprint:
    """Look at one member's training loss, and count what it keeps for the backward pass."""
    device = torch.device(device)
    settings = {n: [float(v)] for n, v in member.settings.items() if n not in _OF_TRAINING}
    stack = Stack(build, task, [member.seed], settings, device)
    labelled = member.split.masks(task.num_nodes)[0][None].to(device)
    saved: dict[int, int] = {}

    def count(tensor: Tensor) -> Tensor:
        if tensor.layout == torch.strided:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.random.fork_rng(devices=[]), saved_tensors_hooks(count, lambda tensor: tensor):
        stack.losses(labelled, torch.zeros((), dtype=torch.int32, device=device))
    parameters = sum(p.numel() * p.element_size() for p in stack.parameters.values())
    predictions = task.num_nodes * task.num_classes * 4
    graph = sum(saved[pointer] for pointer in _shared_storages(task) & saved.keys())
    kept = sum(saved.values()) - graph
    return Footprint(
        shared=graph + _task_bytes(task),
        member=int(SLACK * kept)
        + COPIES * parameters
        + 4 * predictions
        + 8 * task.num_nodes
        + _places_bytes(task),
    )


_OF_TRAINING = ("lr", "weight_decay")


def _shared_storages(task: Task) -> set[int]:
    return {task.edge_index.untyped_storage().data_ptr(), task.y.untyped_storage().data_ptr()}


def _task_bytes(task: Task) -> int:
    """Return about what the prepared graph and features hold: entries, and their transpose."""
    entries = task.num_entries + 2 * task.edge_index.shape[1] + 2 * task.num_nodes
    return 2 * entries * 12


def _places_bytes(task: Task) -> int:
    """Return what a member's block holds where dropout gives it sparse features of its own.

    Of an entry that is its row and its column, its row in the transpose, and its place there.
    """
    if not isinstance(as_matrix(task.x), SparseMatrix):
        return 0
    return (3 * 4 + 8) * task.num_entries + 4 * (task.num_nodes + task.num_features)


def available_memory(device: torch.device | str) -> int:
    """Return the bytes that a population may take: most of what is free on the device."""
    device = torch.device(device)
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        # what torch keeps of populations that ended looks taken, but is given away again
        kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int((free + kept) * SHARE)
    try:
        return int(_available() * SHARE)
    except (ValueError, OSError, AttributeError):  # not every system tells
        return 4 * 2**30


def _available() -> int:
    """Return the bytes that are free, or would be as soon as they are needed (cached files)."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def peak_memory(device: torch.device) -> int:
    """Return the most bytes held so far: on the GPU, or by this process."""
    if device.type == "cuda":
        return int(torch.cuda.max_memory_allocated(device))
    import resource
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
