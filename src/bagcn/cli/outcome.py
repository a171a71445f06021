"""What came of several runs of one recipe, as plain data and as lines of text."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from bagcn.data import DATASETS
from bagcn.study.models import card_of
from bagcn.study.recipe import Recipe, paper_value
from bagcn.study.record import Run
from bagcn.study.store import Record

__all__ = ["heading", "line_of", "outcome", "summary_lines"]

PAPER = "the BAGCN paper, Tables 2 and 3"


def outcome(recipe: Recipe, changed: bool, records: Sequence[Record], new: Collection[str]) -> Any:
    """Return the runs and what they amount to.

    Args:
        recipe: of the runs.
        changed: whether it is no longer the one that published numbers belong to.
        records: of the runs that were finished.
        new: ids of those that were not stored before.
    """
    good = [record for record in records if record["diverged"] is None]
    paper = paper_value(recipe.model, recipe.dataset)
    return {
        "model": recipe.model,
        "dataset": recipe.dataset,
        "variant": recipe.variant,
        "recipe": recipe.hash,
        "settings": recipe.settings(),
        "changed": changed,
        "runs": [_brief(record, record["id"] not in new) for record in records],
        "test": _spread([record["test"] for record in good]),
        "val": _spread([record["val"] for record in good]),
        "paper": {"value": paper[0], "sd": paper[1], "where": PAPER} if paper else None,
        "published": dict(recipe.published) if recipe.published else None,
    }


def _brief(record: Record, kept: bool) -> dict[str, Any]:
    names = ("id", "seed", "test", "val", "best_epoch", "epochs", "diverged", "seconds", "threads")
    brief = {name: record[name] for name in names}
    return {**brief, "split": record["split"], "hardware": record["hardware"], "kept": kept}


def _spread(values: Sequence[float]) -> dict[str, Any] | None:
    """Return mean and standard deviation of fractions, in percent."""
    if not values:
        return None
    sd = 100 * statistics.stdev(values) if len(values) > 1 else None
    return {"mean": 100 * statistics.fmean(values), "sd": sd, "runs": len(values)}


def heading(recipe: Recipe, runs: Sequence[Run]) -> str:
    """Say what is trained on what."""
    info, split = DATASETS[recipe.dataset], runs[0].split
    parts = ", ".join(
        f"{len(getattr(split, part)):,} {name}"
        for part, name in (("train", "training"), ("val", "validation"), ("test", "test"))
    )
    drawn = f"{split.name} {split.hash}" if _one_split(runs) else f"{split.name}, one a seed"
    return (
        f"{card_of(recipe.model).title} on {info.title}: {info.nodes:,} nodes, "
        f"{info.edges:,} edges; split {drawn} with {parts} nodes"
    )


def _one_split(runs: Sequence[Run]) -> bool:
    return len({run.split.hash for run in runs}) == 1


def line_of(record: Record, kept: bool, runs: Sequence[Run]) -> str:
    """Say what came of one run."""
    start = f"  seed {record['seed']:<4}"
    if record["diverged"] is not None:
        return f"{start} the loss became NaN or infinite in epoch {record['diverged'] + 1}"
    words = [
        f"{start} test {100 * record['test']:5.2f} %",
        f"validation {100 * record['val']:5.2f} %",
        f"epoch {record['best_epoch'] + 1:>4}",
        f"{record['seconds']:6.1f} s",
    ]
    if not _one_split(runs):
        words.append(f"split {record['split']['hash']}")
    return "   ".join([*words, *(["kept from an earlier run"] if kept else [])])


def summary_lines(found: dict[str, Any]) -> Iterator[str]:
    """Say what the runs amount to, beside the published numbers."""
    test, val = found["test"], found["val"]
    if test is None:
        yield "no run was finished"
        return
    count = f"{test['runs']} seed" + ("s" if test["runs"] > 1 else "")
    yield f"{'test':<11}{_percent(test)}   {count}, each at its best validation epoch"
    yield f"{'validation':<11}{_percent(val)}"
    for name in ("paper", "published"):
        if (known := found[name]) is None:
            continue
        theirs = {"mean": float(known["value"]), "sd": known.get("sd")}
        difference = test["mean"] - theirs["mean"]
        yield (
            f"{name:<11}{_percent(theirs)}   {known['where']}; here {difference:+.2f}"
            + (", with other settings" if found["changed"] else "")
        )


def _percent(spread: dict[str, Any]) -> str:
    sd = f" ± {spread['sd']:.2f}" if spread["sd"] is not None else ""
    return f"{spread['mean']:5.2f}{sd:<7} %"
