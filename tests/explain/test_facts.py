# What is told of a node is what stands in its owner's table, or the features as they were given.
from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from bagcn import NodeClassifier
from bagcn.explain import Named
from bagcn.explain.facts import COLUMNS, FEATURES, facts
from bagcn.tables import Layout
from explain.library import BOOKS, named, tables


def written(row: pd.Series[Any]) -> list[Any]:
    """What the cells of a book should read like, None where nothing stands."""
    place = "a rare one" if row["place"] == "Nuuk" else row["place"]
    bought = row["bought"]
    date = None if pd.isna(bought) else str(bought)[: 16 if bought.hour else 10]
    cells = [round(float(row["pages"]), 2), row["lent"], place, date]
    return [None if pd.isna(cell) else cell for cell in cells]


def test_the_columns_of_a_table() -> None:
    nodes, _ = tables()
    names, told = facts(named(), torch.arange(BOOKS))
    assert names == ["pages", "lent", "place", "bought", "about"]
    for (_, row), cells in zip(nodes.iterrows(), told, strict=True):
        found: dict[int, Any] = dict(cells)
        assert [found.get(place) for place in range(4)] == written(row)
    words = Counter(word for text in nodes["about"] for word in set(text.split()))
    for text, cells in zip(nodes["about"], told, strict=True):
        counts = Counter(text.split())
        told_words = str(dict(cells)[4]).split()
        assert set(told_words) == set(counts)
        weight = {
            w: (1 + np.log(n)) * (1 + np.log((1 + BOOKS) / (1 + words[w])))
            for w, n in counts.items()
        }
        assert [weight[w] for w in told_words] == sorted(weight.values(), reverse=True)


def test_some_nodes_in_any_order() -> None:
    every = facts(named(), torch.arange(BOOKS))[1]
    assert facts(named(), torch.tensor([40, 3]))[1] == [every[40], every[3]]


def test_a_wide_table_tells_its_first_columns() -> None:
    nodes, edges = tables()
    wide = nodes[["book", "topic"]].assign(**{f"c{i}": np.arange(BOOKS) + i for i in range(20)})
    own = NodeClassifier(hidden_channels=4, epochs=1).fit(
        wide, edges=edges, layout=Layout(id="book", label="topic")
    )
    names, told = facts(Named.from_classifier(own), torch.tensor([2]))
    assert names == [f"c{i}" for i in range(COLUMNS)]
    assert [value for _, value in told[0]] == pytest.approx([2 + i for i in range(COLUMNS)])


def ring(x: Any) -> Named:
    """A model on arrays: nodes in a ring, two classes."""
    size = x.shape[0]
    edges = sp.coo_matrix((np.ones(size), (np.arange(size), np.roll(np.arange(size), 1))))
    own = NodeClassifier(hidden_channels=4, epochs=1, scaling="auto")
    return Named.from_classifier(own.fit(edges, np.arange(size) % 2, features=x))


def test_dense_arrays_tell_what_is_furthest_from_the_mean() -> None:
    x = np.random.default_rng(1).normal(5, 3, size=(30, 9))
    names, told = facts(ring(x), torch.arange(30))
    z = np.abs((x - x.mean(0)) / x.std(0))
    for node, cells in enumerate(told):
        found = {int(names[place][1:]): value for place, value in cells}
        assert list(found) == np.argsort(-z[node]).tolist()[:FEATURES]
        assert list(found.values()) == pytest.approx(x[node, list(found)].tolist(), rel=1e-4)


def test_sparse_arrays_tell_what_is_rare() -> None:
    x = sp.csr_matrix(np.random.default_rng(2).random((40, 12)) < np.linspace(0.05, 0.3, 12))
    names, told = facts(ring(x.astype(float)), torch.arange(40))
    share = np.asarray(x.mean(0))[0]
    for node, cells in enumerate(told):
        found = [int(names[place][1:]) for place, _ in cells]
        stored = x[node].indices.tolist()
        assert len(found) == min(FEATURES, len(stored))
        assert set(found) <= set(stored)
        rarest = sorted(share[stored])[: len(found)]
        assert [share[column] for column in found] == pytest.approx(rarest)
