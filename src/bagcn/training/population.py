"""Any number of members, trained the way that is fastest where they run.

M members. On a GPU they are stacked, in parts that fit into its memory: small graphs leave most of
a GPU idle. On a CPU stacking brings nothing, so that members run in processes that share its cores.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import torch

from bagcn.training.checkpoint import Checkpoint
from bagcn.training.member import Member
from bagcn.training.memory import available_memory, estimate
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build
from bagcn.training.task import Task
from bagcn.training.workers import Done, Job, OnEpoch, cores, pickled, spread

__all__ = ["train_population"]

logger = logging.getLogger(__name__)


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
    total: int | None = None,
    on_epoch: OnEpoch | None = None,
    checkpoint: Checkpoint | None = None,
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
        total: the members of the whole, if the others are done already: those that are left
            then get as many threads as they would have had, and the same bits come out.
        on_epoch: called now and then with the number of epochs done, summed over the members.
        checkpoint: the folder for the states, and whether to continue from there. A state is
            deleted when the next result is asked for.
        keep_weights: return the parameters and buffers of the best epoch.
    """
    device = torch.device(device)
    job = Job(build, task, settings, device, keep_weights, checkpoint)
    budget = max_memory or available_memory(device)
    if device.type == "cuda":
        size = _part_size(job, members, budget) if vectorised else 1
        yield from _stacked(job, members, size, on_epoch)
        return
    workers = min(workers or cores(), total or len(members))
    if workers > 1:
        workers = min(workers, estimate(build, task, members[0]).members_within(budget))
    travelling = pickled(job) if workers > 1 else None
    if travelling is None:
        yield from _stacked(job, members, 1, on_epoch)
        return
    threads = max(1, cores() // workers)
    for i, result in spread(travelling, members, workers, threads, on_epoch):
        yield i, result
        job.forget(members[i : i + 1])


def _part_size(job: Job, members: Sequence[Member], budget: int) -> int:
    footprint = estimate(job.build, job.task, members[0], job.device)
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
    job: Job, members: Sequence[Member], size: int, on_epoch: OnEpoch | None
) -> Iterator[Done]:
    """Train parts of so many members; a part that does not fit after all is halved."""
    start = 0
    while start < len(members):
        part = members[start : start + size]
        try:
            results = job.train(part, _counting(on_epoch, job, start, len(part)))
        except torch.OutOfMemoryError as error:
            if size == 1:
                raise MemoryError(
                    f"one member of {job.task.num_nodes:,} nodes does not fit into the memory of "
                    f"{job.device}: make the model smaller, or train it elsewhere"
                ) from error
            size = -(-size // 2)
            logger.warning("out of memory: going on with parts of %d members", size)
            torch.cuda.empty_cache()
            continue
        yield from enumerate(results, start)
        job.forget(part)
        start += len(part)


def _counting(on_epoch: OnEpoch | None, job: Job, before: int, together: int) -> OnEpoch | None:
    """Return what turns a part's epoch into the number of epochs over all members."""
    if on_epoch is None:
        return None
    report, begun = on_epoch, before * job.settings.epochs
    return lambda epoch: report(begun + epoch * together)
