"""Recipes: settings as data, each with its source and the published value.

A recipe file is ``recipes/MODEL.toml``. Its tables ``official`` and ``tuned`` hold the settings of
that variant for every data set; a table ``official.cora`` differs from them where it says so.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from bagcn.data import DATASETS, SCALINGS
from bagcn.data._names import unknown
from bagcn.robustness.perturb import Perturbation
from bagcn.study.models import argument_names, build_model, card_of
from bagcn.training import TrainSettings
from bagcn.training.stack import Build

__all__ = [
    "VARIANTS",
    "NoRecipeError",
    "Recipe",
    "load_recipe",
    "paper_value",
    "recipe_file",
    "search_space",
    "typed",
]

VARIANTS = ("official", "tuned")
_KEYS = ("source", "scaling", "split", "train", "model", "published", "note")
_TOP = ("paper", "space", *VARIANTS)


class NoRecipeError(ValueError):
    """There are no settings of this model for this data set."""


@dataclass(frozen=True)
class Recipe:
    """All that decides a run, apart from its seed.

    Args:
        model: the model's name.
        dataset: the data set's name.
        variant: ``"official"`` or ``"tuned"``.
        split: as :func:`bagcn.data.make_split` reads it.
        scaling: of the features, as :func:`bagcn.data.scale_features` reads it.
        train: the settings of training.
        arguments: the model's own arguments.
        source: where the settings come from.
        published: the model's published accuracy (``value``, ``sd``, ``where``), if there is one.
        note: what a reader should know.
        graph: what is done to the graph before training, as
            :class:`bagcn.robustness.perturb.Perturbation` reads it; nothing if empty.
    """

    model: str
    dataset: str
    variant: str
    split: str
    scaling: str
    train: TrainSettings = field(default_factory=TrainSettings)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    published: Mapping[str, Any] | None = None
    note: str = ""
    graph: str = ""

    def settings(self) -> dict[str, Any]:
        """Return what decides the result, as plain data."""
        return {
            "model": self.model,
            "dataset": self.dataset,
            "split": self.split,
            "scaling": self.scaling,
            "train": {name: getattr(self.train, name) for name in TrainSettings.names()},
            "arguments": dict(self.arguments),
            **({"graph": self.graph} if self.graph else {}),
        }

    @property
    def hash(self) -> str:
        """Return ten hex digits that change with any setting."""
        text = json.dumps(self.settings(), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:10]

    @property
    def build(self) -> Build:
        """Return the function that makes the model for given numbers of features and classes."""
        return partial(build_model, self.model, dict(self.arguments))

    def checked(self, changes: Mapping[str, Any]) -> Recipe:
        """Return the recipe if its model can be built, else tell which changes it got."""
        try:
            self.build(4, 3)
        except (TypeError, ValueError, RuntimeError, ArithmeticError) as error:
            settings = ", ".join(f"{name}={value}" for name, value in changes.items())
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"cannot build {self.model} with {settings or 'its recipe'}: {reason}"
            ) from error
        return self

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """Return the recipe with some settings changed, named as on the command line."""
        recipe = self
        for key, value in changes.items():
            recipe = recipe._changed(key, value)
        return recipe

    def _changed(self, key: str, value: Any) -> Recipe:
        if key in TrainSettings.names():
            kind = type(getattr(TrainSettings(), key)).__name__
            return replace(self, train=replace(self.train, **{key: typed(kind, key, value)}))
        if key == "split":
            return replace(self, split=str(value))
        if key == "graph":
            return self._on(str(value))
        if key == "scaling":
            return replace(self, scaling=_scaling(value))
        known = argument_names(self.model)
        if key not in known:
            raise unknown(
                "setting", key, (*TrainSettings.names(), "split", "scaling", "graph", *known)
            )
        kind = inspect.signature(card_of(self.model).model).parameters[key].annotation
        return replace(self, arguments={**self.arguments, key: typed(kind, key, value)})

    def _on(self, graph: str) -> Recipe:
        """Return the recipe on a perturbed graph; an attacked one comes with its own split."""
        if not graph:
            return replace(self, graph="")
        perturbation = Perturbation.parse(graph)
        return replace(self, graph=str(perturbation), split=perturbation.split or self.split)


def _scaling(name: Any) -> str:
    if name not in SCALINGS:
        raise unknown("feature scaling", str(name), SCALINGS)
    return str(name)


def typed(kind: str, key: str, value: Any) -> Any:
    """Return the value of a setting whose type has this name; other types are let through."""
    if kind == "bool" and not isinstance(value, bool):
        raise ValueError(f"{key} must be true or false; got {value}")
    if kind not in ("int", "float"):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or (kind == "int" and int(value) != value):
        raise ValueError(
            f"{key} must be {'a whole ' if kind == 'int' else 'a '}number; got {value}"
        )
    return int(value) if kind == "int" else value


def recipe_file(model: str) -> Path:
    """Return where the model's recipes stand in this package."""
    return Path(str(files("bagcn") / "recipes" / f"{model}.toml"))


def load_recipe(
    model: str, dataset: str, variant: str = "official", path: Path | None = None
) -> Recipe:
    """Load the recipe of a model for a data set.

    Args:
        model: the model's name.
        dataset: the data set's name.
        variant: ``"official"``, ``"tuned"``, or ``"best"``: tuned where there is such a recipe,
            else official.
        path: a recipe file of your own, instead of the package's.
    """
    if dataset not in DATASETS:
        raise unknown("data set", dataset, DATASETS)
    if variant not in (*VARIANTS, "best"):
        raise unknown("variant", variant, (*VARIANTS, "best"))
    path = path or recipe_file(card_of(model).name)
    if variant == "best":
        variant = "tuned" if dataset in _read(path).get("tuned", {}) else "official"
    table = _read(path).get(variant)
    if table is None or (variant == "tuned" and dataset not in table):
        raise NoRecipeError(f"{path.name} has no {variant} settings of {model} for {dataset}")
    merged = _merged(table, table.get(dataset, {}))
    info = DATASETS[dataset]
    recipe = Recipe(
        model=model,
        dataset=dataset,
        variant=variant,
        split=merged.get("split", info.default_split),
        scaling=_scaling(merged.get("scaling", info.scaling)),
        source=merged.get("source", ""),
        published=merged.get("published"),
        note=merged.get("note", ""),
    )
    return recipe.changed(_flat(path, merged))


def _flat(path: Path, merged: Mapping[str, Any]) -> dict[str, Any]:
    for key in merged.get("train", {}):
        if key not in TrainSettings.names():
            raise ValueError(f"{path.name}: {unknown('key of train', key, TrainSettings.names())}")
    return {**merged.get("train", {}), **merged.get("model", {})}


def _merged(common: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variant's settings with those of the data set over them."""
    merged = {key: value for key, value in common.items() if key not in DATASETS}
    for key, value in own.items():
        both = key in ("train", "model") and key in merged
        merged[key] = {**merged[key], **value} if both else value
    return merged


def _read(path: Path) -> dict[str, Any]:
    try:
        content = _parsed(path.read_text("utf-8"))
    except FileNotFoundError:
        raise NoRecipeError(f"there is no recipe file {path}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from error
    _only(path, content, _TOP, "table")
    for variant in VARIANTS:
        table = content.get(variant, {})
        _only(path, table, (*_KEYS, *DATASETS), f"key of {variant}")
        for dataset in DATASETS.keys() & table.keys():
            _only(path, table[dataset], _KEYS, f"key of {variant}.{dataset}")
    return content


@lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    """Return what a file says; studies ask the same files hundreds of times."""
    return tomllib.loads(text)


def _only(path: Path, table: Mapping[str, Any], known: tuple[str, ...], kind: str) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"{path.name}: {unknown(kind, key, known)}")


def paper_value(model: str, dataset: str) -> tuple[float, float] | None:
    """Return mean and sd (%) that the paper's tables print for the model, if they do."""
    path = recipe_file(card_of(model).name)
    value = _read(path).get("paper", {}).get(dataset) if path.exists() else None
    return (float(value[0]), float(value[1])) if value else None


def search_space(model: str, path: Path | None = None) -> dict[str, Any]:
    """Return what tuning searches: by setting, a range or a list of choices."""
    space: dict[str, Any] = _read(path or recipe_file(card_of(model).name)).get("space", {})
    return space
