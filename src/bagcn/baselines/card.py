"""What has to be said of a model besides its code."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

__all__ = ["Card"]


@dataclass(frozen=True)
class Card:
    """A model under the name that recipes and the command line know it by.

    Args:
        name: as in ``bagcn train --model NAME`` and ``recipes/NAME.toml``.
        model: the class; ``model(in_channels, hidden_channels, out_channels, ...)``.
        title: as tables print it.
        paper: authors, title, venue and year.
        url: where the paper stands.
        written: what it is made of, and where it departs from the authors' code and why.
        checked: how it was shown to be right.
        arguments: what sets this entry apart from others of the same class.
        vectorised: whether members of a population can be computed together; if not, they run one
            by one through the same call.
    """

    name: str
    model: type[nn.Module]
    title: str
    paper: str
    url: str
    written: str
    checked: str
    arguments: tuple[tuple[str, str | float | bool], ...] = ()
    vectorised: bool = True
