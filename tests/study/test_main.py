"""``python -m bagcn.study`` on a machine that has the core dependencies and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bagcn.study.recipe import load_recipe
from bagcn.study.seeds import FIRST_TUNING_SEED
from bagcn.study.store import Store

NOT_CORE = {"click", "rich", "pandas", "pyarrow", "tabulate", "matplotlib", "plotly", "optuna"}
ALONE = '''
import runpy, sys

class Without:
    """A finder that does not find some packages."""

    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, *rest):
        return None if name.partition(".")[0] in missing else self.finder.find_spec(name, *rest)

missing = set(sys.argv.pop(1).split(","))
sys.meta_path[:] = map(Without, sys.meta_path)
runpy.run_module("bagcn.study", run_name="__main__", alter_sys=True)
'''


def study(*arguments: object, missing: set[str] = NOT_CORE) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "BAGCN_DATA"}
    return subprocess.run(
        [sys.executable, "-c", ALONE, ",".join(missing), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )


FAST = ("--epochs", 3, "--workers", 1, "--device", "cpu")


def test_bench_makes_records_that_another_store_takes(tmp_path: Path) -> None:
    away, here = tmp_path / "away", Store(tmp_path / "here")
    jobs = ("gcn:cora", "nothing:cora", "gcn", "mlp:cora")
    done = study("bench", *jobs, "--seeds", 2, "--out", away, *FAST)
    assert done.returncode == 1
    good, unknown, wrong, other = done.stderr.splitlines()
    assert (good.split()[0], other.split()[0]) == ("gcn:cora", "mlp:cora")
    assert "± " in good
    assert "failed: unknown model 'nothing'" in unknown
    assert "failed: expected MODEL:DATASET or MODEL:DATASET:VARIANT, got 'gcn'" in wrong
    assert here.merge(Store(away)) == 4
    records = list(here.of("gcn"))
    assert [record["seed"] for record in records] == [0, 1]
    assert {record["recipe"] for record in records} == {
        load_recipe("gcn", "cora").changed({"epochs": 3}).hash
    }


def test_tune_writes_a_recipe_with_what_led_to_it(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    budget = ("--trials", 3, "--tune-seeds", 2, "--batch", 3, "--halving", 2)
    arguments = ("tune", "sgc:cora", "--out", tmp_path, *budget, *FAST)
    done = study(*arguments, missing=NOT_CORE - {"optuna"})
    assert done.returncode == 0, done.stderr
    found = load_recipe("sgc", "cora", "tuned", tmp_path / "sgc.toml")
    assert found.train.epochs == 3
    assert found.source.startswith("tuned here (trials: 3, runs: 5), validation ")
    seeds = f"{FIRST_TUNING_SEED}..{FIRST_TUNING_SEED + 1}"
    assert f"over the seeds {seeds}; searched: lr " in found.source
