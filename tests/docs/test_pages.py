"""Everything that the README and the documentation show is run."""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from snippets import LANGUAGES, blocks_of, run_page, runs

REPOSITORY = Path(__file__).parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
BUILDS_ON_THE_TREE = "add-a-model.md"


def name_of(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.mark.parametrize("page", list(filter(runs, PAGES)), ids=name_of)
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder with what the checkout has, every block does what the page says."""
    apart = page.name == BUILDS_ON_THE_TREE
    copy_tree(tmp_path, [*(["src", "tests"] if apart else []), "examples", "benchmarks"])
    if apart:
        monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)  # no processes
    monkeypatch.chdir(tmp_path)
    run_page(page, apart)


def copy_tree(target: Path, folders: list[str]) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in folders:
        shutil.copytree(REPOSITORY / folder, target / folder, ignore=ignored)
    shutil.copy(REPOSITORY / "pyproject.toml", target)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_their_language(page: Path) -> None:
    """A block of another kind would silently not be run."""
    fences = re.findall(r"^ *```(.*)$", page.read_text("utf-8"), re.MULTILINE)
    assert len(fences) == 2 * len(blocks_of(page))
    assert {block.language for block in blocks_of(page)} <= LANGUAGES


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links and pictures are files of the repository."""
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if not re.match(r"https?:|mailto:", target):
            assert (page.parent / target).exists(), f"{name_of(page)}: {target}"


def test_set_up_commands_exist() -> None:
    """What ``sh`` blocks tell to make and to install is there."""
    targets = set(re.findall(r"^(\w+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.M))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    pages = [*PAGES, REPOSITORY / "CONTRIBUTING.md"]
    text = "\n".join(b.text for page in pages for b in blocks_of(page) if b.language == "sh")
    named = set(re.findall(r"^make (\w+)", text, re.M))
    assert {"run", "test"} <= named <= targets
    extras = {e for found in re.findall(r"\.\[([\w,]+)\]", text) for e in found.split(",")}
    assert extras
    assert extras <= set(project["optional-dependencies"])


def test_every_page_is_in_the_navigation() -> None:
    """And nothing in the navigation is missing: mkdocs says that itself."""
    navigation = (REPOSITORY / "mkdocs.yml").read_text("utf-8")
    for page in (REPOSITORY / "docs").rglob("*.md"):
        assert str(page.relative_to(REPOSITORY / "docs")) in navigation


def test_every_example_is_shown() -> None:
    """An example that no page runs would be one that nobody runs."""
    commands = "".join(b.text for page in PAGES for b in blocks_of(page) if b.language == "console")
    for example in (REPOSITORY / "examples").glob("*.py"):
        assert f"$ python examples/{example.name}" in commands
