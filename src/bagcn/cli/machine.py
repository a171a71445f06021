"""The options that say where and how runs are computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from bagcn.study.runner import Machine

__all__ = ["machine_of", "machine_options"]

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--device",
        type=click.Choice(["auto", "cpu", "cuda"]),
        default="auto",
        show_default=True,
        help="auto is a GPU if there is one.",
    ),
    click.option(
        "--workers", type=click.IntRange(1), help="Processes on a CPU; default: its cores."
    ),
    click.option(
        "--max-memory", metavar="SIZE", help="What the runs together may take, e.g. 4GiB."
    ),
    click.option("--deterministic", is_flag=True, help="Ask torch for deterministic kernels."),
    click.option("--data-dir", metavar="DIR", help="Folder with the data sets; or BAGCN_DATA."),
    click.option("--offline", is_flag=True, help="Download nothing."),
)


def machine_options(command: Command) -> Command:
    """Give the command the options that :func:`machine_of` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def machine_of(options: dict[str, Any]) -> Machine:
    """Return the machine that the options describe."""
    from bagcn.study.runner import Machine
    from bagcn.study.values import parse_bytes

    return Machine(
        device=options["device"],
        data_dir=Path(options["data_dir"]) if options["data_dir"] else None,
        offline=options["offline"],
        max_memory=parse_bytes(options["max_memory"]) if options["max_memory"] else None,
        workers=options["workers"],
        deterministic=options["deterministic"],
    )
