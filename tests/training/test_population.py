# M members, T epochs.
from __future__ import annotations

import logging
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from scipy.stats import ks_2samp, ttest_ind
from torch import Tensor, nn

from bagcn.baselines.gcn import GCN
from bagcn.nn import BAGCN
from bagcn.training import Checkpoint, Member, Result, TrainSettings, train, train_population
from bagcn.training.memory import DoesNotFitError, estimate
from bagcn.training.population import _part_size, _stacked, _workers
from bagcn.training.workers import Job
from training.plain import graph, train_plainly
from training.test_loop import close

SETTINGS = TrainSettings(epochs=12, lr=0.01)
CPU = torch.device("cpu")


def build(model: type[nn.Module], rate: float, features: int, classes: int) -> nn.Module:
    """At the top of a module, so that it can travel to other processes."""
    own = {"input_dropout": rate} if model is BAGCN else {}
    return model(features, 8, classes, dropout=rate, **own)


def population(model: Any, rate: float, members: list[Member], **options: Any) -> list[Result]:
    task, _ = graph()
    made = partial(build, model, rate)
    done = dict(train_population(made, task, members, SETTINGS, **options))
    assert sorted(done) == list(range(len(members)))
    return [done[i] for i in range(len(members))]


@pytest.mark.parametrize("model", [GCN, BAGCN])
def test_members_in_processes_and_in_stacks_are_the_runs_alone(model: type[nn.Module]) -> None:
    task, split = graph()
    members = [Member(seed, split) for seed in (0, 1, 7)]
    apart = population(model, 0.0, members, workers=2)
    stacked = train(partial(build, model, 0.0), task, members, SETTINGS)
    assert [result.together for result in stacked] == [3, 3, 3]
    for member, *results in zip(members, apart, stacked, strict=True):
        expected = train_plainly(partial(build, model, 0.0), task, split, member.seed, epochs=12)
        for result in results:
            assert result.seed == member.seed
            close(result, expected)


def accuracies(rate: float, seeds: range, *, stacked: bool) -> list[float]:
    """Return test accuracies on a noisy graph, of one stack or of a plain loop for each seed."""
    task, split = graph(noise=1.5)
    made = partial(build, GCN, rate)
    if stacked:
        results = train(made, task, [Member(seed, split) for seed in seeds], SETTINGS)
        return [result.test for result in results]
    runs = [train_plainly(made, task, split, seed, epochs=12, keyed=False) for seed in seeds]
    return [run.test[run.best] for run in runs]


def test_accuracies_under_dropout_are_distributed_as_those_of_single_runs() -> None:
    """Plain loops with other seeds, torch's own dropout and nothing in common with the stack.

    Power: with 60 runs a side and tests at 1 %, a difference of the means by 0.75 standard
    deviations would be found with probability 0.93 (normal approximation: the difference of the
    means has 4.11 standard errors, the critical value is 2.58).
    """
    stack = accuracies(0.7, range(60), stacked=True)
    alone = accuracies(0.7, range(1000, 1060), stacked=False)
    assert torch.tensor(stack).std() > 0.01
    assert ttest_ind(stack, alone, equal_var=False).pvalue > 0.01
    assert ks_2samp(stack, alone).pvalue > 0.01
    # that the test can fail: a stack whose dropout did nothing
    assert ttest_ind(accuracies(0.0, range(60), stacked=True), alone).pvalue < 0.01


def test_members_with_settings_of_their_own_in_processes() -> None:
    task, split = graph()
    rates = (0.001, 0.05)
    members = [Member(2, split, {"lr": lr, "dropout": 0.3}) for lr in rates]
    results = population(GCN, 0.9, members, workers=2)
    for lr, result in zip(rates, results, strict=True):
        close(result, train_plainly(partial(build, GCN, 0.3), task, split, 2, epochs=12, lr=lr))


def test_a_diverging_member_in_a_process_of_its_own() -> None:
    task, split = graph()
    members = [Member(i, split, {"lr": lr}) for i, lr in enumerate((0.01, 1e38, 0.01))]
    results = population(GCN, 0.0, members, workers=2)
    assert [result.diverged for result in results] == [None, 1, None]
    for i in (0, 2):
        close(results[i], train_plainly(partial(build, GCN, 0.0), task, split, i, epochs=12))


def test_epochs_are_counted_over_all_members_and_weights_come_back() -> None:
    _, split = graph()
    members = [Member(i, split) for i in range(3)]
    for workers in (1, 2):
        counted: list[int] = []
        options = {"on_epoch": counted.append, "keep_weights": True}
        results = population(GCN, 0.0, members, workers=workers, **options)
        assert counted == sorted(counted)
        assert counted[-1] == 3 * 12
        for result in results:
            assert result.weights is not None
            assert len(result.weights) == 4


def test_a_model_that_cannot_travel_is_trained_here(caplog: pytest.LogCaptureFixture) -> None:
    task, split = graph()
    caplog.set_level(logging.INFO, "bagcn")
    members = [Member(i, split) for i in range(2)]
    here = train_population(lambda f, c: GCN(f, 8, c), task, members, SETTINGS, workers=2)
    assert sorted(i for i, _ in here) == [0, 1]
    assert "members run one by one in this process" in caplog.text


def test_a_population_is_cut_into_parts_that_fit(caplog: pytest.LogCaptureFixture) -> None:
    task, split = graph()
    caplog.set_level(logging.INFO, "bagcn")
    made = partial(build, BAGCN, 0.0)
    members = [Member(i, split) for i in range(5)]
    job = Job(made, task, SETTINGS, CPU, False, None)
    footprint = estimate(made, task, members[0])
    budget = footprint.shared + 3 * footprint.member + footprint.member // 2
    size = _part_size(job, members, budget)
    assert size == 3  # five in two parts: three and two
    assert re.search(
        r"5 members need about [\d.]+ MiB, there is [\d.]+ MiB: they train in 2 parts", caplog.text
    )
    results = dict(_stacked(job, members, size, None))
    assert [results[i].together for i in range(5)] == [3, 3, 3, 2, 2]
    for i, member in enumerate(members):
        close(results[i], train(made, task, [member], SETTINGS)[0])
    assert _part_size(job, members, footprint.shared + 5 * footprint.member) == 5


def test_fewer_processes_where_memory_is_short(caplog: pytest.LogCaptureFixture) -> None:
    task, split = graph()
    caplog.set_level(logging.INFO, "bagcn")
    job = Job(partial(build, BAGCN, 0.0), task, SETTINGS, CPU, False, None)
    footprint = estimate(job.build, task, Member(0, split))
    each = footprint.shared + footprint.member
    assert _workers(job, Member(0, split), 4, 2 * each + each // 2) == 2
    assert re.search(
        r"4 processes need about [\d.]+ MiB, there is [\d.]+ MiB: 2 at a time", caplog.text
    )
    caplog.clear()
    assert _workers(job, Member(0, split), 4, 4 * each) == 4
    assert not caplog.text


def test_a_run_beyond_what_may_be_taken_is_refused_with_its_need() -> None:
    task, split = graph()
    made = partial(build, BAGCN, 0.0)
    footprint = estimate(made, task, Member(0, split))
    with pytest.raises(
        DoesNotFitError, match=r"one run needs about [\d.]+ MiB, but only 0\.0 MiB"
    ) as told:
        list(train_population(made, task, [Member(0, split)], SETTINGS, max_memory=1000))
    assert told.value.need == footprint.shared + footprint.member
    assert "raise --max-memory" in str(told.value)


class Small(Job):
    """A machine with room for two members."""

    def train(self, members: Any, on_epoch: Any = None) -> list[Result]:
        if len(members) > 2:
            raise DoesNotFitError("too many", 5)
        return super().train(members, on_epoch)


def test_parts_that_do_not_fit_after_all_are_halved(caplog: pytest.LogCaptureFixture) -> None:
    task, split = graph()
    made = partial(build, GCN, 0.0)
    members = [Member(i, split) for i in range(5)]
    results = dict(_stacked(Small(made, task, SETTINGS, CPU, False, None), members, 5, None))
    assert [results[i].together for i in range(5)] == [2, 2, 2, 2, 1]
    assert "going on with parts of 3 members" in caplog.text
    assert "going on with parts of 2 members" in caplog.text
    close(results[3], train(made, task, members[3:4], SETTINGS)[0])


class Huge(GCN):
    """Asks for a pebibyte while it trains."""

    def forward(self, *graph: Any) -> Tensor:
        if self.training:
            torch.empty(2**50, dtype=torch.uint8)
        return super().forward(*graph)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_run_lacked_is_told(workers: int) -> None:
    _, split = graph()
    members = [Member(i, split) for i in range(2)]
    told = r"1 run on 90 nodes took more than 1,048,5\d\d GiB on cpu, which is not there: make"
    with pytest.raises(DoesNotFitError, match=told) as error:
        population(Huge, 0.0, members, workers=workers)
    assert 2**50 < error.value.need < 2**50 + 2**36


def killed(features: int, classes: int) -> nn.Module:
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return GCN(features, 8, classes)


def test_a_process_that_was_killed_is_reported() -> None:
    task, split = graph()
    members = [Member(i, split) for i in range(2)]
    with pytest.raises(ChildProcessError, match="most likely because memory ran out"):
        list(train_population(killed, task, members, SETTINGS, workers=2))


def test_states_of_finished_members_are_deleted(tmp_path: Path) -> None:
    _, split = graph()
    members = [Member(i, split) for i in range(3)]
    checkpoint = Checkpoint(tmp_path / "states", every=5)
    task, _ = graph()
    done = train_population(
        partial(build, GCN, 0.0), task, members, SETTINGS, workers=1, checkpoint=checkpoint
    )
    next(done)
    assert len(list(checkpoint.path.iterdir())) == 1  # until the next one is asked for
    assert len(list(done)) == 2
    assert not list(checkpoint.path.iterdir())


ORPHAN = """
import sys
from functools import partial
from bagcn.baselines.gcn import GCN
from bagcn.training import Member, TrainSettings, train_population
from training.plain import graph
from training.test_population import build

if __name__ == "__main__":
    task, split = graph()
    members = [Member(i, split) for i in range(2)]
    say = lambda done: done and print("training", flush=True)
    settings = TrainSettings(epochs=10_000_000)
    made = partial(build, GCN, 0.0)
    list(train_population(made, task, members, settings, workers=2, on_epoch=say))
"""


def descendants(root: int) -> set[int]:
    """Return all processes below one, from the lines of /proc."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text("utf-8").rpartition(")")[2].split()
        except OSError:  # it ended in this moment
            continue
        parents[int(status.parent.name)] = int(fields[1])
    found, below = set(), {root}
    while below:
        below = {pid for pid, parent in parents.items() if parent in below}
        found |= below
    return found


def running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    script = tmp_path / "orphan.py"
    script.write_text(ORPHAN, "utf-8")
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"training\n"
    workers = descendants(parent.pid)
    assert len(workers) >= 2
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 20
    while any(map(running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if running(pid)]
