"""Any number of members, trained the way that is fastest where they run.

M members. On a GPU they are stacked, in parts that fit into its memory: small graphs leave most of
a GPU idle. On a CPU stacking brings nothing, so that members run in processes of one thread each.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any

import torch

from bagcn.training.loop import train
from bagcn.training.member import Member, Result
from bagcn.training.memory import available_memory, estimate
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build
from bagcn.training.task import Task

__all__ = ["train_population"]

logger = logging.getLogger(__name__)

Done = tuple[int, Result]
OnEpoch = Callable[[int], None]


def train_population(
    build: Build,
    task: Task,
    members: Sequence[Member],
    settings: TrainSettings,
    *,
    device: torch.device | str = "cpu",
    vectorised: bool = True,
    max_memory: int | None = None,
    workers: int | None = None,
    on_epoch: OnEpoch | None = None,
    keep_weights: bool = False,
) -> Iterator[Done]:
    """Train the members and yield each one's position and result, as they are done.

    Args:
        build: makes the model, see :func:`bagcn.training.train`.
        task: the graph.
        members: seeds, splits and settings.
        settings: what the members share.
        device: where to compute.
        vectorised: whether the model can be stacked; if not, members run one by one.
        max_memory: bytes that may be taken; most of what is free if not given.
        workers: processes on a CPU; one for each core if not given.
        on_epoch: called with the number of epochs done, by members that run in this process.
        keep_weights: return the parameters and buffers of the best epoch.
    """
    common = {"keep_weights": keep_weights, "device": torch.device(device)}
    budget = max_memory or available_memory(device)
    if torch.device(device).type == "cuda":
        size = _part_size(build, task, members, device, budget) if vectorised else 1
        yield from _stacked(build, task, members, settings, size, on_epoch, common)
        return
    workers = min(workers or os.cpu_count() or 1, len(members))
    if workers > 1:
        workers = min(workers, estimate(build, task, members[0]).members_within(budget))
    job = _pickled(build, task, settings, common) if workers > 1 else None
    if job is None:
        yield from _stacked(build, task, members, settings, 1, on_epoch, common)
    else:
        yield from _spread(job, members, workers)


def _part_size(
    build: Build, task: Task, members: Sequence[Member], device: torch.device | str, budget: int
) -> int:
    footprint = estimate(build, task, members[0], device)
    size = min(footprint.members_within(budget), len(members))
    if size < len(members):
        parts = -(-len(members) // size)
        size = -(-len(members) // parts)  # parts of about one size
        logger.info(
            "%d members need about %.1f GiB of %.1f: they train in %d parts",
            len(members),
            (footprint.shared + len(members) * footprint.member) / 2**30,
            budget / 2**30,
            parts,
        )
    return size


def _stacked(
    build: Build,
    task: Task,
    members: Sequence[Member],
    settings: TrainSettings,
    size: int,
    on_epoch: OnEpoch | None,
    common: dict[str, Any],
) -> Iterator[Done]:
    """Train parts of so many members; a part that does not fit after all is halved."""
    start = 0
    while start < len(members):
        part = members[start : start + size]
        try:
            results = train(build, task, part, settings, on_epoch=on_epoch, **common)
        except torch.OutOfMemoryError:
            if size == 1:
                raise
            size = -(-size // 2)
            logger.warning("out of memory: going on with parts of %d members", size)
            torch.cuda.empty_cache()
            continue
        yield from enumerate(results, start)
        start += len(part)


def _pickled(*job: Any) -> bytes | None:
    """Return the job as bytes for other processes, or nothing if it cannot travel (a lambda)."""
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        logger.info("members run one by one in this process: %s", error)
        return None


def _spread(job: bytes, members: Sequence[Member], workers: int) -> Iterator[Done]:
    """Train every member in one of several processes."""
    pool = ProcessPoolExecutor(workers, _context(), initializer=_enter, initargs=(job,))
    try:
        waiting: dict[Future[bytes], int] = {
            pool.submit(_train_one, member): i for i, member in enumerate(members)
        }
        for future in as_completed(waiting):
            yield waiting[future], pickle.loads(future.result())
    finally:  # an interrupt or a failure: nobody waits for what has not begun
        pool.shutdown(wait=True, cancel_futures=True)


def _context() -> Any:
    """Return a context that never forks this process, whose threads would not survive it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bagcn.training"])
    return context


_job: tuple[Build, Task, TrainSettings, dict[str, Any]] | None = None


def _enter(job: bytes) -> None:
    """Begin a worker: one thread, and an interrupt is the parent's to handle."""
    global _job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    _job = pickle.loads(job)


def _train_one(member: Member) -> bytes:
    """Return the pickled result: tensors sent as such would share memory with this process."""
    assert _job is not None
    build, task, settings, common = _job
    return pickle.dumps(train(build, task, [member], settings, **common)[0])
