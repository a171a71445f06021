"""Many seeds at once against the same seeds one by one.

    python benchmarks/population.py bagcn-add cora --members 100 --device cuda
    python benchmarks/population.py gcn cora --members 20        # CPU: processes of one thread

Both sides are warmed up first: on a CPU the processes come from one that has imported torch, which
takes two seconds, once for all populations of a command. With --singles K only K of the runs are
taken one by one and the time is scaled up. On a GPU these are timed both as ordinary eager loops
and with their epochs replayed from a CUDA graph, as ``bagcn train`` takes a single run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import torch

from bagcn.study.recipe import load_recipe
from bagcn.study.runner import Machine, graph, planned
from bagcn.training import Member, train, train_population
from measure import report


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("dataset")
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--singles", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    device, machine = torch.device(args.device), Machine(args.device)
    recipe = load_recipe(args.model, args.dataset)
    _, task = graph(recipe, machine)
    members = [Member(run.seed, run.split) for run in planned(recipe, range(args.members), machine)]
    singles = args.singles or args.members
    train(recipe.build, task, members[:1], recipe.train, device=device)  # warm both sides up
    list(train_population(recipe.build, task, members[:2], recipe.train, device=device))

    alone, numbers = {}, {"members": args.members, "one by one, measured": singles}
    for way in ("eagerly", "as CUDA graphs") if device.type == "cuda" else ("eagerly",):
        start = time.perf_counter()
        alone = {
            member.seed: train(
                recipe.build, task, [member], recipe.train, device=device, capture=way != "eagerly"
            )[0]
            for member in members[:singles]
        }
        spent = time.perf_counter() - start
        numbers[f"one by one {way} s"] = spent * args.members / singles
    start = time.perf_counter()
    done = dict(train_population(recipe.build, task, members, recipe.train, device=device))
    together = time.perf_counter() - start
    numbers["together s"] = together
    for name in [
        name for name in numbers if name.startswith("one by one ") and name.endswith(" s")
    ]:
        numbers[f"times faster than {name[:-2]}"] = numbers[name] / together
    numbers["together mean test"] = statistics.fmean(r.test for r in done.values())
    numbers["alone mean test"] = statistics.fmean(r.test for r in alone.values())
    report(f"population-{args.model}-{args.dataset}", device, numbers, args.out)


if __name__ == "__main__":
    main()
