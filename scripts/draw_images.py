"""Draw the picture of the README with the software itself: ``draw_images.py [FOLDER]``.

A small graph in nine parts, three classes, labels in few of them: what is known, and what
``NodeClassifier`` makes of it, with the strongest shortcuts of one node.
"""

from __future__ import annotations

import io
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

from bagcn import NodeClassifier
from bagcn.data import synthetic_graph

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import networkx as nx

COLOURS = np.array(["#0072B2", "#D55E00", "#009E73"])
GREY, INK = "#c9ced6", "#2b303b"
IMAGES = Path(__file__).parents[1] / "docs" / "images"
Array = np.ndarray


def main(folder: Path) -> None:
    """Fit, explain one node, draw."""
    data = synthetic_graph(
        150,
        num_classes=3,
        regions_per_class=3,
        num_features=16,
        noise=0.35,
        degree=3,
        homophily=0.9,
        train_per_class=4,
        val_per_class=6,
    )
    model = NodeClassifier(epochs=150, device="cpu").fit(data)
    places = layout(data)
    node = most_drawn(model, data)
    figure = Figure(figsize=(10, 4.6), layout="constrained", facecolor="white")
    before, after = figure.subplots(1, 2)
    draw_known(before, data, places)
    draw_predicted(after, data, places, model, model.explain(node, top=8))
    mpl.rcParams.update({"svg.hashsalt": "bagcn", "font.family": "DejaVu Sans"})
    save(figure, folder / "shortcuts.svg")


def save(figure: Figure, path: Path) -> None:
    """Write the figure, with two decimals of its places instead of fifteen."""
    written = io.StringIO()
    figure.savefig(written, format="svg", metadata={"Date": None})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(re.sub(r"(\d\d\.\d\d)\d+", r"\1", written.getvalue()), "utf-8")


def layout(data: Any) -> Array:
    """Return a place for every node: the regions in a grid, each laid out by itself, (N, 2)."""
    places = np.zeros((data.num_nodes, 2))
    region = data.region.numpy()
    for number in np.unique(region):
        nodes = np.flatnonzero(region == number)
        inside = np.isin(data.edge_index.numpy(), nodes).all(0)
        graph = nx.Graph(data.edge_index.numpy()[:, inside].T.tolist())
        spread = nx.kamada_kawai_layout(graph)
        centre = np.array([(number * 2) % 9 % 3, (number * 2) % 9 // 3]) * 2.6
        for at in nodes:
            places[at] = centre + spread[at]
    return places


def most_drawn(model: NodeClassifier, data: Any) -> int:
    """Return the rightly predicted node, far from every label, whose shortcuts weigh most."""
    right = model.predict() == data.y.numpy()
    labelled = np.unique(data.region[data.train_mask].numpy())
    nodes = np.flatnonzero(right & ~np.isin(data.region.numpy(), labelled))
    weight = [sum(s["weight"] for s in model.explain(node, top=8)["shortcuts"]) for node in nodes]
    return int(nodes[int(np.argmax(weight))])


def draw_known(axes: Axes, data: Any, places: Array) -> None:
    """Draw the graph as it comes: few labels."""
    known = (data.train_mask | data.val_mask).numpy()
    colours = np.where(known, COLOURS[data.y.numpy()], GREY)
    draw_graph(axes, data, places, colours)
    axes.set_title(
        f"The graph: the classes of {known.sum()} in {len(known)} nodes are known", color=INK
    )


def draw_predicted(
    axes: Axes, data: Any, places: Array, model: NodeClassifier, reasons: dict[str, Any]
) -> None:
    """Draw the predictions, and arcs from what one node reads."""
    draw_graph(axes, data, places, COLOURS[model.predict()])
    node, shortcuts = reasons["node"], reasons["shortcuts"]
    heaviest = shortcuts[0]["weight"]
    for shortcut in shortcuts:
        axes.add_patch(
            FancyArrowPatch(
                tuple(places[shortcut["node"]]),
                tuple(places[node]),
                connectionstyle="arc3,rad=0.25",
                arrowstyle="-|>",
                mutation_scale=9,
                shrinkB=7,
                linewidth=0.8 + 2.4 * shortcut["weight"] / heaviest,
                color=INK,
                alpha=0.75,
                zorder=3,
            )
        )
    axes.scatter(*places[node], s=150, facecolors="none", edgecolors=INK, linewidths=2, zorder=4)
    axes.set_title("Predicted classes, and what one node reads from afar", color=INK)


def draw_graph(axes: Axes, data: Any, places: Array, colours: Array) -> None:
    """Draw edges and nodes."""
    once = data.edge_index[:, data.edge_index[0] < data.edge_index[1]]
    lines = places[once.T.numpy()]  # (E/2, 2, 2)
    axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.8, zorder=1))
    axes.scatter(*places.T, s=34, c=list(colours), edgecolors="white", linewidths=0.6, zorder=2)
    axes.set_aspect("equal")
    axes.set_axis_off()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
