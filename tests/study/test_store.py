"""The run store under several writers, a kill and repeated runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from bagcn.study.store import Store

WRITER = """
import sys
from bagcn.study.store import Store

who, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = Store(path)
print("ready", flush=True)
sys.stdin.readline()
for k in range(count):
    store.add([{"id": f"{who}-{k}", "model": "gcn", "text": who * 3000}])
"""


def line(name: str, **more: Any) -> dict[str, Any]:
    return {"id": name, "model": "gcn", "test": 0.5, **more}


def writer(who: str, path: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, who, str(path), str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def test_every_line_of_four_processes_that_write_at_once_is_whole(tmp_path: Path) -> None:
    writers = [writer(who, tmp_path / "store", 40) for who in "abcd"]
    go(*writers)
    assert [process.communicate(timeout=60) and process.returncode for process in writers] == [
        0
    ] * 4
    found = {record["id"]: record["text"] for record in Store(tmp_path / "store")}
    assert found == {f"{who}-{k}": who * 3000 for who in "abcd" for k in range(40)}
    raw = (tmp_path / "store" / "gcn.jsonl").read_text("utf-8").splitlines()
    order = [json.loads(text)["id"][0] for text in raw]
    assert len(order) == 160
    assert order != sorted(order)  # they did write at the same time


def test_a_kill_while_writing_costs_at_most_one_line(tmp_path: Path) -> None:
    process = writer("a", tmp_path / "store", 100_000)
    file = tmp_path / "store" / "gcn.jsonl"
    go(process)
    deadline = time.monotonic() + 30
    while not (file.exists() and file.stat().st_size > 30_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    whole = file.read_bytes().count(b"\n")
    store = Store(tmp_path / "store")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kill may have torn a line
        assert [record["id"] for record in store] == [f"a-{k}" for k in range(whole)]
        assert store.add([line("next")]) == 1
        assert [record["id"] for record in store][-1] == "next"


@pytest.mark.parametrize("keep", [1, 30, -1])
def test_a_torn_last_line_is_skipped_and_the_next_one_is_whole(tmp_path: Path, keep: int) -> None:
    store, file = Store(tmp_path), tmp_path / "gcn.jsonl"
    store.add([line("first"), line("second")])
    first, second = file.read_bytes().splitlines(keepends=True)
    torn = second.rstrip()[:keep]
    assert len(torn) < len(second.rstrip())
    file.write_bytes(first + torn)
    with pytest.warns(UserWarning, match=r"gcn\.jsonl, line 2 is torn and was skipped"):
        assert [record["id"] for record in store] == ["first"]
    store.add([line("third")])
    assert (
        file.read_bytes()
        == first + torn + b"\n" + json.dumps(line("third"), separators=(",", ":")).encode() + b"\n"
    )
    with pytest.warns(UserWarning, match="line 2 is torn"):
        assert [record["id"] for record in store] == ["first", "third"]


def test_a_whole_line_without_its_end_is_read_and_not_glued_to_the_next(tmp_path: Path) -> None:
    store, file = Store(tmp_path), tmp_path / "gcn.jsonl"
    store.add([line("first")])
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    store.add([line("second")])
    assert [record["id"] for record in store] == ["first", "second"]


def test_lines_that_are_no_runs_are_skipped_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "gcn.jsonl"
    file.write_text('12\n[]\n{"model": "gcn"}\n\n{"id": "a", "model": "gcn"}\n', "utf-8")
    with pytest.warns(UserWarning, match="torn and was skipped") as said:
        assert [record["id"] for record in Store(tmp_path)] == ["a"]
    assert [str(w.message).split(", ")[1] for w in said] == [
        f"line {k} is torn and was skipped" for k in (1, 2, 3)
    ]


def test_a_model_is_a_file_and_of_repeated_ids_the_last_counts(tmp_path: Path) -> None:
    store = Store(tmp_path / "made" / "late")
    assert list(store) == []
    store.add([line("a", test=0.1), line("b", model="gat"), line("a", test=0.2)])
    assert sorted(file.name for file in store.path.iterdir()) == ["gat.jsonl", "gcn.jsonl"]
    assert {record["id"]: record["test"] for record in store} == {"a": 0.2, "b": 0.5}
    assert [record["id"] for record in store.of("gat")] == ["b"]
    assert store.ids() == {"a", "b"}


def test_one_file_holds_all_models(tmp_path: Path) -> None:
    store = Store(tmp_path / "all.jsonl")
    store.add([line("a"), line("b", model="gat")])
    assert [file.name for file in tmp_path.iterdir()] == ["all.jsonl"]
    assert [record["id"] for record in store.of("gat")] == ["b"]


def test_merging_adds_what_is_new_once(tmp_path: Path) -> None:
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there.jsonl")
    here.add([line("a"), line("b")])
    there.add([line("b", test=0.9), line("c", model="gat"), line("x", failure="needs 9 GiB")])
    assert here.merge(there) == 1
    assert {r["id"]: r["test"] for r in here} == {"a": 0.5, "b": 0.5, "c": 0.5}
    assert [r["failure"] for r in here.failures()] == ["needs 9 GiB"]
    assert here.merge(there) == 0
    assert sum(len(file.read_bytes().splitlines()) for file in here.path.iterdir()) == 4
    assert here.merge(here) == 0


def test_the_later_of_two_runs_counts_whichever_store_is_merged(tmp_path: Path) -> None:
    early, late = "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:06+00:00"
    for here, there, added in ((early, late, 1), (late, early, 0)):
        stores = Store(tmp_path / here / "a"), Store(tmp_path / here / "b")
        for store, date in zip(stores, (here, there), strict=True):
            store.add([line("a", date=date)])
        assert stores[0].merge(stores[1]) == added
        assert [record["date"] for record in stores[0]] == [late]
        assert stores[0].merge(stores[1]) == 0


def test_a_torn_line_in_the_middle_costs_itself_alone(tmp_path: Path) -> None:
    store, file = Store(tmp_path), tmp_path / "gcn.jsonl"
    store.add([line("a"), line("b"), line("c"), line("d")])
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:20] + b"\xff\x00\n"
    lines[2] = lines[2][:9] + lines[2]  # a half and a whole in one
    file.write_bytes(b"".join(lines))
    with pytest.warns(UserWarning, match=r"line [23] is torn and was skipped"):
        assert [record["id"] for record in store] == ["a", "d"]


def test_what_could_not_be_run_is_no_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add([line("a"), line("f", failure="out of memory")])
    assert [record["id"] for record in store] == ["a"]
    assert [record["id"] for record in store.of("gcn")] == ["a"]
    assert store.ids() == {"a"}
    assert [record["failure"] for record in store.failures()] == ["out of memory"]


def test_numbers_that_json_cannot_say_are_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        Store(tmp_path).add([line("a"), line("b", test=float("nan"))])
    assert not list(tmp_path.iterdir())
