"""What stands behind a number: recipe, command and runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from bagcn.data import DATASETS
from bagcn.reproduce.drawn import Value
from bagcn.study.models import card_of
from bagcn.study.recipe import Recipe, load_recipe
from bagcn.study.store import Record
from bagcn.study.together import value_of

__all__ = ["Numbers", "command"]


class Numbers:
    """All numbers of a report, each once, however many studies show it."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, ...], int] = {}
        self._numbers: list[dict[str, Any]] = []
        self._texts: dict[str, int] = {}

    def add(self, value: Value, study: str) -> int:
        """Return the place of the number among all."""
        key = (*value.cell.keys, value.cell.variant)
        if key not in self._places:
            self._places[key] = len(self._numbers)
            self._numbers.append(self._number(value, study))
        return self._places[key]

    def plain(self) -> dict[str, Any]:
        """Return the numbers, and the texts that their runs refer to by place."""
        return {"numbers": self._numbers, "words": list(self._texts)}

    def _number(self, value: Value, study: str) -> dict[str, Any]:
        cell = value.cell
        recipe, attack = cell.recipes[0], cell.column.attack
        alone = len(cell.recipes) == 1 and not attack
        return {
            "model": card_of(recipe.model).title,
            "title": DATASETS[recipe.dataset].title,
            "variant": recipe.variant,
            "recipes": [each.hash for each in cell.recipes],
            "recipe": f"recipes/{recipe.model}.toml, {recipe.variant}",
            "source": recipe.source,
            "attack": attack,
            "command": command(recipe, value.wanted) if alone else f"bagcn reproduce {study}",
            "settings": _settings(recipe),
            "runs": [self._run(run) for run in value.runs],
        }

    def _run(self, run: Record) -> list[Any]:
        """Return id, seed, test, validation, epoch, seconds, hardware, versions and date."""
        versions = run.get("versions", {})
        said = ", ".join(f"{name} {version}" for name, version in versions.items())
        lost = run["diverged"] is not None
        return [
            run["id"],
            run["seed"],
            None if lost else run["test"],
            None if lost else run["val"],
            run.get("best_epoch"),
            round(run["seconds"], 2),
            self._word(run["hardware"]["name"]),
            self._word(said),
            run.get("date", "")[:10],
        ]

    def _word(self, text: str) -> int:
        return self._texts.setdefault(text, len(self._texts))


def _settings(recipe: Recipe) -> dict[str, str]:
    settings = recipe.settings()
    named = {key: settings[key] for key in ("split", "scaling", "graph") if settings.get(key)}
    every = {**named, **settings["train"], **settings["arguments"]}
    return {key: _plain(value) for key, value in every.items()}


def _plain(value: Any) -> str:
    """Return a value as it is written on the command line."""
    return value if isinstance(value, str) else json.dumps(value)


def command(recipe: Recipe, seeds: int) -> str:
    """Return the command that makes these runs."""
    plain = load_recipe(recipe.model, recipe.dataset, recipe.variant)
    words = ["bagcn", "train", recipe.dataset, "--model", recipe.model, "--seeds", str(seeds)]
    if recipe.variant != "official":
        words += ["--variant", recipe.variant]
    for key, value in _changes(plain, recipe).items():
        text = _plain(value)
        words += ["--split", text] if key == "split" else ["--set", f"{key}={text}"]
    return shlex.join(words)


def _changes(plain: Recipe, recipe: Recipe) -> Mapping[str, Any]:
    """Return the settings in which a recipe differs from that of its file."""
    keys: Sequence[str] = (
        *("split", "scaling", "graph"),
        *recipe.settings()["train"],
        *recipe.arguments,
    )
    found = {
        key: value_of(recipe, key) for key in keys if value_of(plain, key) != value_of(recipe, key)
    }
    if "graph" in found and recipe.split == "prognn":
        found.pop("split", None)  # comes with the graph
    return found
