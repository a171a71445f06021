"""Members in processes of their own, which share the cores of a CPU."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import torch

from bagcn.training.checkpoint import Checkpoint
from bagcn.training.loop import train
from bagcn.training.member import Member, Result
from bagcn.training.memory import DoesNotFitError, as_size, lacking
from bagcn.training.settings import TrainSettings
from bagcn.training.stack import Build
from bagcn.training.task import Task

__all__ = ["Done", "Job", "OnEpoch", "cores", "home", "pickled", "spread"]

logger = logging.getLogger(__name__)

Done = tuple[int, Result]
OnEpoch = Callable[[int], None]
LOOK_EVERY = 0.1  # seconds, at how many epochs the processes have done


@dataclass(frozen=True)
class Job:
    """What the members of a population have in common."""

    build: Build
    task: Task
    settings: TrainSettings
    device: torch.device
    keep_weights: bool
    checkpoint: Checkpoint | None

    def train(self, members: Sequence[Member], on_epoch: OnEpoch | None = None) -> list[Result]:
        """Train these members together; DoesNotFitError says what they lacked."""
        try:
            return train(
                self.build,
                self.task,
                members,
                self.settings,
                device=self.device,
                on_epoch=on_epoch,
                checkpoint=self.checkpoint and self.checkpoint.of(members),
                keep_weights=self.keep_weights,
            )
        except RuntimeError as error:
            raise (self.refusal(error, len(members)) or error) from error

    def refusal(self, error: RuntimeError, runs: int) -> DoesNotFitError | None:
        """Return what to say if so many runs ended with this error for want of memory."""
        need = lacking(error, self.device)
        if need is None:
            return None
        return DoesNotFitError(
            f"{runs} run{'s' if runs > 1 else ''} on {self.task.num_nodes:,} nodes took more than "
            f"{as_size(need)} on {self.device}, which is not there: make the model smaller, "
            "or train it where there is more memory",
            need,
        )

    def forget(self, members: Sequence[Member]) -> None:
        """Delete the checkpoint of members that are done."""
        if self.checkpoint:
            self.checkpoint.of(members).remove()


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pickled(job: Job) -> bytes | None:
    """Return the job as bytes for other processes, or nothing if it cannot travel (a lambda)."""
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        logger.info("members run one by one in this process: %s", error)
        return None


def home(build: Build) -> str:
    """Return the module that the function comes from."""
    return str(getattr(build, "func", build).__module__)


def spread(
    job: bytes,
    members: Sequence[Member],
    workers: int,
    threads: int,
    on_epoch: OnEpoch | None,
    needs: str = "bagcn.training",
) -> Iterator[Done]:
    """Train every member in one of several processes and yield those that are done.

    The processes end with this one, however it ends: they wait for the end of a pipe.

    Args:
        job: what the members have in common, pickled.
        members: each is trained for itself.
        workers: processes.
        threads: of each.
        on_epoch: called with the number of epochs that all of them have done.
        needs: a module that the job needs: imported once, not in every process.
    """
    context = _context(needs)
    alive, ours = context.Pipe(duplex=False)
    epochs = context.Value("q", 0)
    pool = ProcessPoolExecutor(
        min(workers, len(members)),
        context,
        initializer=_enter,
        initargs=(job, threads, torch.are_deterministic_algorithms_enabled(), alive, epochs),
    )
    try:
        # pickled here: tensors in a queue are fetched from this process, which may be ending
        jobs = [pool.submit(_train_one, pickle.dumps(member)) for member in members]
        waiting = {future: i for i, future in enumerate(jobs)}
        while waiting:
            finished, _ = wait(waiting, LOOK_EVERY, FIRST_COMPLETED)
            if on_epoch:
                on_epoch(epochs.value)
            for future in finished:
                yield waiting.pop(future), _result(future)
    except BaseException:  # an interrupt or a failure: nobody waits for what is unfinished
        ours.close()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        ours.close()


def _result(future: Future[bytes]) -> Result:
    try:
        result: Result = pickle.loads(future.result())
    except BrokenExecutor as error:
        raise ChildProcessError(
            "a process that trained was ended from outside, most likely because memory ran out: "
            "try fewer workers"
        ) from error
    return result


def _context(needs: str) -> Any:
    """Return a context that never forks this process, whose threads would not survive it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["bagcn.training", *({needs} - {"__main__"})])
    _start_server()
    return context


def _start_server() -> None:
    """Start the process that forks the others, deaf to interrupts.

    What it forks is deaf as well, from its first moment on: an interrupt is the parent's to handle.
    """
    from multiprocessing import forkserver, resource_tracker

    resource_tracker.ensure_running()  # it would clear the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_job: tuple[Job, Any] | None = None


def _enter(job: bytes, threads: int, deterministic: bool, alive: Any, epochs: Any) -> None:
    """Begin a worker; an interrupt is the parent's to handle."""
    global _job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(alive,), daemon=True).start()
    torch.set_num_threads(min(threads, torch.get_num_threads()))
    if deterministic:  # to say no costs a second: torch imports its compiler
        torch.use_deterministic_algorithms(True)
    _job = pickle.loads(job), epochs


def _end_with(alive: Any) -> None:
    """End this process when the other end of the pipe is closed."""
    try:
        alive.recv()
    except (EOFError, OSError):
        os._exit(1)


def _train_one(member: bytes) -> bytes:
    """Return the pickled result: tensors sent as such would share memory with this process."""
    assert _job is not None
    job, epochs = _job
    counted = 0

    def count(epoch: int) -> None:
        nonlocal counted
        with epochs.get_lock():
            epochs.value += epoch - counted
        counted = epoch

    return pickle.dumps(job.train([pickle.loads(member)], count)[0])
