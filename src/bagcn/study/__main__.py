"""Bench and tune where only the core dependencies are: ``python -m bagcn.study``.

Example: ``python -m bagcn.study bench gcn:cora bagcn-add:cora --seeds 20 --out runs``. The records
are lines of JSON that ``bagcn bench --import runs`` adds to a store.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

from bagcn.study.bench import recipe_in, run_cell
from bagcn.study.recipe import Recipe, load_recipe, search_space
from bagcn.study.runner import Machine
from bagcn.study.seeds import parse_seeds
from bagcn.study.space import parse_space
from bagcn.study.statistics import summary
from bagcn.study.store import Record, Store
from bagcn.study.tune import Budget, provenance, tune
from bagcn.study.values import parse_bytes
from bagcn.study.write import put_tuned


def main() -> None:
    """Run the jobs one after another; begin none after the time is up; exit 1 if one failed."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args, failed = _arguments(), False
    deadline = time.monotonic() + args.seconds
    for job in args.jobs:
        if time.monotonic() > deadline:
            logging.warning("time is up before %s", job)
            continue
        started = time.monotonic()
        try:
            said = _bench(job, args) if args.command == "bench" else _tune(job, args)
        except (ValueError, RuntimeError, OSError) as error:
            said, failed = f"failed: {str(error).splitlines()[0]}", True
        logging.info("%-34s %6.1f s  %s", job, time.monotonic() - started, said)
    sys.exit(failed)


def _bench(job: str, args: argparse.Namespace) -> str:
    records: list[Record] = []
    failure = run_cell(
        _recipe(job, args),
        parse_seeds(args.seeds),
        Store(args.out),
        _machine(args),
        force=args.force,
        on_record=records.append,
    )
    return failure or summary(records).text


def _tune(job: str, args: argparse.Namespace) -> str:
    recipe = _recipe(job, args)
    space = parse_space(search_space(recipe.model, args.space))
    budget = Budget(args.trials, args.tune_seeds, args.batch, args.halving, args.seconds_each)
    study_file = args.out / "studies" / f"{recipe.model}.{recipe.dataset}.log"
    found = tune(recipe, space, budget, _machine(args), study_file)
    source = provenance(found, space)
    put_tuned(args.out / f"{recipe.model}.toml", found.recipe, source)
    return source


def _recipe(job: str, args: argparse.Namespace) -> Recipe:
    """Read MODEL:DATASET[:VARIANT]."""
    match job.split(":"):
        case [model, dataset]:
            variant = "official"
        case [model, dataset, variant]:
            pass
        case _:
            raise ValueError(f"expected MODEL:DATASET or MODEL:DATASET:VARIANT, got {job!r}")
    changes = {"epochs": args.epochs} if args.epochs else {}
    return load_recipe(model, dataset, variant, recipe_in(args.recipes, model)).changed(changes)


def _machine(args: argparse.Namespace) -> Machine:
    memory = parse_bytes(args.max_memory) if args.max_memory else None
    return Machine(args.device, args.data_dir, max_memory=memory, workers=args.workers)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bagcn.study", description=__doc__)
    parser.add_argument("command", choices=["bench", "tune"])
    parser.add_argument("jobs", nargs="+", metavar="MODEL:DATASET[:VARIANT]")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--recipes", type=Path, help="folder of recipe files, not the package's")
    parser.add_argument("--epochs", type=int, help="not the recipe's, for trying out")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--workers", type=int, help="processes on a CPU")
    parser.add_argument("--max-memory", help="what the runs together may take, like 4GiB")
    parser.add_argument("--force", action="store_true", help="bench: run again what is stored")
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
