"""A small library as its owner has it, and models trained on it for a moment.

Its columns hold every kind of cell, with gaps; one book stands alone; ids look like markup.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bagcn import NodeClassifier
from bagcn.data import synthetic_graph
from bagcn.explain import Named
from bagcn.tables import Layout

BOOKS, ALONE = 60, 5
ODD = {7: '<b>O\'Hara & "co"</b>', 8: "[red]book-8[/red]", 9: "</script><script>alert(9)</script>"}
WORDS = ["moon", "comet", "root", "moss", "knight", "queen"]


@cache
def tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the nodes and the edges."""
    graph = synthetic_graph(BOOKS, num_classes=3, regions_per_class=2, num_features=4, noise=1.0)
    drawn = np.random.default_rng(0)
    topics = np.array(["astronomy", "botany", "chess"])[graph.y.numpy()]
    nodes = pd.DataFrame(
        {
            "book": [ODD.get(i, f"book-{i:03d}") for i in range(BOOKS)],
            "pages": np.round(np.exp(5 + graph.x[:, 0].numpy()), 2),
            "lent": np.where(drawn.random(BOOKS) < 0.5, "yes", "no"),
            "place": drawn.choice(["Oslo", "Lima", "Accra"], BOOKS),
            "bought": pd.Timestamp("2001-02-03")
            + pd.to_timedelta(drawn.integers(9999, size=BOOKS), "D"),
            "about": [" ".join(drawn.choice(WORDS, 4)) for _ in range(BOOKS)],
            "topic": np.where(drawn.random(BOOKS) < 0.6, topics, ""),
        }
    )
    for column in ("pages", "lent", "place"):
        nodes.loc[drawn.random(BOOKS) < 0.1, column] = None
    nodes.loc[3, "bought"] = pd.Timestamp("2011-12-13 14:15")
    nodes.loc[4, "bought"] = None
    nodes.loc[6, "place"] = "Nuuk"
    ends = graph.edge_index.numpy()
    ends = ends[:, (ends != ALONE).all(axis=0) & (ends[0] < ends[1])]
    ids = nodes["book"].to_numpy()
    return nodes, pd.DataFrame({"source": ids[ends[0]], "target": ids[ends[1]]})


@cache
def classifier(model: str = "bagcn-add", **settings: Any) -> NodeClassifier:
    """Return a model trained for ten epochs."""
    nodes, edges = tables()
    own = NodeClassifier(model, hidden_channels=8, epochs=10, patience=0, **settings)
    return own.fit(nodes, edges=edges, layout=Layout(id="book", label="topic"))


def named() -> Named:
    """Return what explanations of the model are made from."""
    return Named.from_classifier(classifier())
