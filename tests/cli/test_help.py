from __future__ import annotations

import importlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import click
import pytest

from bagcn import __version__
from bagcn.cli import COMMANDS, cli
from cli.conftest import Bagcn

HEAVY = "torch torch_geometric numpy scipy sklearn pandas pyarrow matplotlib plotly rich optuna"


def commands() -> Iterator[tuple[str, click.Command]]:
    """All commands that there are, groups' own ones included."""
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {own}", found) for own, found in command.commands.items())


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_is_instant(argument: str) -> None:
    """Nothing heavy is imported, and the best of three is under half a second."""
    code = (
        f"import sys; sys.argv = ['bagcn', {argument!r}]\n"
        "from bagcn.cli import main\n"
        f"main(); print([m for m in {HEAVY.split()} if m in sys.modules], file=sys.stderr)"
    )
    times = []
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        times.append(time.perf_counter() - began)
        assert (done.returncode, done.stderr) == (0, "[]\n")
    assert min(times) < 0.5


def test_no_command_imports_anything_heavy_before_it_is_called() -> None:
    code = (
        "import sys, importlib\n"
        f"for name in {list(COMMANDS)}: importlib.import_module(f'bagcn.cli.{{name}}')\n"
        f"print([m for m in {HEAVY.split()} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_version(bagcn: Bagcn) -> None:
    assert bagcn("--version").out == f"bagcn, version {__version__}\n"


def test_every_command_is_there_with_help_and_an_example() -> None:
    for name, command in commands():
        text = command.get_help(click.Context(command, info_name=name))
        assert "Example" in text, name
        assert f"bagcn {name}" in text or isinstance(command, click.Group), name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{name} {parameter.name}"


def test_the_list_of_commands_says_what_they_say_themselves() -> None:
    assert set(COMMANDS) == set(cli.list_commands(click.Context(cli)))
    for name in COMMANDS:
        assert hasattr(importlib.import_module(f"bagcn.cli.{name}"), name)


def test_the_options_of_train_s_two_uses_stand_apart(bagcn: Bagcn) -> None:
    parts = re.split("\n(?=Options.*:\n)", bagcn("train", "--help").out)[1:]
    expected = {"--seeds": 0, "--help": 0, "--resume": 1, "--offline": 1, "--label": 2, "--tune": 2}
    for option, place in expected.items():
        line = re.compile(rf"^  (-\w, )?{option}\b", re.MULTILINE)
        assert [i for i, part in enumerate(parts) if line.search(part)] == [place], option


def test_help_documents_shell_completion(bagcn: Bagcn) -> None:
    out = bagcn("--help").out
    for shell in ("bash", "zsh", "fish"):
        assert f"_BAGCN_COMPLETE={shell}_source bagcn" in out


def test_completion(bagcn: Bagcn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_BAGCN_COMPLETE", "bash_complete")
    for words, expected in (("bagcn tra", "plain,train"), ("bagcn train --mod", "plain,--model")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert bagcn().out.splitlines() == [expected]


def test_no_command_is_help(bagcn: Bagcn) -> None:
    for arguments in ((), ("data",)):
        answer = bagcn(*arguments)
        assert answer.code == 2
        assert "Examples:" in answer.err
