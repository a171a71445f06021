"""Train on one's own tables: the options of ``bagcn train`` for it, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from bagcn.estimator import NodeClassifier

__all__ = ["input_options", "print_rows", "read_tables", "table_options", "train_tables"]

Command = TypeVar("Command", bound=Callable[..., Any])
Options = list[Callable[[Any], Any]]


def input_options(command: Command) -> Command:
    """Add the options that say which tables to read, and how."""
    options: Options = [
        click.option("--nodes", metavar="FILE", help="Table of nodes: CSV, TSV, Parquet, or -."),
        click.option("--edges", metavar="FILE", help="Table of edges: CSV, TSV, Parquet, or -."),
        click.option(
            "--format",
            "table_format",
            type=click.Choice(["csv", "tsv", "parquet"]),
            help="Of both tables; by their endings if not given.",
        ),
        click.option("--separator", metavar="CHAR", help="Of columns; by the header if not given."),
    ]
    return _added(command, options)


def table_options(command: Command) -> Command:
    """Add the options for training on tables to a command."""
    options: Options = [
        click.option("--label", metavar="COLUMN", help="Classes of the nodes; empty is unknown."),
        click.option("--id", "id_column", metavar="COLUMN", help="Ids of the nodes."),
        click.option("--features", metavar="A,B,…", help="Feature columns; default: all others."),
        click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out."),
        click.option(
            "--as",
            "kinds",
            metavar="COLUMN=KIND",
            multiple=True,
            help="number, boolean, category, date or text, where the detection is wrong.",
        ),
        click.option("--source", metavar="COLUMN", help="First end of the edges."),
        click.option("--target", metavar="COLUMN", help="Second end of the edges."),
        click.option("--weight", metavar="COLUMN", help="Weights of the edges."),
        click.option("--directed/--undirected", help="Whether edges keep their direction."),
        click.option("--split-column", metavar="COLUMN", help="Words train, val and test."),
        click.option(
            "--no-features",
            type=click.Choice(["structural", "random-walk"]),
            help="Use no column as a feature, but what surrounds a node, or where it is.",
        ),
        click.option("--tune", "budget", metavar="BUDGET", help="Trials, or a time like 10m."),
        click.option("--predictions", metavar="FILE", help="Predict all nodes as well, into it."),
    ]
    return input_options(_added(command, options))


def _added(command: Command, options: Options) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def train_tables(
    *,
    nodes: str | None,
    edges: str | None,
    label: str | None,
    out: str | Path = "model",
    id_column: str | None = None,
    features: str | None = None,
    drop: tuple[str, ...] = (),
    kinds: tuple[str, ...] = (),
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    directed: bool = False,
    split_column: str | None = None,
    no_features: str | None = None,
    budget: str | None = None,
    predictions: str | None = None,
    table_format: str | None = None,
    separator: str | None = None,
    model: str = "bagcn-add",
    seed: int = 0,
    device: str = "auto",
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> None:
    """Read the tables, say what they hold, train, say what came of it, save the bundle.

    Args:
        nodes: the table of nodes, or ``-``.
        edges: the table of edges, or ``-``.
        label: the column of classes.
        out: the folder of the bundle.
        id_column: see :class:`bagcn.tables.Layout`, like all that name columns.
        features: columns, separated by commas.
        drop: columns.
        kinds: ``column=kind``, where the detection is wrong.
        source: a column.
        target: a column.
        weight: a column.
        directed: whether edges keep their direction.
        split_column: a column.
        no_features: what is used in place of features.
        budget: of tuning, if it is wanted.
        predictions: a file for the predictions of all nodes, if they are wanted.
        table_format: of both tables.
        separator: of their columns.
        model: a model's name.
        seed: of the split and of training.
        device: where to train.
        settings: others of :class:`bagcn.NodeClassifier`, or of the model.
        quiet: print nothing but errors.
    """
    from rich.console import Console

    from bagcn.bundle import check_place
    from bagcn.cli.predict import write_predictions
    from bagcn.estimator import NodeClassifier
    from bagcn.search import read_budget
    from bagcn.tables import Layout, from_frames
    from bagcn.tables.ids import to_json
    from bagcn.tables.summary import columns_used

    if label is None:
        raise ValueError("which column of the nodes holds the classes? say so with --label")
    check_place(Path(out))
    if budget is not None:
        read_budget(budget)
    layout = Layout(
        id=id_column,
        label=label,
        features=tuple(name.strip() for name in features.split(",")) if features else None,
        drop=tuple(drop),
        kinds=tuple(_pair(text) for text in kinds),
        source=source,
        target=target,
        weight=weight,
        split=split_column,
        directed=directed,
    )
    console = Console(quiet=quiet, highlight=False, soft_wrap=True, stderr=predictions == "-")
    frames = read_tables(nodes, edges, table_format, separator)
    graph = from_frames(*frames, layout, names=(str(nodes), str(edges)))
    classifier = NodeClassifier(model, no_features=no_features, random_state=seed, device=device)
    _set(classifier, settings or {})
    classifier._prepare(graph)
    for names in (classifier.ids_, classifier.classes_):
        to_json(names)  # what could not be saved is refused before training
    _show_data(console, classifier, columns_used(graph.layout, list(frames[1].columns)))
    classifier = _trained(classifier, budget, quiet)
    classifier.save(out)
    _show_result(console, classifier, out)
    if predictions is not None:
        count = write_predictions(classifier, None, predictions)
        console.print(f"{count:,} predictions are in {predictions}.", markup=False)


def read_tables(
    nodes: str | None,
    edges: str | None,
    table_format: str | None,
    separator: str | None,
    *,
    no_edges: bool = False,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the tables of nodes and of edges; one of them may come from standard input.

    Args:
        nodes: a file, or ``-``.
        edges: a file, or ``-``.
        table_format: of both; by their endings if not given.
        separator: of their columns; by their headers if not given.
        no_edges: whether the edges' table may be without rows.
    """
    from bagcn.tables import read_table

    if nodes is None or edges is None:
        lacking = "--nodes" if nodes is None else "--edges"
        raise ValueError(f"a graph needs a table of nodes and one of edges: {lacking} is not given")
    if nodes == edges:
        raise ValueError(f"the nodes and the edges cannot both be {nodes}: give two tables")
    kind, separator = table_format, separator or ""
    return read_table(nodes, kind, separator), read_table(edges, kind, separator, empty=no_edges)


def _pair(text: str) -> tuple[str, str]:
    column, equals, kind = text.rpartition("=")
    if not equals:
        raise ValueError(f"expected --as COLUMN=KIND, like --as year=category, got {text!r}")
    return column, kind


def _set(classifier: NodeClassifier, settings: Mapping[str, Any]) -> None:
    """Apply settings of the classifier, and take the others for the model's own."""
    from bagcn.data._names import unknown
    from bagcn.study.models import argument_names, card_of
    from bagcn.study.recipe import typed

    own, known = classifier.get_params(), argument_names(classifier.model)
    for name in settings:
        if name not in own and name not in known:
            raise unknown("setting", name, dict.fromkeys((*own, *known)))
    kinds = {**signature(card_of(classifier.model).model).parameters}
    kinds |= signature(type(classifier)).parameters
    settings = {n: typed(kinds[n].annotation, n, value) for n, value in settings.items()}
    rest = {name: value for name, value in settings.items() if name not in own}
    classifier.set_params(**{n: v for n, v in settings.items() if n in own})
    classifier.set_params(model_params={**(classifier.model_params or {}), **rest} or None)


def _trained(classifier: NodeClassifier, budget: str | None, quiet: bool) -> NodeClassifier:
    """Train, or search and train, with a bar on stderr."""
    from rich.console import Console
    from rich.progress import Progress

    from bagcn.search import read_budget, search

    console = Console(stderr=True)
    hidden = quiet or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as progress:
        if budget is None:
            bar = progress.add_task("training", total=classifier.epochs * classifier.members)
            return classifier._learn(lambda epoch: progress.advance(bar))
        trials, _ = read_budget(budget)
        bar = progress.add_task("tuning", total=trials)

        def on_trial(number: int, candidate: NodeClassifier) -> None:
            progress.update(
                bar,
                advance=1,
                description=f"tuning: trial {number}, validation {candidate.result_.val:.1%}",
            )

        return search(classifier, budget, on_trial)


def _show_data(console: Console, classifier: NodeClassifier, used: str) -> None:
    """Print what the tables hold; ``used`` says which columns mean what."""
    from bagcn.tables import RULES
    from bagcn.tables.summary import describe, remarks

    data = describe(classifier)
    direction = "directed" if data["directed"] else "undirected"
    console.print(
        f"[bold]{data['nodes']:,}[/] nodes, [bold]{data['edges']:,}[/] {direction} "
        f"edge{'s' if data['edges'] != 1 else ''}, "
        f"{data['components']:,} component{'s' if data['components'] > 1 else ''}; "
        f"[bold]{data['labelled_nodes']:,}[/] nodes have a label, "
        f"{data['nodes'] - data['labelled_nodes']:,} are to be predicted."
    )
    for sentence in (used, *remarks(data)):
        console.print(f"  {sentence}", markup=False)
    print_rows(console, "Classes", data["classes"])
    if data["columns"]:
        print_rows(console, "Columns", data["columns"])
        console.print(f"{RULES}\n  Overrule this with --as COLUMN=KIND.", style="dim", markup=False)
    console.print(f"{data['features']:,} features a node.")


def print_rows(console: Console, title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of plain data under a title; the keys are the columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left")
    for name, value in rows[0].items():
        table.add_column(name, justify="right" if isinstance(value, int | float) else "left")
    for row in rows[:50]:
        table.add_row(*(Text(_shown(value)) for value in row.values()))
    console.print(table)
    if len(rows) > 50:
        console.print(f"… and {len(rows) - 50} more")


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _show_result(console: Console, classifier: NodeClassifier, out: str | Path) -> None:
    metrics = classifier.metrics_
    part = "val" if metrics["test_accuracy"] is None else "test"
    tested = len(getattr(classifier.split_, part))
    attention = classifier.arguments_.get("attention", "")
    if attention == "none" and classifier.attention == "auto":
        console.print(
            "The graph is too large for exact attention on this device, so the model was "
            "trained without shortcuts; --set attention=exact insists."
        )
    console.print(
        f"Accuracy [bold]{metrics[f'{part}_accuracy']:.1%}[/] on {tested:,} nodes that were not "
        f"learnt from ({part}), best of {metrics['epochs']} epochs: {metrics['best_epoch']}, "
        f"{metrics['seconds']:.0f} s."
    )
    console.print(_calibration(classifier, metrics[f"{part}_calibration_error"]))
    console.print(f"The model lies in {out}; next: bagcn predict {out}", markup=False)


def _calibration(classifier: NodeClassifier, error: dict[str, float]) -> str:
    from bagcn.calibration import FEWEST

    nodes = len(classifier.split_.val)
    if nodes < FEWEST:
        return (
            f"Calibration error {error['before']:.3f}; the probabilities are the model's own, as "
            f"{nodes} validation nodes are too few to calibrate by (at least {FEWEST})."
        )
    return (
        f"Calibration error {error['before']:.3f} before and {error['after']:.3f} after "
        f"temperature scaling (T = {classifier.temperature_:.2f})."
    )
