"""One self-contained interactive page: a node, its neighbours and its shortcuts."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from typing import Any

from bagcn.explain.named import Named
from bagcn.explain.opened import Weights
from bagcn.explain.pagedata import page_data

__all__ = ["render_page"]


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
        "script": (folder / "page.js").read_text("utf-8"),
        "data": embedded(page_data(named, start, top, weights)),
    }
    template = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def embedded(value: Any) -> str:
    """Return JSON that can stand inside a script element, whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", text)
