from __future__ import annotations

import json

from bagcn.study.models import MODELS
from cli.conftest import Bagcn


def test_every_model_is_listed_with_its_paper_source_and_check(bagcn: Bagcn) -> None:
    out = bagcn("models").out
    blocks = [line for line in out.splitlines() if not line.startswith(" ")]
    titles = [f"{card.name}: {card.title}" for card in MODELS.values()]
    assert blocks == [*titles, f"{len(MODELS)} models; the settings of one: bagcn models NAME"]
    words = " ".join(out.split())
    for card in MODELS.values():
        told = f"paper {card.paper} source {card.written} checked {card.checked}"
        assert " ".join(told.split()) in words
    assert max(map(len, out.splitlines())) <= 96


def test_one_model(bagcn: Bagcn) -> None:
    lines = bagcn("models", "bagcn-mul").out.splitlines()
    assert lines[0] == "bagcn-mul: BAGCN-mul"
    told = " ".join(" ".join(lines[1:]).split())
    assert "class bagcn.nn.model.BAGCN with fusion=mul settings hidden_channels, fusion" in told
    assert "recipe bagcn train cora --model bagcn-mul" in told
    assert "numbers in the BAGCN paper: cora 83.7 ± 0.2, citeseer" in told


def test_as_json(bagcn: Bagcn) -> None:
    every = json.loads(bagcn("models", "--json").out)
    assert [model["name"] for model in every] == list(MODELS)
    assert all(model["paper"] and model["source"] and model["checked"] for model in every)
    one = json.loads(bagcn("models", "gcn", "--json").out)
    assert one in every
    assert one["url"] == "https://arxiv.org/abs/1609.02907"
    assert one["settings"][0] == "hidden_channels"
    assert one["bagcn_paper"]["cora"] == [81.7, 0.4]
