# N nodes, C classes. Every number is compared with a dense N×N formula.
from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
import torch
from torch import nn

from bagcn.baselines.gcn import GCN
from bagcn.explain import Distances, Opened, explain_nodes, iter_shortcuts, probabilities_without
from bagcn.explain import opened as opened_module
from bagcn.explain import shortcuts as find
from bagcn.explain.removal import probabilities
from bagcn.nn import BAGCN
from bagcn.ops import normalized_adjacency
from explain import dense_attention as dense
from explain.case import CLASSES, EXACT, FEATURES, HIDDEN, NODES, Case
from nn.dense import Switches

SWITCHES = {
    "add": Switches(),
    "mul": Switches(fusion="mul"),
    "mean of views": Switches(inference="mean"),
    "mul, mean of views, relu": Switches(fusion="mul", inference="mean", activation="relu"),
    "local-local, two hops": Switches(pair="local-local", num_hops=2, inference="mean"),
    "ego-ego": Switches(pair="ego-ego", scale=1.0),
    "mean of the hops": Switches(field="mean", num_hops=2),
}


@pytest.fixture(params=SWITCHES.values(), ids=SWITCHES.keys())
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


@pytest.fixture
def plain() -> Case:
    return Case(Switches())


def test_probabilities_are_the_models(case: Case) -> None:
    nodes = torch.tensor([0, 5, 17, 39])
    found = probabilities(Opened.of(case.model, case.x, case.edges), nodes)
    torch.testing.assert_close(found, case.predict()[nodes], **EXACT)
    with torch.no_grad():
        logits = case.model(case.x, case.edges)[nodes]
    torch.testing.assert_close(found.float(), logits.softmax(1), atol=1e-5, rtol=1e-4)


def test_shortcuts_are_the_largest_distant_weights(case: Case) -> None:
    found = find(case.model, case.x, case.edges, torch.arange(NODES), 4)
    weights, hops = case.weights(), case.hops()
    distant = weights.masked_fill((hops == 0) | (hops == 1), -1)
    torch.testing.assert_close(found.weight, distant.sort(1, descending=True)[0][:, :4], **EXACT)
    torch.testing.assert_close(found.weight, weights.gather(1, found.others), **EXACT)
    assert torch.equal(found.hops, hops.gather(1, found.others))
    assert ((found.hops == -1) | (found.hops >= 2)).all()
    torch.testing.assert_close(weights.sum(1), torch.ones(NODES).double(), **EXACT)


@pytest.mark.parametrize("number", [0, 1])
def test_weights_of_the_papers_matrices(plain: Case, number: int) -> None:
    scores = dense.attention(plain.w, plain.x.double(), plain.a, plain.s)[number]
    name = ("S1", "S2")[number]
    found = find(
        plain.model, plain.x, plain.edges, torch.arange(NODES), 5, weights=name, min_hops=0
    )
    expected = scores.softmax(1)
    torch.testing.assert_close(found.weight, expected.topk(5).values, **EXACT)
    torch.testing.assert_close(expected.gather(1, found.others), found.weight, **EXACT)


def test_cutting_one_is_masking_it_where_the_prediction_reads(case: Case) -> None:
    nodes = torch.tensor([2, 5, 30])
    found = explain_nodes(case.model, case.x, case.edges, nodes, 3)
    for row, node in enumerate(nodes.tolist()):
        for place, other in enumerate(found.shortcuts.others[row].tolist()):
            allowed = torch.ones(NODES, NODES, dtype=torch.bool)
            allowed[:, other] = False  # the prediction of one node: so every row that it reads
            expected = case.predict(allowed_1=allowed, allowed_2=allowed)[node]
            torch.testing.assert_close(found.without[row, place], expected, **EXACT)


def test_cutting_in_the_own_row_of_one_matrix_only(case: Case) -> None:
    opened, node = Opened.of(case.model, case.x, case.edges), 7
    allowed = torch.ones(NODES, NODES, dtype=torch.bool)
    allowed[node, [1, 12]] = False
    cut = torch.tensor([[[1, 12, -1]]])
    for weights, which in (("S1", "allowed_1"), ("S2", "allowed_2")):
        found = probabilities_without(opened, torch.tensor([node]), cut, weights)
        expected = case.predict(**{which: allowed})[node]
        torch.testing.assert_close(found[0, 0], expected, **EXACT)


def test_cutting_almost_all_of_a_row_is_exact_too(plain: Case) -> None:
    plain.model.layer.scale = 40.0  # one key takes everything
    plain.s = Switches(scale=40.0)
    nodes = torch.arange(NODES)
    found = explain_nodes(plain.model, plain.x, plain.edges, nodes, 1, min_hops=1)
    assert found.shortcuts.weight.max() > 1 - 1e-6
    for node, other in enumerate(found.shortcuts.others[:, 0].tolist()):
        allowed = torch.ones(NODES, NODES, dtype=torch.bool)
        allowed[:, other] = False
        expected = plain.predict(allowed_1=allowed)[node]
        torch.testing.assert_close(found.without[node, 0], expected, atol=1e-8, rtol=1e-6)


def test_shortcuts_picked_by_one_matrix_are_cut_everywhere(case: Case) -> None:
    nodes = torch.tensor([4, 19])
    found = explain_nodes(case.model, case.x, case.edges, nodes, 3, weights="S2")
    expected = find(case.model, case.x, case.edges, nodes, 3, weights="S2")
    assert torch.equal(found.shortcuts.others, expected.others)
    cut = expected.others[:, :, None]
    without = probabilities_without(Opened.of(case.model, case.x, case.edges), nodes, cut)
    torch.testing.assert_close(found.without, without, **EXACT)


def test_the_parts_of_shortcuts_neighbours_and_own_features(case: Case) -> None:
    nodes = torch.tensor([3, 5, 22])
    found = explain_nodes(case.model, case.x, case.edges, nodes, 2)
    near = (case.hops() == 0) | (case.hops() == 1)
    for row, node in enumerate(nodes.tolist()):
        allowed = near[node].expand(NODES, NODES).clone()
        allowed[~near[node]] = True  # rows that are not read, so that none is empty
        seen = case.predict(allowed_1=allowed, allowed_2=allowed)[node]
        torch.testing.assert_close(found.without_shortcuts[row], seen, **EXACT)
        alone, blank = Case(case.s), Case(case.s)
        alone.a[node, :] = alone.a[:, node] = 0
        alone.a[node, node] = 1
        torch.testing.assert_close(found.without_neighbours[row], alone.predict()[node], **EXACT)
        blank.x[node] = 0
        torch.testing.assert_close(found.without_features[row], blank.predict()[node], **EXACT)


def test_spread_is_the_number_of_nodes_that_matter(case: Case) -> None:
    nodes = torch.tensor([0, 12])
    found = explain_nodes(case.model, case.x, case.edges, nodes, 2)
    weights = case.weights()[nodes]
    expected = (-(weights * weights.log()).sum(1)).exp()
    torch.testing.assert_close(found.spread, expected, **EXACT)


def test_temperature_divides_the_logits(case: Case) -> None:
    nodes = torch.tensor([1, 9])
    found = explain_nodes(case.model, case.x, case.edges, nodes, 2, temperature=2.5)
    with torch.no_grad():
        expected = (case.model(case.x, case.edges)[nodes] / 2.5).softmax(1)
    torch.testing.assert_close(found.probabilities.float(), expected, atol=1e-5, rtol=1e-4)


def test_blocks_change_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = (case.model, case.x, case.edges)
    nodes = torch.arange(NODES)
    whole, explained = find(*graph, nodes, 6), explain_nodes(*graph, nodes, 2)
    monkeypatch.setattr(opened_module, "ENTRIES_AT_ONCE", 3 * NODES)  # three rows at a time
    parts = list(iter_shortcuts(*graph, 6, block=7))
    assert [len(part.nodes) for part in parts] == [7, 7, 7, 7, 7, 5]
    for name in ("nodes", "others", "weight", "hops"):
        joined = torch.cat([getattr(part, name) for part in parts])
        torch.testing.assert_close(joined, getattr(whole, name), **EXACT)
    again = explain_nodes(*graph, nodes, 2)
    torch.testing.assert_close(again.without, explained.without, **EXACT)


def test_sparse_features_and_a_prepared_adjacency(plain: Case) -> None:
    prepared = normalized_adjacency(plain.edges, num_nodes=NODES)
    nodes = torch.tensor([4])
    first = find(plain.model, plain.x, plain.edges, nodes, 3)
    second = find(plain.model, plain.x.to_sparse_csr(), prepared, nodes, 3)
    assert torch.equal(first.others, second.others)
    torch.testing.assert_close(first.weight, second.weight, atol=1e-6, rtol=1e-5)


def test_fewer_distant_nodes_than_asked_for() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    model = dense.trained_like(BAGCN(FEATURES, HIDDEN, CLASSES), 1)
    x = torch.eye(4, FEATURES)
    found = find(model, x, edges, torch.tensor([1, 0]), 10)
    assert found.others.tolist()[0] == [3, -1, -1, -1]
    assert sorted(found.others.tolist()[1]) == [-1, -1, 2, 3]
    assert found.hops.tolist()[0] == [-1, -1, -1, -1]
    explained = explain_nodes(model, x, edges, torch.tensor([1]), 10)
    whole = explained.probabilities[:, None].expand(-1, 3, -1)
    torch.testing.assert_close(explained.without[:, 1:], whole)


def test_equal_weights_come_in_the_order_of_the_nodes() -> None:
    model = dense.trained_like(BAGCN(FEATURES, HIDDEN, CLASSES), 1)
    x, edges = torch.ones(9, FEATURES), torch.empty(2, 0, dtype=torch.long)
    found = find(model, x, edges, torch.tensor([0, 2]), 5)
    assert found.others.tolist() == [[1, 2, 3, 4, 5], [0, 1, 3, 4, 5]]


def test_distances_of_a_directed_graph_and_zero_weights() -> None:
    edges, weight = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]]), torch.tensor([1.0, 1.0, 0.0, 1.0])
    graph = normalized_adjacency(edges, weight, 6)
    expected = [[2, 1, 0, -1, -1, -1], [-1, -1, -1, 1, 0, -1]]
    assert Distances(graph)(torch.tensor([2, 4])).tolist() == expected


def test_distances_of_more_sources_than_bits() -> None:
    graph = nx.gnm_random_graph(150, 170, seed=2)
    edges = torch.tensor([*graph.edges, *((b, a) for a, b in graph.edges)]).T
    found = Distances(normalized_adjacency(edges, num_nodes=150))(torch.arange(149, -1, -1))
    for node, lengths in nx.all_pairs_shortest_path_length(graph):
        expected = torch.full((150,), -1)
        expected[list(lengths)] = torch.tensor(list(lengths.values()))
        assert torch.equal(found[149 - node], expected)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GCN(3, 4, 2), "GCN has none: train bagcn-add or bagcn-mul"),
        (BAGCN(3, 4, 2, attention="none"), "trained without it: train it with attention=exact"),
    ],
)
def test_models_without_attention_are_refused(model: nn.Module, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find(model, torch.ones(2, 3), torch.tensor([[0], [1]]), torch.tensor([0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"top": 0}, "top must be at least 1, got 0"),
        ({"min_hops": -1}, "min_hops must not be negative"),
        ({"weights": "S3"}, "weights must be one of prediction, S1, S2; got 'S3'"),
    ],
)
def test_wrong_arguments(plain: Case, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find(plain.model, plain.x, plain.edges, torch.tensor([0]), **arguments)
