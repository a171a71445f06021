"""Bench and tune where only the core dependencies are: ``python -m bagcn.study``.

The records are lines of JSON that ``bagcn bench --import FILE`` adds to a store.
"""

from __future__ import annotations

import argparse
import logging
import time
from pathlib import Path

from bagcn.study.recipe import Recipe, load_recipe, search_space
from bagcn.study.runner import Machine, run
from bagcn.study.seeds import parse_seeds
from bagcn.study.space import parse_space
from bagcn.study.store import Store
from bagcn.study.tune import Budget, tune
from bagcn.study.write import put_tuned


def main() -> None:
    """Run the jobs one after another; begin none after the time is up."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = _arguments()
    deadline = time.monotonic() + args.seconds
    for job in args.jobs:
        if time.monotonic() > deadline:
            logging.warning("time is up before %s", job)
            continue
        started = time.monotonic()
        try:
            said = _bench(job, args) if args.command == "bench" else _tune(job, args)
        except (ValueError, RuntimeError, OSError) as error:
            said = f"failed: {str(error).splitlines()[0]}"
        logging.info("%-34s %6.1f s  %s", job, time.monotonic() - started, said)


def _bench(job: str, args: argparse.Namespace) -> str:
    recipe = _recipe(job, args)
    machine = Machine(args.device, args.data_dir)
    records = list(run(recipe, parse_seeds(args.seeds), Store(args.out), machine))
    tests = [100 * r["test"] for r in records if r["test"] is not None and r["diverged"] is None]
    if not tests:
        return "no run ended well"
    mean = sum(tests) / len(tests)
    sd = (sum((t - mean) ** 2 for t in tests) / max(1, len(tests) - 1)) ** 0.5
    return f"{mean:.2f} ± {sd:.2f} over {len(tests)}"


def _tune(job: str, args: argparse.Namespace) -> str:
    recipe = _recipe(job, args)
    space = parse_space(search_space(recipe.model, args.space))
    budget = Budget(args.trials, args.tune_seeds, args.batch, args.halving, args.seconds_each)
    study_file = args.out / "studies" / f"{recipe.model}.{recipe.dataset}.log"
    found = tune(recipe, space, budget, Machine(args.device, args.data_dir), study_file)
    source = (
        f"tuned here: {found.trials} trials, {found.runs} runs, validation "
        f"{100 * found.validation:.2f} % over {budget.seeds} seeds"
    )
    put_tuned(args.out / f"{recipe.model}.toml", found.recipe, source)
    return source


def _recipe(job: str, args: argparse.Namespace) -> Recipe:
    """Read MODEL:DATASET[:VARIANT]."""
    model, dataset, *variant = job.split(":")
    file = args.recipes / f"{model}.toml" if args.recipes else None
    return load_recipe(model, dataset, variant[0] if variant else "official", file)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bagcn.study", description=__doc__)
    parser.add_argument("command", choices=["bench", "tune"])
    parser.add_argument("jobs", nargs="+", metavar="MODEL:DATASET[:VARIANT]")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--recipes", type=Path, help="folder of recipe files, not the package's")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", default="20", help="bench: 20 or 0..19")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no job later")
    parser.add_argument("--seconds-each", type=float, default=float("inf"), help="tune: a job")
    parser.add_argument("--space", type=Path, help="tune: recipe file with the space")
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--tune-seeds", type=int, default=3)
    parser.add_argument("--batch", type=int, default=10)
    parser.add_argument("--halving", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
