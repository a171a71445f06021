# What a page holds, as JSON: every node's reasons, and never more than it may.
from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from bagcn.explain.page import data as data_module
from bagcn.explain.page.data import page_data
from explain.library import ALONE, BOOKS, ODD, classifier, named, tables


def data(start: int = 0, **options: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page_data(named(), start, **options))
    return found


def test_every_node_of_a_small_graph() -> None:
    found, own = data(top=3), named()
    ids, nodes = found["nodes"]["id"], found["nodes"]
    assert sorted(ids) == sorted(own.names)
    assert (found["size"], found["explained"], ids[found["start"]]) == (BOOKS, BOOKS, "book-000")
    for place, name in enumerate(ids):
        node = own.names.index(name)
        probabilities = own.probabilities[node]
        assert nodes["known"][place] == int(own.y[node])
        assert nodes["trained"][place] == (node in own.train.tolist())
        assert nodes["predicted"][place] == int(probabilities.argmax())
        assert nodes["confidence"][place] == pytest.approx(float(probabilities.max()), rel=1e-3)
    assert found["classes"] == classifier().classes_.tolist()


def test_neighbours_are_those_of_the_table() -> None:
    _, edges = tables()
    around: dict[str, set[str]] = {}
    for a, b in edges.itertuples(index=False):
        around.setdefault(a, set()).add(b)
        around.setdefault(b, set()).add(a)
    found = data()
    ids = found["nodes"]["id"]
    for name, degree, near in zip(ids, found["nodes"]["degree"], found["neighbours"], strict=True):
        assert {ids[place] for place in near} == around.get(name, set())
        assert degree == len(near)


@pytest.mark.parametrize("weights", ["prediction", "S1"])
def test_the_reasons_are_those_of_explain_nodes(weights: Any) -> None:
    found, own = data(top=4, weights=weights), named()
    ids = found["nodes"]["id"]
    place = {name: node for node, name in enumerate(own.names)}
    raw = own.explain(torch.tensor([place[name] for name in ids]), 4, weights)
    for row, why in enumerate(found["why"]):
        best = int(raw.probabilities[row].argmax())
        assert why["probabilities"][0][0] == best
        assert why["spread"] == pytest.approx(float(raw.spread[row]), abs=0.06)
        parts = (raw.without_features, raw.without_neighbours, raw.without_shortcuts)
        for (value, then), part in zip(why["parts"], parts, strict=True):
            assert value == pytest.approx(float(part[row, best]), rel=1e-5)
            assert then == int(part[row].argmax())
        for k, (other, weight, value, then, hops) in enumerate(why["shortcuts"]):
            assert place[ids[other]] == int(raw.shortcuts.others[row, k])
            assert weight == pytest.approx(float(raw.shortcuts.weight[row, k]), rel=1e-5)
            assert value == pytest.approx(float(raw.without[row, k, best]), rel=1e-5)
            assert then == int(raw.without[row, k].argmax())
            assert hops == int(raw.shortcuts.hops[row, k])


def test_around_a_node_of_a_large_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("ALL_UP_TO", 0), ("EXPLAINED", 9), ("LISTED", 25)):
        monkeypatch.setattr(data_module, name, size)
    found = data(start=0, top=3)
    ids = found["nodes"]["id"]
    assert (found["size"], found["explained"], len(found["why"])) == (BOOKS, 9, 9)
    assert 25 <= len(ids) <= 9 * 4
    own = named()
    near = own.explain(torch.tensor([0]), 3).shortcuts.others[0].tolist()
    assert ids[:4] == [own.names[node] for node in (0, *near)]
    assert {row[0] for why in found["why"] for row in why["shortcuts"]} <= set(range(len(ids)))
    alone = data(start=ALONE, top=3)
    assert (alone["explained"], alone["nodes"]["degree"][0]) == (4, 0)


def test_many_shortcuts_of_each_mean_fewer_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "PAIRS", 100)
    assert data(top=20)["explained"] == 5
    assert data(top=BOOKS)["explained"] == 1


def test_a_page_is_as_large_as_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "ALL_UP_TO", 0)
    monkeypatch.setattr(data_module, "EXPLAINED", 2)
    whole = page_data(named(), 0, top=3)
    limit = len(whole.encode()) - 1
    text = page_data(named(), 0, top=3, limit=limit)
    assert len(text.encode()) <= limit
    fewer = json.loads(text)
    assert len(fewer["nodes"]["id"]) == BOOKS * 2 // 3
    assert fewer["why"] == json.loads(whole)["why"]
    least = json.loads(page_data(named(), 0, top=3, limit=1))
    assert 4 <= len(least["nodes"]["id"]) <= 8  # two nodes and their shortcuts stay
    assert least["why"] == fewer["why"]


def test_nothing_can_close_the_script() -> None:
    text = page_data(named(), 9)
    assert json.loads(text)["nodes"]["id"][0] == ODD[9]
    assert not set("<>&") & set(text)


def test_twice_the_same() -> None:
    assert page_data(named(), 3) == page_data(named(), 3)
