"""``bagcn predict``: classes and probabilities with the owner's ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bagcn.cli.own import input_options, read_tables

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier
    from bagcn.tables import Graph

__all__ = ["predict", "write_predictions"]


@click.command()
@click.argument("model", type=click.Path())
@input_options
@click.option("--out", metavar="FILE", default="-", help="CSV, Parquet or JSON; - is stdout.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["csv", "parquet", "json"]),
    help="By the ending if not given.",
)
@click.option("--device", default="auto", help="cpu, cuda, or auto.")
def predict(
    model: str,
    nodes: str | None,
    edges: str | None,
    table_format: str | None,
    separator: str | None,
    out: str,
    kind: str | None,
    device: str,
) -> None:
    """Predict the classes of nodes with the model in the folder MODEL.

    Without tables, the nodes of the graph it was trained on; with tables, those of a graph that
    has grown or of a new one. The tables need the columns it was trained on, in any order.

    \b
    Examples:
      bagcn predict model/ --out predictions.csv
      bagcn predict model/ --nodes new.csv --edges links.csv --out predictions.parquet
    """
    from bagcn.bundle import load
    from bagcn.tables import from_frames

    classifier = load(model, device)
    graph = None
    if nodes or edges:
        frames = read_tables(nodes, edges, table_format, separator, no_edges=True)
        if not len(frames[1]):
            click.echo(f"{edges} has no rows: no node has a neighbour to learn from", err=True)
        names = (str(nodes), str(edges))
        graph = from_frames(*frames, classifier.layout_, labelled=False, names=names)
    count = write_predictions(classifier, graph, out, kind)
    if out != "-":
        click.echo(f"{count:,} predictions are in {out}", err=True)


def write_predictions(
    classifier: NodeClassifier, graph: Graph | None, out: str, kind: str | None = None
) -> int:
    """Write the predictions for a graph, or for the fitted one; return how many they are."""
    from bagcn.tables import prediction_table, write_table

    table = prediction_table(
        classifier.ids_ if graph is None else graph.ids,
        classifier.classes_,
        classifier.predict_proba(graph),
        classifier.known_ if graph is None else graph.labels,
        classifier.layout_.id or "id",
    )
    write_table(table, out, kind)
    return len(table)
