"""Write a tuned recipe back into a recipe file, beside what is there."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bagcn._folder import replaced_file
from bagcn.study.recipe import Recipe, load_recipe
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
    """Put the recipe's table into the file, in place of one that is there already.

    All else in the file stays as it is, comments too. A file that would then not say what the
    recipe does is refused, and left as it is.
    """
    text = file.read_text("utf-8").rstrip() + "\n" if file.exists() else ""
    table = tuned_table(recipe, source)
    text, found = re.subn(_table_of(recipe.dataset), lambda _: table, text, flags=re.MULTILINE)
    if not found:
        text = (text + "\n" if text.strip() else "") + table
    with replaced_file(file) as partial:
        partial.write_text(text, "utf-8")
        if not _says(partial, recipe):
            raise ValueError(
                f"{file} would not be read as it is meant with a table [tuned.{recipe.dataset}]: "
                "move the file away, and the same command writes a new one"
            )


def _table_of(dataset: str) -> str:
    """Return a pattern of the table, without the comments before the next one."""
    header, line = rf"^\[[ \t]*tuned[ \t]*\.[ \t]*{re.escape(dataset)}[ \t]*\]", r".*\n"
    return rf"{header}{line}(?:(?!\[){line})*?(?=(?:[ \t]*(?:#{line}|\n))*(?:\[|\Z))"


def _says(file: Path, recipe: Recipe) -> bool:
    try:
        found = load_recipe(recipe.model, recipe.dataset, "tuned", file)
    except ValueError:
        return False
    return found.settings() == replace(recipe, graph="").settings()


def _value(value: Any) -> str:
    """Return a plain value as TOML."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)
