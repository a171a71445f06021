"""The command line: parse, call, print.

Every command is a module of this package and is imported only when it is called, so that
``bagcn --help`` answers at once.
"""

from __future__ import annotations

import importlib
import os
import sys

try:
    import click
except ModuleNotFoundError:  # pragma: no cover - depends on how it was installed
    sys.exit("the bagcn command needs its extra packages: pip install 'bagcn[cli]'")

from bagcn import __version__

__all__ = ["cli", "main"]

COMMANDS = {
    "train": "Train on a benchmark data set or on your own tables.",
    "predict": "Predict the classes of nodes with a trained model.",
    "explain": "Show which distant nodes a prediction rests on.",
    "evaluate": "Measure a trained model against simple baselines.",
    "data": "List, inspect and get the benchmark data sets.",
    "models": "List the models, their papers and how they were checked.",
    "bench": "Run models on data sets with many seeds; make the table.",
    "tune": "Search settings on validation accuracy; write a recipe.",
    "reproduce": "Run a study of the paper and compare, number by number.",
    "report": "Render the run store as HTML, Markdown and LaTeX.",
}


class _Lazy(click.Group):
    """A group whose commands live in modules of their own: ``NAME`` in ``bagcn.cli.NAME``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"bagcn.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from bagcn.data._names import unknown

            ctx.fail(str(unknown("command", args[0], COMMANDS)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bagcn")
@click.option("--debug", is_flag=True, help="Show the traceback of an error; at any place.")
def cli(debug: bool) -> None:
    """Classify the nodes of a graph when only a few labels are known.

    \b
    Examples:
      bagcn train cora --seeds 5
      bagcn train --nodes nodes.csv --edges edges.csv --label topic --out model/
      bagcn explain model/ --node 42

    \b
    Completion with the tab key, one line in your shell's start-up file:
      bash: eval "$(_BAGCN_COMPLETE=bash_source bagcn)"
      zsh:  eval "$(_BAGCN_COMPLETE=zsh_source bagcn)"
      fish: _BAGCN_COMPLETE=fish_source bagcn | source
    """


def main() -> None:
    """Run the command line; an expected error is one line on stderr and exit code 2."""
    arguments, debug = _without_debug(sys.argv[1:])
    # Outside of the except clauses: there, exiting would keep all that the error's frames hold,
    # such as processes that train, until the interpreter is torn down around it.
    if code := _called(arguments, debug):
        sys.exit(code)


def _called(arguments: list[str], debug: bool) -> int:
    """Run a command and return the exit code."""
    try:
        cli(arguments, prog_name="bagcn", standalone_mode=False)
    except click.ClickException as error:
        return _refused(error)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, MemoryError) as error:
        if debug:
            raise
        click.echo(f"error: {_one_line(_words_of(error) or type(error).__name__)}", err=True)
        return 2
    return 0


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """Take ``--debug`` out wherever it stands, up to ``--``."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [argument for argument in arguments[:end] if argument != "--debug"]
    return kept + arguments[end:], len(kept) < end


def _refused(error: click.ClickException) -> int:
    """Say in one line what is wrong with the command line; of a bare group, show its help."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        see = f" (see {context.command_path} --help)" if context else ""
        click.echo(f"error: {_one_line(error.format_message()).rstrip('.')}{see}", err=True)
    return error.exit_code


def _words_of(error: Exception) -> str:
    """Return an error's text; the system's about a file in plain words."""
    name = getattr(error, "filename2", None) or getattr(error, "filename", None)
    if not isinstance(error, OSError) or not error.strerror or name is None:
        return str(error)
    return f"cannot use {name} ({error.strerror}): name another file or folder"


def _one_line(text: str) -> str:
    return " ".join(text.split())
