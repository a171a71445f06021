"""Help texts mark paragraphs that keep their lines with a backspace; the site wants code blocks."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import click

from bagcn.cli import cli


def on_config(config: Any) -> Any:
    """Rewrite the help of every command before the site is built."""
    _rewrite(cli)
    return config


def _rewrite(command: click.Command) -> None:
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(map(_markdown, paragraphs))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None:
                _rewrite(found)


def _markdown(paragraph: str) -> str:
    if not paragraph.startswith("\b"):
        return paragraph
    title, *lines = paragraph.removeprefix("\b").strip().splitlines()
    return f"{title}\n\n```sh\n{textwrap.dedent(chr(10).join(lines))}\n```"
