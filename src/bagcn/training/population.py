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
from bagcn.training.memory import (
    DoesNotFitError,
    Footprint,
    as_size,
    available_memory,
    estimate,
)
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build
from bagcn.training.task import Task
from bagcn.training.workers import Done, Job, OnEpoch, cores, home, pickled, spread

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
    if device.type == "cuda":
        size = _part_size(job, members, max_memory) if vectorised or max_memory else 1
        yield from _stacked(job, members, size if vectorised else 1, on_epoch)
        return
    workers = min(workers or cores(), total or len(members))
    if workers > 1 or max_memory:
        workers = _workers(job, members[0], workers, max_memory)
    travelling = pickled(job) if workers > 1 else None
    if travelling is None:
        yield from _stacked(job, members, 1, on_epoch)
        return
    threads = max(1, cores() // workers)
    for i, result in spread(travelling, members, workers, threads, on_epoch, home(build)):
        yield i, result
        job.forget(members[i : i + 1])


def _part_size(job: Job, members: Sequence[Member], max_memory: int | None) -> int:
    """Return how many members are stacked at once."""
    footprint, budget = _footprint(job, members[0], max_memory)
    size = min(footprint.members_within(budget), len(members))
    if size < len(members):
        parts = -(-len(members) // size)
        size = -(-len(members) // parts)  # parts of about one size
        logger.info(
            "%d members need about %s, there is %s: they train in %d parts",
            len(members),
            as_size(footprint.shared + len(members) * footprint.member),
            as_size(budget),
            parts,
        )
    return size


def _workers(job: Job, member: Member, wanted: int, max_memory: int | None) -> int:
    """Return how many processes train at once, each of which holds the graph."""
    footprint, budget = _footprint(job, member, max_memory)
    each = footprint.shared + footprint.member
    fitting = max(1, min(wanted, budget // each))
    if fitting < wanted:
        logger.info(
            "%d processes need about %s, there is %s: %d at a time",
            wanted,
            as_size(wanted * each),
            as_size(budget),
            fitting,
        )
    return fitting


def _footprint(job: Job, member: Member, max_memory: int | None) -> tuple[Footprint, int]:
    """Return what a member takes and what there is; refuse one beyond what the user allows.

    Beyond what is merely free it is tried: the estimate is generous.
    """
    try:
        footprint = estimate(job.build, job.task, member, job.device)
    except RuntimeError as error:
        raise (job.refusal(error, 1) or error) from error
    one = footprint.shared + footprint.member
    if max_memory and one > max_memory:
        raise DoesNotFitError(
            f"one run needs about {as_size(one)}, but only {as_size(max_memory)} may be taken: "
            "raise --max-memory, or make the model smaller",
            one,
        )
    return footprint, max_memory or available_memory(job.device)


def _stacked(
    job: Job, members: Sequence[Member], size: int, on_epoch: OnEpoch | None
) -> Iterator[Done]:
    """Train parts of so many members; a part that does not fit after all is halved."""
    start = 0
    while start < len(members):
        part = members[start : start + size]
        try:
            results = job.train(part, _counting(on_epoch, job, start, len(part)))
        except DoesNotFitError:
            if size == 1:
                raise
            size = -(-size // 2)
            logger.warning("out of memory: going on with parts of %d members", size)
            if torch.cuda.is_available():
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
