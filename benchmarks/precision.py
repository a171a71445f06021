"""Whether attention in bf16 changes the accuracy: the same seeds in bf16 and in fp32.

    python benchmarks/precision.py bagcn-add cora --device cuda
    python benchmarks/precision.py bagcn-add physics --device cuda --epochs 50

The seeds, splits and dropout masks are the same on both sides, so that the difference is tested
in pairs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import torch

from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.runner import Machine, graph, planned
from bagcn.study.statistics import paired_p
from bagcn.training import Member, train_population
from measure import report


def main() -> None:
    """Train both sides and compare their test accuracies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epochs", type=int, help="the recipe's if not given")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    recipe = load_recipe(args.model, args.dataset)
    if args.epochs:
        recipe = recipe.changed({"epochs": args.epochs})
    numbers: dict[str, float] = {"seeds": args.seeds, "epochs": recipe.train.epochs}
    tests = {}
    for precision in ("bf16", "fp32"):
        start = time.perf_counter()
        tests[precision] = accuracies(recipe.changed({"precision": precision}), args)
        numbers |= {
            f"{precision} s": time.perf_counter() - start,
            f"{precision} mean test %": statistics.fmean(tests[precision]),
            f"{precision} sd": statistics.stdev(tests[precision]),
        }
    differences = [a - b for a, b in zip(tests["bf16"], tests["fp32"], strict=True)]
    numbers["bf16 less fp32, points"] = statistics.fmean(differences)
    numbers["standard error"] = statistics.stdev(differences) / len(differences) ** 0.5
    numbers["p"] = paired_p(differences) or 1.0
    report(f"precision-{args.model}-{args.dataset}", torch.device(args.device), numbers, args.out)


def accuracies(recipe: Recipe, args: argparse.Namespace) -> list[float]:
    """Return the test accuracy (%) of every seed."""
    machine = Machine(args.device)
    _, task = graph(recipe, machine)
    members = [Member(run.seed, run.split) for run in planned(recipe, range(args.seeds), machine)]
    done = train_population(recipe.build, task, members, recipe.train, device=args.device)
    return [100 * result.test for _, result in sorted(done, key=lambda pair: pair[0])]


if __name__ == "__main__":
    main()
