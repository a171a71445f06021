"""How the cost of an epoch grows with the number of nodes: a figure of seconds and memory.

    python benchmarks/growth.py measure                      # CPU, both sides
    python benchmarks/growth.py measure --device cuda
    python benchmarks/growth.py draw                         # from all that was measured

On a CPU every point is a process of its own. A side that would need more memory than there is,
by the N × N matrices it holds, is left out, and so is one whose last point took too long.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch

from bagcn.training.memory import available_memory
from epoch import in_own_process, in_this_process
from measure import RESULTS, report

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "growth.png"
SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
DENSE_COPIES = 8  # N × N matrices that the dense side holds at its peak
TOO_LONG = 40.0  # seconds an epoch
SLOW = 10_000  # above so many nodes an epoch is timed once, after another


def measure(device: str, sizes: list[int], out: Path | None) -> None:
    """Measure both sides at every size."""
    for side in ("ours", "dense"):
        for size in sizes:
            needed = DENSE_COPIES * 4 * size**2 if side == "dense" else 0
            if needed > available_memory(device):
                break
            measured = in_own_process if device == "cpu" else in_this_process
            found = measured(str(size), side, device, 1 if size > SLOW else 3)
            point = {"seconds": found[f"{side} ms"] / 1000, "GiB": found[f"{side} GiB"]}
            report("growth", torch.device(device), {"nodes": size, "side": side, **point}, out)
            if point["seconds"] > TOO_LONG:
                break


def draw(source: Path, picture: Path) -> None:
    """Draw seconds and memory against nodes, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    lines = [json.loads(line) for line in source.read_text().splitlines()]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, (key, label) in zip(
        axes, (("seconds", "seconds an epoch"), ("GiB", "GiB at the peak")), strict=True
    ):
        for device, style in (("cpu", "o-"), ("cuda", "s--")):
            for side, colour in (("ours", "tab:blue"), ("dense", "tab:red")):
                own = [
                    line
                    for line in lines
                    if (line["hardware"]["device"], line["side"]) == (device, side) and key in line
                ]
                if own:
                    points = _least(own, key)
                    name = own[-1]["hardware"]["name"] if device == "cuda" else "2 CPU cores"
                    axis.loglog(
                        list(points),
                        list(points.values()),
                        style,
                        color=colour,
                        label=f"{'bagcn' if side == 'ours' else 'dense formula'}, {name}",
                    )
        axis.set(xlabel="nodes", ylabel=label)
        axis.grid(alpha=0.3, which="both")
    axes[1].legend(*axes[0].get_legend_handles_labels(), loc="upper left", frameon=False)
    figure.suptitle("One epoch of BAGCN-add (training step and evaluation), 64 hidden units")
    figure.savefig(picture, dpi=150)


def _least(lines: list[dict[str, Any]], key: str) -> dict[int, float]:
    """Return the least that was measured at every size: what is above it is other work's."""
    found: dict[int, float] = {}
    for line in lines:
        size = line["nodes"]
        found[size] = min(line[key], found.get(size, line[key]))
    return dict(sorted(found.items()))


def main() -> None:
    """Measure or draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=["measure", "draw"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.action == "measure":
        measure(args.device, args.sizes, args.out)
    else:
        draw(RESULTS / "growth.jsonl", PICTURE)


if __name__ == "__main__":
    main()
