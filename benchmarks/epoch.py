"""One epoch (training step and evaluation) of BAGCN: this package against plain dense code.

    python benchmarks/epoch.py cora                          # CPU: at least 2.5 times faster
    python benchmarks/epoch.py physics --device cuda         # GPU: at most 25 ms and 4 GiB
    python benchmarks/epoch.py 100000 --device cuda --only ours
    python benchmarks/epoch.py 20000 --memory                # CPU: at most 1.5 GiB, dense over 6

A number is a synthetic graph of so many nodes. With --memory each side runs in a process of its
own and reports the most memory that the process held.
"""

from __future__ import annotations

import argparse
import resource
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
from measure import peak_gib, report, timed

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
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    device = torch.device(args.device)
    sides = [args.only] if args.only else list(SIDES)
    if args.memory and not args.only:
        numbers = {f"{side} GiB": _in_own_process(args.graph, side) for side in sides}
        report(f"memory-{args.graph}", device, numbers, args.out)
        return
    numbers = {}
    data, task = graph(args.graph)
    for side in sides:
        step = SIDES[side](task, data, device)
        if args.memory:
            step()
            print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
            return
        numbers[f"{side} ms"] = 1000 * timed(step, device, args.repeats)
        if device.type == "cuda":
            numbers[f"{side} GiB"] = peak_gib(step, device)
        del step
    if len(sides) == 2:
        numbers["times faster"] = numbers["dense ms"] / numbers["ours ms"]
    report(f"epoch-{args.graph}", device, numbers, args.out)


def _in_own_process(name: str, side: str) -> float:
    command = [sys.executable, __file__, name, "--only", side, "--memory"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
