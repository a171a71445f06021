# The reasons as plain data are those of explain_nodes, in the owner's names.
from __future__ import annotations

import json

import pytest
import torch

from bagcn.explain.reasons import reasons
from explain.library import ALONE, BOOKS, ODD, classifier, named, tables


def test_reasons_in_the_owners_names() -> None:
    own, place = named(), 8
    found = reasons(own, ODD[place], top=4)
    raw = own.explain(torch.tensor([place]), 4)
    nodes, _ = tables()
    assert (found["node"], found["nodes"], found["weights"]) == (ODD[place], BOOKS, "prediction")
    assert found["label"] == nodes["topic"][place] == "astronomy"
    assert found["learnt_from"] == (place in own.train.tolist())
    assert found["probabilities"] == pytest.approx(
        dict(zip(own.classes, own.probabilities[place].tolist(), strict=True)), abs=1e-5
    )
    best = int(raw.probabilities[0].argmax())
    assert found["prediction"] == own.classes[best] == classifier().predict()[place]
    parts = (raw.without_features, raw.without_neighbours, raw.without_shortcuts)
    for name, part in zip(("own features", "neighbours", "shortcuts"), parts, strict=True):
        row = found["without"][name]
        assert row["probability"] == float(part[0, best])
        assert row["change"] == pytest.approx(float(part[0, best] - raw.probabilities[0, best]))
        assert row["prediction"] == own.classes[int(part[0].argmax())]
    for k, row in enumerate(found["shortcuts"]):
        other = int(raw.shortcuts.others[0, k])
        assert row["node"] == nodes["book"][other]
        assert row["label"] == (nodes["topic"][other] or None)
        assert row["prediction"] == classifier().predict()[other]
        assert row["weight"] == float(raw.shortcuts.weight[0, k])
        hops = int(raw.shortcuts.hops[0, k])
        assert row["hops"] == (None if hops < 0 else hops)
        assert row["without"]["probability"] == float(raw.without[0, k, best])
    assert json.loads(json.dumps(found)) == found


def test_the_estimator_gives_the_same() -> None:
    assert classifier().explain("book-000", top=3) == reasons(named(), "book-000", 3)


def test_a_node_that_stands_alone() -> None:
    found = reasons(named(), f"book-{ALONE:03d}", top=BOOKS)
    assert found["without"]["neighbours"]["change"] == pytest.approx(0, abs=1e-12)
    assert len(found["shortcuts"]) == BOOKS - 1
    assert {row["hops"] for row in found["shortcuts"]} == {None}
