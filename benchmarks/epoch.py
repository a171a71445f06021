"""One epoch (training step and evaluation) of BAGCN: this package against plain dense code.

    python benchmarks/epoch.py cora                          # CPU: at least 2.5 times faster
    python benchmarks/epoch.py physics --device cuda         # GPU: at most 25 ms and 4 GiB
    python benchmarks/epoch.py 100000 --device cuda --only ours
    python benchmarks/epoch.py 20000 --apart                 # CPU: at most 1.5 GiB, dense over 6

A number is a synthetic graph of so many nodes. With --apart each side runs in a process of its
own, so that on a CPU the memory is the most that this process held.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bagcn.data import load, make_split, synthetic_graph
from bagcn.nn import BAGCN
from bagcn.ops import as_matrix, normalized_adjacency
from bagcn.ops.sparse import SparseMatrix
from bagcn.training import Member, Task, TrainSettings
from bagcn.training.capture import Captured
from bagcn.training.loop import _Loop
from dense import DenseBAGCN, dense_epoch
from measure import forget_peak, peak_gib, report, timed

HIDDEN = 64
RATES = {"input_dropout": 0.6, "dropout": 0.4}


def graph(name: str) -> tuple[Any, Task]:
    """Return a benchmark data set, or a synthetic graph of so many nodes."""
    if name.isdigit():
        data = synthetic_graph(int(name), num_features=128, degree=10)
        return data, Task.from_data(data)
    data = load(name)
    return data, Task.from_data(data, "row")


def ours(task: Task, data: Any, device: torch.device) -> Callable[[], None]:
    """Return the package's epoch, as the training loop takes it."""
    split = make_split("public" if "train_mask" in data else "per-class", data, 0)

    def build(features: int, classes: int) -> BAGCN:
        return BAGCN(features, HIDDEN, classes, **RATES)

    settings = TrainSettings(epochs=10_000)
    loop = _Loop(build, task, [Member(0, split)], settings, device, False)
    return Captured(loop.epoch) if device.type == "cuda" else loop.epoch


def dense(task: Task, data: Any, device: torch.device) -> Callable[[], None]:
    """Return the same epoch from dense matrices."""
    split = make_split("public" if "train_mask" in data else "per-class", data, 0)
    features = as_matrix(task.x)
    x = features.to_dense() if isinstance(features, SparseMatrix) else features
    adjacency = normalized_adjacency(task.edge_index, None, task.num_nodes).to_dense().to(device)
    x, y, train = x.to(device), task.y.to(device), split.train.to(device)
    model = DenseBAGCN(task.num_features, HIDDEN, task.num_classes, 0.6, 0.4).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    return lambda: dense_epoch(model, optimizer, x, adjacency, y, train)


SIDES = {"ours": ours, "dense": dense}


def main() -> None:
    """Measure the sides that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graph", help="a data set, or a number of nodes")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", choices=SIDES)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--apart", action="store_true", help="a process for each side")
    parser.add_argument("--json", action="store_true", help="print the numbers, keep nothing")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    device = torch.device(args.device)
    numbers: dict[str, float] = {}
    for side in [args.only] if args.only else list(SIDES):
        measured = in_own_process if args.apart else in_this_process
        numbers |= measured(args.graph, side, args.device, args.repeats)
    if not args.only:
        numbers["times faster"] = numbers["dense ms"] / numbers["ours ms"]
    if args.json:
        print(json.dumps(numbers))
    else:
        report(f"epoch-{args.graph}", device, numbers, args.out)


def in_this_process(name: str, side: str, device_name: str, repeats: int) -> dict[str, float]:
    """Return milliseconds and GiB of one side's epoch."""
    device = torch.device(device_name)
    data, task = graph(name)
    forget_peak(device)
    step = SIDES[side](task, data, device)
    seconds = timed(step, device, repeats, warmup=min(5, repeats))
    return {f"{side} ms": 1000 * seconds, f"{side} GiB": peak_gib(device)}


def in_own_process(name: str, side: str, device: str, repeats: int) -> dict[str, float]:
    """Return the same, measured in a new process."""
    options = ["--only", side, "--device", device, "--repeats", str(repeats), "--json"]
    command = [sys.executable, __file__, name, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    numbers: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return numbers


if __name__ == "__main__":
    main()
