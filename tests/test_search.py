"""A budget is read, spent, and never makes validation worse."""

from __future__ import annotations

import time
from typing import Any

import pytest
import torch

from bagcn import NodeClassifier
from bagcn.search import read_budget, search
from bagcn.tables import as_graph


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        *(("30", (30, None)), ("90s", (None, 90.0)), (" 10m ", (None, 600.0))),
        ("1h", (None, 3600.0)),
    ],
)
def test_budgets(text: str, budget: tuple[int | None, float | None]) -> None:
    assert read_budget(text) == budget


@pytest.mark.parametrize("text", ["", "0", "-3", "1.5h", "ten", "5d", "m"])
def test_what_is_no_budget(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot read the budget .*: expected a number of trials"):
        read_budget(text)


def prepared(graph: Any, **settings: Any) -> NodeClassifier:
    settings = {"epochs": 3, "hidden_channels": 4, "random_state": 2} | settings
    return NodeClassifier(**settings)._prepare(as_graph(graph))


def test_the_best_of_all_trials_is_kept(tiny_graph: Any) -> None:
    seen: list[NodeClassifier] = []
    best = search(prepared(tiny_graph), "4", lambda number, tried: seen.append(tried))
    ranks = [(tried.result_.val, -tried.result_.val_loss) for tried in seen]
    assert len(seen) == 4
    assert (best.result_.val, -best.result_.val_loss) == max(ranks)
    plain = prepared(tiny_graph)._learn()
    assert ranks[0] == (plain.result_.val, -plain.result_.val_loss)  # the settings that came
    assert len({tried.lr for tried in seen}) == 4
    assert {tried.split_.hash for tried in seen} == {plain.split_.hash}


def test_a_seed_means_the_same_trials(tiny_graph: Any) -> None:
    tried: list[list[float]] = [[], []]
    for lrs in tried:
        search(prepared(tiny_graph, model="gcn"), "3", lambda _, c, lrs=lrs: lrs.append(c.lr))
    assert tried[0] == tried[1]


def test_what_was_given_to_the_model_stays(tiny_graph: Any) -> None:
    own = {"fusion": "mul", "dropout": 0.2, "num_hops": 2}
    seen: list[NodeClassifier] = []
    search(prepared(tiny_graph, model_params=own), "5", lambda _, tried: seen.append(tried))
    assert all(own.items() <= tried.arguments_.items() for tried in seen)
    assert {tried.dropout for tried in seen} == {0.3}  # nor is drawn what would have no effect


@pytest.mark.parametrize("model", ["bagcn-add", "bagcn-mul"])
def test_a_named_model_stays_what_it_is(tiny_graph: Any, model: str) -> None:
    fusions: set[str] = set()
    search(
        prepared(tiny_graph, model=model, epochs=1),
        "6",
        lambda _, tried: fusions.add(tried.model_.layer.fusion),
    )
    assert fusions == {model.removeprefix("bagcn-")}


def test_a_model_is_given_what_it_takes(tiny_graph: Any) -> None:
    seen: list[NodeClassifier] = []
    search(prepared(tiny_graph, model="sgc"), "4", lambda _, tried: seen.append(tried))
    assert {tried.hidden_channels for tried in seen} == {4}
    assert len({tried.dropout for tried in seen}) == 4


def test_a_time_lets_the_first_trial_finish(tiny_graph: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("bagcn.search.read_budget", lambda text: (None, 0.5))
    seen: list[int] = []

    def slow(number: int, tried: NodeClassifier) -> None:
        seen.append(number)
        time.sleep(0.6)

    search(prepared(tiny_graph, model="gcn"), "1s", slow)
    assert seen == [1]


def test_a_trial_that_diverges_is_left_out(tiny_graph: Any, monkeypatch: Any) -> None:
    drawn = iter([{"lr": 1e38}, {"lr": 0.02}])
    monkeypatch.setattr("bagcn.search._drawn", lambda trial, prepared: next(drawn))
    seen: list[float] = []
    search(prepared(tiny_graph, model="gcn"), "3", lambda _, tried: seen.append(tried.lr))
    assert seen == [0.01, 0.02]
    with pytest.raises(ValueError, match="the loss became NaN or infinite"):
        search(prepared(tiny_graph, model="gcn", lr=1e38), "1")


def test_a_trial_that_does_not_fit_is_left_out(tiny_graph: Any, monkeypatch: Any) -> None:
    learn = NodeClassifier._learn

    def short_of_memory(classifier: NodeClassifier) -> NodeClassifier:
        if classifier.hidden_channels > 4:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
        return learn(classifier)

    monkeypatch.setattr(NodeClassifier, "_learn", short_of_memory)
    best = search(prepared(tiny_graph, model="gcn"), "4")
    assert best.hidden_channels == 4
    with pytest.raises(torch.OutOfMemoryError):
        search(prepared(tiny_graph, model="gcn", hidden_channels=8), "2")
