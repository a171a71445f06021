"""Every model that can be named: the paper's and those it is compared with."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from torch import nn

from bagcn.baselines import MODELS as BASELINES
from bagcn.baselines import Card
from bagcn.data._names import unknown
from bagcn.nn import BAGCN

__all__ = ["MODELS", "argument_names", "build_model", "card_of"]

_TITLE = (
    "Zhang, Huang, Li, Zhang: Building Shortcuts between Distant Nodes with Biaffine Mapping for "
    "Graph Convolutional Networks"
)
_CHECKED = "outputs and gradients of every switch against a dense float64 formula"


def _bagcn(name: str, title: str, **arguments: Any) -> Card:
    return Card(
        name=name,
        model=BAGCN,
        title=title,
        paper=_TITLE,
        url="https://arxiv.org/abs/2302.08727",
        written="here, from the paper's equations; attention exact and linear in memory",
        checked=_CHECKED,
        arguments=tuple(arguments.items()),
    )


OURS = (
    _bagcn("bagcn-add", "BAGCN-add", fusion="add"),
    _bagcn("bagcn-mul", "BAGCN-mul", fusion="mul"),
    _bagcn("bagcn-plus", "BAGCN+", inference="mean"),
)

MODELS: dict[str, Card] = {card.name: card for card in OURS} | BASELINES
"""Every model by its name."""


def card_of(name: str) -> Card:
    """Return the model's card, or raise an error that tells the nearest name."""
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name]


def argument_names(name: str) -> tuple[str, ...]:
    """Return the names of the model's own arguments."""
    parameters = inspect.signature(card_of(name).model).parameters
    return tuple(n for n in parameters if n not in ("in_channels", "out_channels"))


def build_model(
    name: str, arguments: Mapping[str, Any], in_channels: int, out_channels: int
) -> nn.Module:
    """Build the named model; a function of plain values, so that it travels to other processes."""
    card = card_of(name)
    return card.model(
        in_channels=in_channels, out_channels=out_channels, **{**dict(card.arguments), **arguments}
    )
