"""``bagcn models``: what can be trained, after whom, from what, and how it was checked."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bagcn.baselines import Card

__all__ = ["models"]


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def models(name: str | None, as_json: bool) -> None:
    """List the models, or tell all about the one with this NAME.

    \b
    Examples:
      bagcn models
      bagcn models appnp
      bagcn models --json
    """
    from bagcn.study.models import MODELS, card_of

    cards = list(MODELS.values()) if name is None else [card_of(name)]
    if as_json:
        found = [_described(card) for card in cards]
        click.echo(json.dumps(found if name is None else found[0], indent=1, ensure_ascii=False))
    elif name is None:
        _show_list(cards)
    else:
        _show_one(cards[0])


def _described(card: Card) -> dict[str, Any]:
    """Return what is known of a model as plain data."""
    from bagcn.data import DATASETS
    from bagcn.study.models import argument_names
    from bagcn.study.recipe import paper_value, recipe_file

    values = {dataset: paper_value(card.name, dataset) for dataset in DATASETS}
    return {
        "name": card.name,
        "title": card.title,
        "paper": card.paper,
        "url": card.url,
        "source": card.written,
        "checked": card.checked,
        "class": f"{card.model.__module__}.{card.model.__qualname__}",
        "fixed": dict(card.arguments),
        "settings": list(argument_names(card.name)),
        "recipe": recipe_file(card.name).is_file(),
        "bagcn_paper": {dataset: list(value) for dataset, value in values.items() if value},
    }


def _show_list(cards: list[Card]) -> None:
    for card in cards:
        click.echo(f"{card.name}: {card.title}")
        _show_lines({"paper": card.paper, "source": card.written, "checked": card.checked})
    click.echo(f"{len(cards)} models; the settings of one: bagcn models NAME")


def _show_one(card: Card) -> None:
    found = _described(card)
    fixed = ", ".join(f"{key}={value}" for key, value in found["fixed"].items())
    numbers = [f"{name} {mean:g} ± {sd:g}" for name, (mean, sd) in found["bagcn_paper"].items()]
    click.echo(f"{card.name}: {card.title}")
    _show_lines(
        {
            "paper": f"{card.paper} {card.url}",
            "source": card.written,
            "checked": card.checked,
            "class": found["class"] + (f" with {fixed}" if fixed else ""),
            "settings": ", ".join(found["settings"]),
            "recipe": f"bagcn train cora --model {card.name}" if found["recipe"] else "none",
            "numbers": f"in the BAGCN paper: {', '.join(numbers) or 'none'}",
        }
    )


def _show_lines(lines: dict[str, str]) -> None:
    for key, text in lines.items():
        start = f"  {key:<9} "
        click.echo(
            textwrap.fill(
                text,
                96,
                initial_indent=start,
                subsequent_indent=" " * len(start),
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
