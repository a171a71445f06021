"""Every mistake is answered in one clear line on stderr, with exit code 2 and no traceback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bagcn.study import runner
from cli.conftest import Bagcn
from toy import toy_arrays, write_toy

GCN = ("train", "toy", "--model", "gcn", "--workers", 1, "--set", "epochs=5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("coar", "unknown data set 'coar'; did you mean 'cora'? Known: cora, citeseer"),
        ("cora --model bagcn-ad", "unknown model 'bagcn-ad'; did you mean 'bagcn-add'? Known:"),
        ("cora --set dropot=0.1", "unknown setting 'dropot'; did you mean 'dropout'? Known:"),
        ("cora --set scaling=rwo", "unknown feature scaling 'rwo'; did you mean 'row'?"),
        ("cora --split per-clas", "unknown split 'per-clas'; did you mean 'per-class'?"),
        ("cora --variant tund", "unknown variant 'tund'; did you mean 'tuned'?"),
        ("cora --set graph=add-edge:1:1", "unknown perturbation 'add-edge'; did you mean"),
        ("cora --sed 3", "No such option '--sed'"),
        ("cora --device gpu", "Invalid value for '--device': 'gpu' is not one of"),
        ("cora --set lr", "expected --set KEY=VALUE, like --set lr=0.02, got 'lr'"),
        ("cora --set lr=fast", "lr must be a number; got fast"),
        ("cora --set epochs=2.5", "epochs must be a whole number; got 2.5"),
        ("cora --set epochs=0", "epochs must be at least 1, got 0"),
        ("cora --set lr=[1", "cannot read the value in --set lr=[1; write a number (0.02)"),
        ("cora --set fusion=ad", "cannot build bagcn-add with fusion=ad: fusion must be one of"),
        ("cora --set hidden_channels=-3", "cannot build bagcn-add with hidden_channels=-3: "),
        ("cora --set hidden_channels=big", "hidden_channels must be a whole number; got big"),
        ("cora --seeds 5..2", "cannot read the seeds '5..2'; expected a number of seeds (20)"),
        ("cora --seeds 0", "cannot read the seeds '0'"),
        ("cora --split public:3", "the public split has no sizes to choose"),
        ("cora --split per-class:a/b", "cannot read the split 'per-class:a/b'; expected"),
        ("cora --max-memory much", "cannot read the size 'much'; expected one like 4GiB"),
        ("cora --recipe nowhere.toml", "there is no recipe file nowhere.toml"),
        (f"{__file__} --seeds 2", f"{__file__} is a file: give tables of your own as --nodes"),
        ("cora --resume --checkpoint-every 0", "--resume needs checkpoints"),
        ("cora --nodes nodes.csv", "either a benchmark data set (cora) or tables of your own"),
        ("cora --label topic", "--label is for tables of your own: give --nodes and --edges"),
        ("--nodes n.csv --edges e.csv --json", "--json is for benchmark data sets, not for"),
        ("cora --data-dir nowhere", "the data folder nowhere does not exist; create it, or name"),
    ],
)
def test_what_cannot_be_meant(
    bagcn: Bagcn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BAGCN_DATA", raising=False)
    assert bagcn("train", *arguments.split()).error.startswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("trian", "unknown command 'trian'; did you mean 'train'? Known: train, predict"),
        ("data lst", "No such command 'lst'. Did you mean 'list'? (see bagcn data --help)"),
        ("data info photos", "unknown data set 'photos'; did you mean 'photo'? Known: cora"),
        ("data get al", "unknown data set 'al'; did you mean 'all'?"),
        ("bench gcn citeseer", "citeseer is a data set, no model: name it with --on"),
        ("bench gcn --recipes nowhere", "Invalid value for '--recipes': Directory 'nowhere' does"),
        ("tune gcn cora --recipes no", "Invalid value for '--recipes': Directory 'no' does not"),
        (f"bench --import {__file__}", f"there is no {__file__} to import: expected a folder or a"),
        ("reproduce lst", "unknown study 'lst'; did you mean 'list'? Known: table-small, "),
        ("models gcnn", "unknown model 'gcnn'; did you mean 'gcn'?"),
        ("--nothing", "No such option '--nothing'"),
    ],
)
def test_commands_and_names(bagcn: Bagcn, arguments: str, message: str) -> None:
    assert bagcn(*arguments.split()).error.startswith(message)


@pytest.mark.parametrize(
    ("place", "why"), [("file/runs", "Not a directory"), ("file", "File exists")]
)
@pytest.mark.parametrize("command", ["train", "bench"])
def test_a_folder_that_cannot_be_written(
    bagcn: Bagcn, toy: Path, tmp_path: Path, command: str, place: str, why: str
) -> None:
    """It is said before anything is trained."""
    (tmp_path / "file").write_text("in the way")
    arguments = GCN if command == "train" else ("bench", "gcn", "--on", "cora", "--seeds", "1")
    found = bagcn(*arguments, "--out", tmp_path / place)
    assert found.error == (
        f"cannot write to the folder {tmp_path}/{place} ({why}): choose another with --out"
    )


@pytest.mark.parametrize("left", [0, 100, 3_000, -200])
def test_a_data_file_that_is_cut_off(bagcn: Bagcn, toy: Path, tmp_path: Path, left: int) -> None:
    file = toy / "Toy" / "raw" / "toy.npz"
    file.write_bytes(file.read_bytes()[:left])
    error = bagcn(*GCN, "--out", tmp_path).error
    assert error.startswith(f"cannot read {file}: it is no npz file, or not a whole one. Delete ")


def test_a_data_file_with_other_bytes(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    file = toy / "Toy" / "raw" / "toy.npz"
    content = bytearray(file.read_bytes())
    content[200:600] = bytes(400)
    file.write_bytes(content)
    assert bagcn(*GCN, "--out", tmp_path).error.startswith(f"cannot read {file}: ")


def changed(name: str, value: Any, place: Any = slice(None)) -> dict[str, Any]:
    arrays = toy_arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][place] = value
    return arrays


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (changed("adj_indices", 90, 5), "adj: indices from 0 to 90 should lie in 0..89"),
        (changed("adj_indices", -1, 5), "adj: indices from -1 to 89 should lie in 0..89"),
        (changed("adj_indptr", 99, 1), "adj: "),
        (changed("labels", 0), "does not hold Toy: 1 classes instead of 3. Replace toy.npz by"),
        (changed("attr_data", np.nan, 7), "its features hold NaN or infinite values"),
        (changed("attr_data", np.inf, 7), "its features hold NaN or infinite values"),
        ({**toy_arrays(), "labels": np.zeros(89, int)}, "its parts do not fit together: links"),
        ({**toy_arrays(), "labels": np.zeros(90)}, "expected whole numbers as labels, found float"),
    ],
    ids=["edge too high", "negative edge", "bounds", "one class", "NaN", "inf", "few", "float"],
)
def test_a_data_file_with_a_broken_graph(
    bagcn: Bagcn, toy: Path, tmp_path: Path, arrays: dict[str, Any], message: str
) -> None:
    write_toy(toy, arrays)
    runner._data.cache_clear()
    assert message in bagcn(*GCN, "--out", tmp_path).error


def test_a_data_set_that_is_not_here(
    bagcn: Bagcn, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the file, the folder to put it in, and the address."""
    monkeypatch.delenv("BAGCN_OFFLINE")
    (toy / "Toy" / "raw" / "toy.npz").unlink()
    assert bagcn(*GCN, "--offline", "--out", tmp_path).error == (
        "cannot get Toy: downloads are switched off (--offline, BAGCN_OFFLINE). "
        f"Put toy.npz into {toy}/Toy/raw; from https://example.org/toy.npz"
    )


def test_a_setting_that_only_training_can_judge(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    answer = bagcn(*GCN, "--set", "dropout=2", "-q", "--out", tmp_path)
    assert answer.error == "dropout must be from 0 to below 1, got 2"
    assert not (tmp_path / "gcn.jsonl").exists()


def test_a_lost_loss_names_the_epoch(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    """The other seeds' runs are kept, and what was found is told before the error."""
    answer = bagcn(*GCN, "--set", "lr=1e38", "--out", tmp_path)
    assert answer.code == 2
    assert answer.err == (
        "error: seed 0: the loss became NaN or infinite in epoch 2; try a smaller learning rate, "
        "or scale the features\n"
    )
    assert "seed 0    the loss became NaN or infinite in epoch 2" in answer.out
    assert "no run was finished" in answer.out
    several = bagcn(*GCN, "--set", "lr=1e38", "--seeds", 2, "-q", "--out", tmp_path)
    assert several.err.endswith("or scale the features (2 of 2 runs)\n")


def test_a_checkpoint_of_another_run_or_a_torn_one(
    bagcn: Bagcn, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cli.test_train import stopped

    every = ("--checkpoint-every", 2, "--out", tmp_path)
    with monkeypatch.context() as patch:
        stopped(patch, after=0)
        bagcn(*GCN, *every)
    (file,) = (tmp_path / "checkpoints").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    answer = bagcn(*GCN, *every, "-q", "--resume")
    assert answer.error.startswith(f"{file} is no readable checkpoint")


@pytest.mark.parametrize("place", [0, 1, 5])
def test_debug_shows_the_traceback_wherever_it_stands(bagcn: Bagcn, place: int) -> None:
    arguments = ["train", "coar", "--model", "gcn", "-q"]
    arguments.insert(place, "--debug")
    with pytest.raises(ValueError, match="unknown data set 'coar'"):
        bagcn(*arguments)
