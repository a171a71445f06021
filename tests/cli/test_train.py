# Toy is 90 nodes in three classes, 20 / 30 of each class being asked for and shared out.
from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bagcn.cli import benchmark
from bagcn.study.store import Store
from bagcn.training import Result
from cli.conftest import Bagcn
from toy import NODES

FAST = ("--model", "gcn", "--workers", 1, "--set", "epochs=12")


def records(folder: Path, model: str = "gcn") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{model}.jsonl").read_text().splitlines()]


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """What must not change from one time to the next."""
    passing = ("seconds", "peak_memory", "date", "commit")
    return {key: value for key, value in record.items() if key not in passing}


def test_what_a_newcomer_sees(bagcn: Bagcn, tmp_path: Path) -> None:
    """Every seed, mean ± sd, the paper's number beside it, the time, and where things are."""
    out = tmp_path / "out"
    answer = bagcn("train", "cora", *FAST, "--seeds", 2, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    head, *lines = answer.out.splitlines()
    assert head == (
        "GCN on Cora: 2,708 nodes, 5,278 edges; split public 76754223cac0 with 140 training, "
        "500 validation, 1,000 test nodes"
    )
    tests, vals = ([record[part] for record in records(out)] for part in ("test", "val"))
    for record, line in zip(records(out), lines[:2], strict=True):
        epoch = record["best_epoch"] + 1
        assert line.startswith(
            f"  seed {record['seed']}    test {100 * record['test']:5.2f} %   "
            f"validation {100 * record['val']:5.2f} %   epoch {epoch:>4}   "
        )
    mean, sd = 100 * statistics.fmean(tests), 100 * statistics.stdev(tests)
    assert lines[2] == (
        f"test       {mean:.2f} ± {sd:.2f} %   2 seeds, each at its best validation epoch"
    )
    assert lines[3] == (
        f"validation {100 * statistics.fmean(vals):.2f} ± {100 * statistics.stdev(vals):.2f} %"
    )
    assert lines[4] == (
        f"paper      81.70 ± 0.40 %   the BAGCN paper, Tables 2 and 3; here {mean - 81.7:+.2f}, "
        "with other settings"
    )
    assert lines[5].startswith("published  81.50        %   Kipf & Welling 2017")
    assert lines[6].endswith(" s in all")
    assert lines[7:] == [f"records:  {out / 'gcn.jsonl'}", f"picture:  {out / 'gcn.cora.png'}"]
    assert (out / "gcn.cora.png").read_bytes().startswith(b"\x89PNG")


def test_json_says_all_of_it(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    answer = bagcn("train", "toy", *FAST, "--seeds", "3..5", "--json", "--out", tmp_path / "out")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    written = records(tmp_path / "out")
    assert [run["seed"] for run in found["runs"]] == [3, 4, 5]
    assert [run["test"] for run in found["runs"]] == [record["test"] for record in written]
    assert found["test"]["mean"] == pytest.approx(
        100 * statistics.fmean(record["test"] for record in written)
    )
    assert (found["model"], found["dataset"], found["paper"]) == ("gcn", "toy", None)
    assert found["settings"]["train"]["epochs"] == 12
    assert found["changed"] is True
    assert len({run["split"]["hash"] for run in found["runs"]}) == 3


def test_curves_are_kept_whole(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    bagcn("train", "toy", *FAST, "--out", tmp_path)
    (record,), (curves,) = records(tmp_path), records(tmp_path / "curves")
    assert curves["id"] == record["id"]
    assert curves["epoch"] == list(range(1, 13))
    assert {len(curves[name]) for name in ("loss", "val", "val_loss", "test")} == {12}
    best = record["best_epoch"]
    assert (curves["val"][best], curves["test"][best]) == (record["val"], record["test"])
    assert max(curves["val"]) == record["val"]


def test_quiet_prints_nothing(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    answer = bagcn("train", "toy", *FAST, "-q", "--out", tmp_path)
    assert (answer.code, answer.out, answer.err) == (0, "", "")
    assert len(records(tmp_path)) == 1


def test_what_is_stored_is_not_run_again(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    bagcn("train", "toy", *FAST, "--seeds", 2, "--out", tmp_path)
    before = records(tmp_path)
    again = bagcn("train", "toy", *FAST, "--seeds", 3, "--out", tmp_path)
    assert again.out.count("kept from an earlier run") == 2
    assert records(tmp_path)[:2] == before
    assert len(records(tmp_path)) == 3
    forced = bagcn("train", "toy", *FAST, "--seeds", 2, "--force", "--out", tmp_path)
    assert "kept" not in forced.out
    assert [plain(record) for record in records(tmp_path)[3:]] == [plain(r) for r in before]


def test_other_settings_are_other_runs(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    for more in (
        (),
        ("--set", "lr=0.02"),
        ("--set", "dropout=0.1"),
        ("--set", "scaling=row-l2"),
        ("--split", "random:0.3/0.2"),
        ("--set", "graph=remove-edges:0.5:1"),
    ):
        assert bagcn("train", "toy", *FAST, *more, "-q", "--out", tmp_path).code == 0
    found = records(tmp_path)
    assert len({record["id"] for record in found}) == len({r["recipe"] for r in found}) == 6
    assert found[1]["settings"]["train"]["lr"] == 0.02
    assert found[2]["settings"]["arguments"]["dropout"] == 0.1
    assert found[3]["settings"]["scaling"] == "row-l2"
    assert found[4]["split"]["name"] == "random:0.3/0.2"
    assert found[5]["settings"]["graph"] == "remove-edges:0.5:1"


def test_seeds_as_a_range_and_a_list(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    bagcn("train", "toy", *FAST, "--seeds", "5..6", "-q", "--out", tmp_path)
    bagcn("train", "toy", *FAST, "--seeds", "1,9", "-q", "--out", tmp_path)
    assert [record["seed"] for record in records(tmp_path)] == [5, 6, 1, 9]


def test_a_recipe_of_ones_own(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    settings = "train = { epochs = 3, lr = 0.5 }\nmodel = { hidden_channels = 8 }\n"
    recipe.write_text(f'[official]\nsource = "mine"\n{settings}')
    answer = bagcn("train", "toy", "--model", "gcn", "--recipe", recipe, "-q", "--out", tmp_path)
    assert (answer.code, answer.err) == (0, "")
    (record,) = records(tmp_path)
    assert (record["epochs"], record["settings"]["train"]["lr"]) == (3, 0.5)


def test_deterministic_kernels_give_the_same(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    for name, more in (("a", ()), ("b", ("--deterministic", "--device", "cpu"))):
        bagcn("train", "toy", *FAST, *more, "-q", "--out", tmp_path / name)
    assert plain(records(tmp_path / "a")[0]) == plain(records(tmp_path / "b")[0])


@pytest.mark.parametrize("model", ["bagcn-add", "bagcn-mul"])
def test_the_paper_s_models(bagcn: Bagcn, toy: Path, tmp_path: Path, model: str) -> None:
    few = ("--set", "epochs=3", "--set", "hidden_channels=8")
    answer = bagcn("train", "toy", "--model", model, *few, "-q", "--out", tmp_path)
    assert answer.code == 0
    assert records(tmp_path, model)[0]["epochs"] == 3


def stopped(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let Ctrl-C come in the middle of the run that follows so many finished ones."""
    keep, done = benchmark.Benchmark._keep_curves, 0

    def count(self: benchmark.Benchmark, run: Any, result: Result) -> None:
        nonlocal done
        keep(self, run, result)
        done += 1
        if done > after:
            raise KeyboardInterrupt

    monkeypatch.setattr(benchmark.Benchmark, "_keep_curves", count)


def test_an_interrupt_keeps_what_was_finished(
    bagcn: Bagcn, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        stopped(patch, after=2)
        answer = bagcn("train", "toy", *FAST, "--seeds", 4, "--out", tmp_path)
    assert (answer.code, answer.err.strip()) == (130, "stopped")
    assert "2 seeds, each at its best validation epoch" in answer.out
    assert answer.out.splitlines()[-1] == (
        "the same command trains the other seeds; with --resume from where it was"
    )
    assert (tmp_path / "gcn.toy.png").exists()
    assert [record["seed"] for record in records(tmp_path)] == [0, 1]
    rest = bagcn("train", "toy", *FAST, "--seeds", 4, "--out", tmp_path)
    assert rest.out.count("kept from an earlier run") == 2
    assert [record["seed"] for record in Store(tmp_path)] == [0, 1, 2, 3]


def test_an_interrupt_between_storing_and_telling_counts_the_run(
    bagcn: Bagcn, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = Store.add

    def interrupted(self: Store, records: Any) -> int:
        added = add(self, records)
        if self.path == tmp_path and len(list(self)) == 2:
            raise KeyboardInterrupt
        return added

    monkeypatch.setattr(Store, "add", interrupted)
    answer = bagcn("train", "toy", *FAST, "--seeds", 4, "--out", tmp_path)
    assert answer.code == 130
    assert "2 seeds, each at its best validation epoch" in answer.out


def test_a_real_interrupt_ends_the_workers_as_well(tmp_path: Path) -> None:
    """Ctrl-C in a terminal reaches the whole group of processes."""
    command = [sys.executable, "-m", "bagcn", "train", "cora", "--model", "gcn", "--seeds", "40"]
    command += ["--set", "epochs=50", "--workers", "2", "--out", str(tmp_path)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    while not process.stdout.readline().startswith("  seed"):
        assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    # both pipes end with the last process that holds them, workers included
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, "stopped")
    finished = len(records(tmp_path))
    assert 1 <= finished < 40
    assert f"{finished} seed" in out


def test_resume_goes_on_in_the_middle_of_a_run(
    bagcn: Bagcn, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was cut off in epoch 12 of 12, after the checkpoint of epoch 10, ends the same."""
    every = ("--checkpoint-every", 5, "--seeds", 2)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    bagcn("train", "toy", *FAST, *every, "-q", "--out", whole)
    assert not (whole / "checkpoints").exists()
    with monkeypatch.context() as patch:
        stopped(patch, after=0)
        assert bagcn("train", "toy", *FAST, *every, "-q", "--out", cut).code == 130
    assert len(list((cut / "checkpoints").iterdir())) == 1
    assert not (cut / "gcn.jsonl").exists()
    assert bagcn("train", "toy", *FAST, *every, "-q", "--resume", "--out", cut).code == 0
    assert [plain(r) for r in records(cut)] == [plain(r) for r in records(whole)]
    assert not (cut / "checkpoints").exists()


def test_the_number_of_test_nodes_is_the_rule_s(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    """30 of a class: 30·20/51 = 11 train, 30·30/51 = 17 validate, 2 test."""
    head = bagcn("train", "toy", *FAST, "--out", tmp_path).out.splitlines()[0]
    assert head.endswith("with 33 training, 51 validation, 6 test nodes")
    assert NODES == 33 + 51 + 6
