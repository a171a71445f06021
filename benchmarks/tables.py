"""Time and memory of one's own tables: from files to predictions, and reading large ones.

    python benchmarks/tables.py            # both
    python benchmarks/tables.py train      # 5,000 nodes, the command from tables to predictions
    python benchmarks/tables.py read       # 200,000 nodes with 50 columns, 1,000,000 edges

Every measurement is a process of its own, imports included. On a machine that others use as well
the seconds on the clock are upper bounds; those of the processor say how long it was at work.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from measure import report

EXAMPLES = Path(__file__).parent.parent / "examples"
NODES, EDGES = 200_000, 1_000_000
WORDS = "study of the new old star planet orbit leaf root flower chess knight opening dance stage"

READ = """
import sys
from bagcn.tables import Layout, from_frames, read_table
tables = [read_table(name) for name in sys.argv[1:3]]
graph = from_frames(*tables, Layout(label="topic"))
assert (graph.num_nodes, graph.counts.rows, len(tables[0].columns)) == (200_000, 1_000_000, 50)
if sys.argv[3] == "encoded":
    from bagcn.tables.encoders import fit_encoder
    fit_encoder(graph).transform(graph)
"""


def main() -> None:
    """Measure and note."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["train", "read"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        numbers: dict[str, float] = {}
        if args.what != "read":
            numbers |= train(Path(folder))
        if args.what != "train":
            numbers |= read(Path(folder))
    report("tables", torch.device("cpu"), numbers, args.out)


def train(folder: Path) -> dict[str, float]:
    """Measure the command that makes a model and predictions from 5,000 nodes in CSV."""
    subprocess.run([sys.executable, EXAMPLES / "make_tables.py", folder, "5000"], check=True)
    command = ["-m", "bagcn", "train", "--label", "topic", "--out", folder / "model"]
    command += ["--nodes", folder / "nodes.csv", "--edges", folder / "edges.csv"]
    command += ["--predictions", folder / "predictions.parquet"]
    numbers = measured("train 5,000 nodes", command)
    assert len(pd.read_parquet(folder / "predictions.parquet")) == 5000
    return numbers


def read(folder: Path) -> dict[str, float]:
    """Measure reading the large tables, alone and with the encoding of their columns."""
    large(folder)
    numbers: dict[str, float] = {}
    for kind in ("csv", "parquet"):
        names = [folder / f"large-{table}.{kind}" for table in ("nodes", "edges")]
        for step in ("read", "encoded"):
            numbers |= measured(f"{step} {kind}", ["-c", READ, *names, step])
    return numbers


def large(folder: Path) -> None:
    """Write 50 columns of all kinds for every node, and edges between them, drawn at random."""
    generator = np.random.default_rng(0)

    def words(values: list[str]) -> np.ndarray:
        return np.array(values)[generator.integers(len(values), size=NODES)]

    ids = np.array([f"node-{i:07d}" for i in generator.permutation(NODES)])
    columns = {"id": ids, "topic": np.where(generator.random(NODES) < 0.1, words([*"abcd"]), "")}
    columns |= {f"n{i}": generator.standard_normal(NODES).round(4) for i in range(40)}
    columns |= {f"c{i}": words([f"v{k}" for k in range(20)]) for i in range(4)}
    columns |= {f"b{i}": words(["yes", "no"]) for i in range(2)}
    days = np.datetime64("2010-01-01") + generator.integers(5000, size=NODES)
    picked = np.array(WORDS.split())[generator.integers(len(WORDS.split()), size=(NODES, 8))]
    columns |= {"date": days.astype(str), "text": np.array([" ".join(row) for row in picked])}
    ends = generator.integers(NODES, size=(2, EDGES))
    edges = pd.DataFrame({"source": ids[ends[0]], "target": ids[ends[1]]})
    for name, table in (("nodes", pd.DataFrame(columns)), ("edges", edges)):
        table.to_csv(folder / f"large-{name}.csv", index=False)
        table.to_parquet(folder / f"large-{name}.parquet", index=False)


def measured(name: str, arguments: list[str | Path]) -> dict[str, float]:
    """Run Python with these arguments; return its seconds and its peak of memory."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{name} failed")
    return {
        f"{name}: seconds": seconds,
        f"{name}: processor seconds": usage.ru_utime + usage.ru_stime,
        f"{name}: GiB": usage.ru_maxrss / 2**20,
    }


if __name__ == "__main__":
    main()
