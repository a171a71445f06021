"""One epoch (training step and evaluation) of GCN: this package against PyTorch Geometric's.

    python benchmarks/gcn.py cora

PyTorch Geometric's ``GCN`` is used as in its own example: dense features with dropout, and the
edges. Both sides have the same weights; their logits are compared first.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch_geometric.nn import GCN as TheirGCN  # noqa: N811

from bagcn.baselines.gcn import GCN
from bagcn.data import load, make_split
from bagcn.ops import as_matrix
from bagcn.ops.sparse import SparseMatrix
from bagcn.training import Member, Task, TrainSettings
from bagcn.training.loop import _Loop
from measure import report, timed

HIDDEN = 16


def same_weights(ours: GCN, theirs: TheirGCN) -> None:
    """Give PyTorch Geometric's network the weights of ours."""
    with torch.no_grad():
        for mine, other in zip(ours.convolutions, theirs.convs, strict=True):
            other.lin.weight.copy_(mine.linear.weight.T)
            other.bias.copy_(mine.bias)


def main() -> None:
    """Compare the logits, then measure both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="cora")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    data, device = load(args.dataset), torch.device("cpu")
    task = Task.from_data(data, "row")
    split = make_split("public" if "train_mask" in data else "per-class", data, 0)
    features = as_matrix(task.x)
    x = features.to_dense() if isinstance(features, SparseMatrix) else features

    def build(in_channels: int, out_channels: int) -> GCN:
        return GCN(in_channels, HIDDEN, out_channels, dropout=0.5)

    ours = build(task.num_features, task.num_classes).eval()
    theirs = TheirGCN(task.num_features, HIDDEN, 2, task.num_classes, dropout=0.5).eval()
    same_weights(ours, theirs)
    with torch.no_grad():
        difference = (ours(task.x, task.edge_index) - theirs(x, task.edge_index)).abs().max()
    optimizer = torch.optim.Adam(theirs.parameters(), lr=0.01, weight_decay=5e-4)

    def their_epoch(input_dropout: float = 0.5) -> torch.Tensor:
        theirs.train()
        optimizer.zero_grad()
        logits = theirs(F.dropout(x, input_dropout) if input_dropout else x, task.edge_index)
        F.cross_entropy(logits[split.train], task.y[split.train]).backward()
        optimizer.step()
        theirs.eval()
        with torch.no_grad():
            return theirs(x, task.edge_index).argmax(-1)

    loop = _Loop(build, task, [Member(0, split)], TrainSettings(epochs=10_000), device, False)
    numbers = {
        "largest difference of logits": float(difference),
        "ours ms": 1000 * timed(loop.epoch, device, args.repeats),
        "PyTorch Geometric ms": 1000 * timed(their_epoch, device, args.repeats),
        "PyTorch Geometric without input dropout ms": 1000
        * timed(lambda: their_epoch(0.0), device, args.repeats),
    }
    numbers["times faster"] = numbers["PyTorch Geometric ms"] / numbers["ours ms"]
    report(f"gcn-{args.dataset}", device, numbers, args.out)


if __name__ == "__main__":
    main()
