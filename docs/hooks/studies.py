"""The pages that studies leave in results/ become pages of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

RESULTS = Path(__file__).parents[2] / "results"


def on_config(config: Any) -> Any:
    """Put a section before the reference, with the studies that have a page."""
    section = {"Studies": [f"studies/{page.name}" for page in _pages()]}
    config.nav.insert(len(config.nav) - 1, section)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add every page, and the pictures beside it."""
    for page in _pages():
        for file in (page, *page.parent.glob("*.png")):
            files.append(File.generated(config, f"studies/{file.name}", abs_src_path=str(file)))
    return files


def _pages() -> list[Path]:
    return sorted(page for page in RESULTS.glob("*/*.md") if page.stem == page.parent.name)
