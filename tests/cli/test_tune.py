"""``bagcn tune``; toy is 90 nodes in three classes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bagcn.study.recipe import load_recipe
from cli.conftest import Bagcn

pytest.importorskip("optuna")

FAST = ("--workers", 1, "--set", "epochs=4", "--set", "num_layers=2", "--batch", 2)


def test_it_writes_a_recipe_and_goes_on_later(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    space = tmp_path / "space.toml"
    space.write_text("[space]\nlr = { low = 0.001, high = 0.1 }\nnum_layers = [2, 3]\n", "utf-8")
    options = ("--seeds", 2, "--space", space, "--out", tmp_path / "tune", *FAST)
    answer = bagcn("tune", "gcn", "toy", "--trials", 2, *options)
    assert answer.code == 0
    file = tmp_path / "tune" / "gcn.toml"
    assert answer.out.splitlines() == [
        f"recipe:   {file}",
        f"see bagcn bench gcn --variant tuned --recipes {tmp_path / 'tune'}",
    ]
    assert "tuned here (trials: 2, runs: 4)" in answer.err
    found = load_recipe("gcn", "toy", "tuned", file)
    assert (found.train.epochs, found.arguments["num_layers"]) == (4, 2)
    assert found.source.endswith("over the seeds 10000..10001; searched: lr 0.001..0.1")
    more = bagcn("tune", "gcn", "toy", "--trials", 4, *options, "-q")
    assert (more.code, more.out, more.err) == (0, "", "")
    assert "tuned here (trials: 4, runs: 8)" in load_recipe("gcn", "toy", "tuned", file).source
    tuned = ("--variant", "tuned", "--recipes", file.parent, "--seeds", 1, "--workers", 1)
    table = bagcn("bench", "gcn", "--on", "toy", *tuned, "--out", tmp_path, "--format", "md")
    assert "| GCN | ours |" in table.out


def test_mistakes(bagcn: Bagcn, toy: Path, tmp_path: Path) -> None:
    out = ("--out", tmp_path / "tune")
    assert "unknown model 'gatt'" in bagcn("tune", "gatt", "toy", *out).error
    assert "unknown data set 'tyo'" in bagcn("tune", "gcn", "tyo", *out).error
    empty = tmp_path / "empty.toml"
    empty.write_text("", "utf-8")
    answer = bagcn("tune", "gcn", "toy", "--space", empty, *out)
    assert answer.error == "the recipe of gcn declares no space to search"
    empty.write_text("[space]\nsharpness = { low = 0, high = 1 }\n", "utf-8")
    wrong = bagcn("tune", "gcn", "toy", "--space", empty, "--trials", 2, *out, *FAST)
    assert "unknown setting 'sharpness'" in wrong.err
