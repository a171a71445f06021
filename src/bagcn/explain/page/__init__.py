"""One self-contained interactive page: a node, its neighbours and its shortcuts."""

from __future__ import annotations

import html
import re
from importlib.resources import files

from bagcn.explain.named import Named
from bagcn.explain.opened import Weights
from bagcn.explain.page.data import page_data

__all__ = ["render_page"]

SCRIPTS = ("shared.js", "figure.js", "panel.js", "page.js")


def render_page(
    named: Named,
    start: int,
    top: int = 10,
    title: str = "Predictions",
    weights: Weights = "prediction",
) -> str:
    """Return the page as HTML that needs no network and no other file.

    Args:
        named: the model, the graph and their names.
        start: the node that is shown first.
        top: how many shortcuts of each node.
        title: shown above, and by the browser.
        weights: which weights pick them; see :func:`bagcn.explain.shortcuts`.
    """
    folder = files(__name__)
    parts = {
        "title": html.escape(title),
        "style": (folder / "page.css").read_text("utf-8"),
        "script": "".join((folder / name).read_text("utf-8") for name in SCRIPTS),
        "data": page_data(named, start, top, weights),
    }
    template = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
