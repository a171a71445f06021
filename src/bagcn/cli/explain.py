"""``bagcn explain``: which distant nodes a prediction rests on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

if TYPE_CHECKING:
    from rich.status import Status
    from rich.table import Table

    from bagcn.explain.named import Named
    from bagcn.explain.opened import Weights

__all__ = ["explain"]


@click.command()
@click.argument("model", type=click.Path())
@click.option("--node", metavar="ID", help="The node to explain.")
@click.option(
    "--top", metavar="K", default=10, show_default=True, help="How many shortcuts of a node."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--html", metavar="FILE", help="Write an interactive page that starts at the node.")
@click.option(
    "--weights",
    type=click.Choice(["prediction", "S1", "S2"]),
    default="prediction",
    help="What picks shortcuts: what the prediction reads, or a matrix of the paper.",
)
@click.option("--all", "whole", is_flag=True, help="The shortcuts of all nodes, into --out.")
@click.option("--out", metavar="FILE", help="Parquet or CSV, by its ending, for --all.")
@click.option("--device", default="auto", show_default=True, help="cpu, cuda, or auto.")
def explain(
    model: str,
    node: str | None,
    top: int,
    as_json: bool,
    html: str | None,
    weights: Weights,
    whole: bool,
    out: str | None,
    device: str,
) -> None:
    """Show why the model in the folder MODEL predicts a node as it does.

    Shortcuts are nodes that are no neighbours and that the attention still reads. Each is listed
    with its share of the attention, its distance, its class, and what the prediction would be
    without it.

    \b
    Examples:
      bagcn explain model/ --node 42
      bagcn explain model/ --node 42 --html page.html
      bagcn explain model/ --all --out shortcuts.parquet
    """
    _check(node, html, whole, out, as_json)
    from bagcn.bundle import load
    from bagcn.explain.named import Named

    named = Named.from_classifier(load(model, device))
    if whole:
        from bagcn.explain.pairs import write_pairs

        with _busy("looking for shortcuts"):
            rows = write_pairs(named, str(out), top, weights)
        click.echo(f"{rows:,} shortcuts of {named.num_nodes:,} nodes are in {out}", err=True)
        return
    from bagcn.explain.reasons import reasons

    found = reasons(named, node, top, weights)
    if as_json:
        click.echo(json.dumps(found, indent=1, ensure_ascii=False, default=str))
    else:
        _show(found)
    if html is not None:
        _write_page(named, Path(html), node, top, weights, Path(model).resolve().name)


def _check(node: str | None, html: str | None, whole: bool, out: str | None, as_json: bool) -> None:
    """Refuse options that do not go together."""
    if whole and (node is not None or html is not None or as_json):
        raise ValueError("--all is for the table of all nodes: leave out --node, --html and --json")
    if whole and out in (None, "-"):
        raise ValueError("where to write the shortcuts of all nodes? add --out shortcuts.parquet")
    if not whole and node is None:
        raise ValueError("which node? name one with --node ID, or take --all")
    if not whole and out is not None:
        raise ValueError("--out is for --all; for one node there are --html and --json")


def _write_page(
    named: Named, path: Path, node: str | None, top: int, weights: Weights, title: str
) -> None:
    from bagcn._folder import replaced_file
    from bagcn.explain.page import render_page

    with _busy("writing the page"):
        page = render_page(named, named.position(node), top, f"Predictions of {title}", weights)
    with replaced_file(path) as partial:
        partial.write_text(page, "utf-8")
    click.echo(f"the page is {path}: open it in a browser", err=True)


def _busy(what: str) -> Status:
    """Say on a terminal's stderr that something takes a while."""
    from rich.console import Console

    return Console(stderr=True).status(what)


def _show(found: dict[str, Any]) -> None:
    """Print the reasons: a sentence, the parts, the shortcuts."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
    known = "not known" if found["label"] is None else str(found["label"])
    learnt = ", learnt from" if found["learnt_from"] else ""
    console.print(
        Text.assemble(
            f"Node {found['node']}: predicted ",
            (str(found["prediction"]), "bold"),
            f" with {found['probability']:.1%}; its label is {known}{learnt}.",
        )
    )
    console.print(_parts(found))
    if not found["shortcuts"]:
        console.print("It has no shortcuts: no node is further than one hop away.")
        return
    console.print(_shortcuts(found))
    console.print(
        f"The attention is spread over about {found['spread']:,.0f} of {found['nodes']:,} nodes; "
        f"an even share is {found['even_share']:.2%}."
    )


def _parts(found: dict[str, Any]) -> Table:
    table = _table(f"The probability of {found['prediction']}", "without", ">is then")
    for name, part in found["without"].items():
        shown = f"all {name}" if name == "shortcuts" else f"its {name}"
        table.add_row(shown, _outcome(part, found["prediction"]))
    return table


def _shortcuts(found: dict[str, Any]) -> Table:
    title = f"Shortcuts, and the probability of {found['prediction']} without each"
    table = _table(title, "node", ">weight", "distance", "label", ">without it")
    for row in found["shortcuts"]:
        hops = "other component" if row["hops"] is None else f"{row['hops']} hops"
        cells = (f"{row['weight']:.3%}", hops, _label(row))
        table.add_row(str(row["node"]), *cells, _outcome(row["without"], found["prediction"]))
    if any(row["label"] is None for row in found["shortcuts"]):
        table.caption = "In parentheses: predicted, as the label is not known."
    return table


def _label(row: dict[str, Any]) -> str:
    return f"({row['prediction']})" if row["label"] is None else str(row["label"])


def _outcome(without: dict[str, Any], prediction: Any) -> str:
    """Return a probability, its change in points, and the prediction if it is another one."""
    points = round(100 * without["change"], 2) + 0.0  # never -0.00
    text = f"{without['probability']:.2%} ({points:+.2f})"
    return text if without["prediction"] == prediction else f"{text}, then {without['prediction']}"


def _table(title: str, *names: str) -> Table:
    """Return a table that shows cells as they are; > before a name sets its column to the right."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left")
    for name in names:
        side: Literal["left", "right"] = "right" if name[0] == ">" else "left"
        table.add_column(name.lstrip(">"), justify=side, overflow="fold")
    return table
