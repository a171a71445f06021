"""The browser, and a page of the library that it opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from bagcn.explain.page import render_page
from browser import browser
from explain.library import named

__all__ = ["browser"]


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that starts at ``book-000``."""
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(render_page(named(), 0, top=6, title="A <library> & its books"), "utf-8")
    return path
