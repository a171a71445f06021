"""Tables in Markdown are what the project's own commands print, never typed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from snippets import run_command

REPOSITORY = Path(__file__).parents[2]
SCRIPT = REPOSITORY / "scripts" / "render_tables.py"


def test_tables_are_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPT.parent)
    import render_tables

    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(
        render_tables, "printed", lambda command: run_command(command, "tables", False).strip()
    )
    for page in render_tables.pages():
        text = page.read_text("utf-8")
        assert render_tables.rendered(text) == text, f"{page.name} is not up to date: make tables"


def test_readme_shows_stored_runs() -> None:
    """Its results come from the run store, by the command that anybody can give."""
    part = re.search(
        r"<!-- made by: bagcn bench .*--table-only --format md -->\n(.*?)<!-- end -->",
        (REPOSITORY / "README.md").read_text("utf-8"),
        re.DOTALL,
    )
    assert part is not None
    assert re.search(r"^\| BAGCN-add \| \**\d\d\.\d\d ± \d", part[1], re.MULTILINE)


def test_a_stale_table_is_found(tmp_path: Path) -> None:
    """A page whose table says something else is named, and made anew."""
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / SCRIPT.name).write_text(SCRIPT.read_text("utf-8"), "utf-8")
    page = tmp_path / "README.md"
    page.write_text("<!-- made by: python -c 'print(6 * 7)' -->\n41\n<!-- end -->\n", "utf-8")
    command = [sys.executable, scripts / SCRIPT.name]
    refused = subprocess.run([*command, "--check"], capture_output=True, text=True)
    assert refused.returncode == 1
    assert refused.stderr == "not up to date: README.md; run make tables\n"
    subprocess.run(command, check=True, capture_output=True)
    assert "\n42\n" in page.read_text("utf-8")
    assert subprocess.run([*command, "--check"], capture_output=True).returncode == 0
