"""The fenced blocks of a page, run one after the other as a reader would.

What is run, by the language of the block:

- ``python``: in one namespace for the page. A ``text`` block right after it is what it prints.
- ``console``: lines that start with ``$`` are commands; the other lines are what they print.
- any block with a ``title="path"`` is written to that file.
- ``sh`` is for setting up a machine; it is not run here, only looked at.

Shown output has to come, with two freedoms: ``...`` stands for anything, and numbers with a
decimal point or a percent sign may differ somewhat, as they do from machine to machine.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bagcn.cli import main

LANGUAGES = {"python", "console", "text", "toml", "sh", "json", "bibtex"}
DECIMAL = re.compile(r"[-+−]?\b\d[\d,]*(?:\.\d+ ?%?| ?%)")
FENCE = re.compile(r'^( *)```(\w+)(?: title="([^"]+)")?\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it is to be, its text, and the line it starts at."""

    language: str
    title: str | None
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    content = page.read_text("utf-8")
    found = []
    for match in FENCE.finditer(content):
        indent, language, title, text = match.groups()
        text = re.sub(f"^{indent}", "", text, flags=re.MULTILINE)
        found.append(Block(language, title, text, content[: match.start()].count("\n") + 2))
    return found


def runs(page: Path) -> bool:
    """Return whether anything on the page can be run."""
    return any(block.language in ("python", "console") for block in blocks_of(page))


def run_page(page: Path, apart: bool = False) -> None:
    """Run all blocks of a page in the working directory.

    Args:
        page: the file.
        apart: run commands in processes of their own, which see files that the page has written.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(page):
        where = f"{page.name}:{block.line}"
        if block.title is not None:
            write(Path(block.title), block.text)
        elif block.language == "python":
            printed = run_python(block, where, namespace)
        elif block.language == "console":
            for command, expected in commands_of(block):
                compare(run_command(command, where, apart), expected, f"{where}: {command}")
        elif block.language == "text" and printed:
            compare(printed, block.text, where)
            printed = ""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def run_python(block: Block, where: str, namespace: dict[str, Any]) -> str:
    with captured() as out:
        exec(compile("\n" * (block.line - 1) + block.text, where, "exec"), namespace)
    return out.getvalue()


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Yield every command of a console block with the output that is shown."""
    text = re.sub(r"\\\n\s*", "", block.text)
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_command(command: str, where: str, apart: bool) -> str:
    """Run a command and return what it prints; bagcn and Python files in this process."""
    words = shlex.split(command)
    shell = apart or any(word in "|><&" for word in words)
    if words[0] == "bagcn" and not shell:
        return in_process(lambda: main(), words, where)
    if words[0] == "python" and words[1].endswith(".py") and not shell:
        return in_process(lambda: runpy.run_path(words[1], run_name="__main__"), words[1:], where)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, f"{where}: {command}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def in_process(call: Callable[[], Any], words: list[str], where: str) -> str:
    folder = str(Path(words[0]).parent.absolute())
    with pytest.MonkeyPatch.context() as patch, captured() as out:
        patch.setattr(sys, "argv", words)
        patch.syspath_prepend(folder)
        code = code_of(call)
    assert not code, f"{where}: {' '.join(words)}\n{out.getvalue()}"
    return out.getvalue()


def code_of(call: Callable[[], Any]) -> Any:
    try:
        call()
    except SystemExit as end:
        return end.code
    return 0


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        yield out


def compare(printed: str, expected: str, where: str) -> None:
    """Fail unless the expected lines were printed, with numbers like those shown."""
    if not expected.strip():
        return
    parts = [expression(plain(part)) for part in expected.split("...")]
    found = re.search(r"[\s\S]*?".join(parts), plain(printed))
    shown = f"{where} shows\n{expected}\nbut printed\n{printed}"
    assert found, shown
    for said, got in zip(DECIMAL.findall(expected), found.groups(), strict=True):
        slack = max(0.15 if "%" not in said else 15.0, 0.3 * abs(number(said)))
        assert abs(number(said) - number(got)) <= slack, f"{said}, not {got}: {shown}"


def expression(text: str) -> str:
    """Return a pattern for the text, in which numbers with a point or a percent sign are free."""
    between = map(re.escape, DECIMAL.split(text))
    return f"({DECIMAL.pattern})".join(between)


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").rstrip(" %"))


def plain(text: str) -> str:
    """Return the text without frames and repeated blanks."""
    return " ".join(re.sub("[\u2500-\u257f]+", " ", text).split())
