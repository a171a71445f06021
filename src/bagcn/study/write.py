"""Write a tuned recipe back into a recipe file, beside what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from bagcn._folder import replaced_file
from bagcn.study.recipe import Recipe
from bagcn.training import TrainSettings

__all__ = ["put_tuned", "tuned_table"]


def tuned_table(recipe: Recipe, source: str) -> str:
    """Return the table ``[tuned.DATASET]`` that says all that the recipe does."""
    standard = TrainSettings()
    train = {
        field.name: getattr(recipe.train, field.name)
        for field in fields(TrainSettings)
        if getattr(recipe.train, field.name) != getattr(standard, field.name)
    }
    lines = [
        f"[tuned.{recipe.dataset}]",
        f"source = {_value(source)}",
        f"scaling = {_value(recipe.scaling)}",
        f"split = {_value(recipe.split)}",
        f"train = {_value(train)}",
        f"model = {_value(dict(recipe.arguments))}",
    ]
    return "\n".join(lines) + "\n"


def put_tuned(file: Path, recipe: Recipe, source: str) -> None:
    """Put the recipe's table into the file, in place of one that is there already."""
    text = file.read_text("utf-8") if file.exists() else ""
    header = re.escape(f"[tuned.{recipe.dataset}]")
    text = re.sub(rf"^{header}\n(?:(?!\[).*\n?)*", "", text, flags=re.MULTILINE).rstrip()
    with replaced_file(file) as partial:
        partial.write_text((text + "\n\n" if text else "") + tuned_table(recipe, source), "utf-8")


def _value(value: Any) -> str:
    """Return a plain value as TOML."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, float):
        return repr(float(f"{value:.4g}"))
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
