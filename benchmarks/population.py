"""Many seeds at once against the same seeds one by one.

    python benchmarks/population.py bagcn-add cora --members 100 --device cuda
    python benchmarks/population.py gcn cora --members 20        # CPU: processes of one thread

With --singles K only K of the runs are taken one by one and the time is scaled up.
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
    train(recipe.build, task, members[:1], recipe.train, device=device)  # warm up

    start = time.perf_counter()
    alone = [
        train(recipe.build, task, [m], recipe.train, device=device)[0] for m in members[:singles]
    ]
    one_by_one = (time.perf_counter() - start) * args.members / singles
    start = time.perf_counter()
    done = dict(train_population(recipe.build, task, members, recipe.train, device=device))
    together = time.perf_counter() - start
    tests = [done[i].test for i in range(args.members)]
    report(
        f"population-{args.model}-{args.dataset}",
        device,
        {
            "members": args.members,
            "one by one, measured": singles,
            "one by one s": one_by_one,
            "together s": together,
            "times faster": one_by_one / together,
            "together mean test": statistics.fmean(tests),
            "alone mean test": statistics.fmean(r.test for r in alone),
        },
        args.out,
    )


if __name__ == "__main__":
    main()
