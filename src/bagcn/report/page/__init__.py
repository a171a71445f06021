"""One self-contained page: tables that sort and filter, plots, and what stands behind a number."""

from __future__ import annotations

import html
import json
import re
from importlib.resources import files
from typing import Any

__all__ = ["render_page"]

SCRIPTS = ("shared.js", "table.js", "plot.js", "drawer.js", "page.js")


def render_page(content: dict[str, Any]) -> str:
    """Return the page as HTML that needs no network and no other file.

    Args:
        content: from :func:`bagcn.report.content.report_content`.
    """
    folder = files(__name__)
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    parts = {
        "title": html.escape(content["title"]),
        "style": (folder / "page.css").read_text("utf-8"),
        "script": "".join((folder / name).read_text("utf-8") for name in SCRIPTS),
        "data": text.replace("<", "\\u003c"),  # no text can end the script element
    }
    template = (folder / "page.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
