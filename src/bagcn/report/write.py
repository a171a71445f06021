"""From the run store to a folder: the page, and the tables as Markdown and LaTeX."""

from __future__ import annotations

from pathlib import Path

from bagcn._folder import replaced_file
from bagcn.report.content import report_content
from bagcn.report.page import render_page
from bagcn.report.texts import latex, whole_markdown
from bagcn.reproduce import Page

__all__ = ["write_report"]


def write_report(store: Path, out: Path) -> list[Path]:
    """Write ``index.html``, ``report.md``, ``tables/*.tex`` and the figures; return the files.

    Args:
        store: the folder of all run stores.
        out: the folder; files that are there are replaced, each whole or not at all.
    """
    content, pages = report_content(store)
    files = [_figures(page, out) for page in pages]
    texts = {
        "index.html": render_page(content),
        "report.md": whole_markdown(content["title"], pages),
        **{f"tables/{page.name}.tex": latex(page) for page in pages},
    }
    for name, text in texts.items():
        with replaced_file(out / name) as partial:
            partial.write_text(text, "utf-8")
    return [*(out / name for name in texts), *(file for own in files for file in own)]


def _figures(page: Page, out: Path) -> list[Path]:
    files = []
    for name, draw_into in page.figures.items():
        files.append(out / f"{name}.png")
        with replaced_file(files[-1]) as partial:
            draw_into(partial)
    return files
