# N nodes. What is measured over a whole model, against dense formulas and counting by hand.
from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from bagcn.explain import attention_mass, cut_shortcuts, label_agreement
from bagcn.explain import shortcuts as find
from explain.case import EXACT, NODES, Case
from nn.dense import Switches


@pytest.fixture(params=[Switches(), Switches(inference="mean", fusion="mul")], ids=["add", "mul"])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


@pytest.fixture
def y() -> Tensor:
    labels = torch.arange(NODES) * 7 % 3
    labels[[4, 8]] = -1
    return labels


def test_mass_by_distance(case: Case) -> None:
    found = attention_mass(case.model, case.x, case.edges, max_hops=2, weights="prediction")
    weights, hops = case.weights(), case.hops()
    assert found.names == ("0", "1", "2", "beyond", "elsewhere")
    columns = [hops == 0, hops == 1, hops == 2, hops > 2, hops == -1]
    for column, there in enumerate(columns):
        torch.testing.assert_close(found.mass[:, column], (weights * there).sum(1), **EXACT)
        torch.testing.assert_close(found.uniform[:, column], there.double().mean(1), **EXACT)
    entropy = torch.special.entr(weights).sum(1)
    torch.testing.assert_close(found.spread, entropy.exp(), **EXACT)
    summary = found.summary()
    assert summary["spread"] == pytest.approx(float(entropy.exp().mean()))
    assert summary["mass"]["beyond"] == pytest.approx(float((weights * (hops > 2)).sum() / NODES))


def test_agreement_by_degree(case: Case, y: Tensor) -> None:
    bins = (0, 2, 4)
    groups = label_agreement(case.model, case.x, case.edges, y, 5, bins=bins)
    rows: dict[int, list[tuple[float, float, float]]] = {}
    others = find(case.model, case.x, case.edges, torch.arange(NODES), 5, weights="S1").others
    degrees = dict(case.graph.degree)
    for node in range(NODES):
        if y[node] < 0:
            continue
        everyone = [other for other in range(NODES) if other != node]
        row = [share(y, node, those) for those in (others[node], case.graph[node], everyone)]
        rows.setdefault(degrees[node], []).append(tuple(row))
    for group in groups:
        first, last = group.degrees
        chosen = [row for d, found in rows.items() if first <= d <= last for row in found]
        assert group.nodes == len(chosen)
        for place, name in enumerate(("shortcuts", "neighbours", "chance")):
            known = [row[place] for row in chosen if not math.isnan(row[place])]
            assert getattr(group, name) == pytest.approx(sum(known) / len(known)), name
    largest = max(degrees.values())
    assert [group.degrees for group in groups] == [(0, 1), (2, 3), (4, largest), (0, largest)]


def share(y: Tensor, node: int, others: object) -> float:
    known = [int(y[other]) for other in others if y[other] >= 0]  # type: ignore[attr-defined]
    return sum(label == int(y[node]) for label in known) / len(known) if known else math.nan


def test_agreement_of_some_nodes(case: Case, y: Tensor) -> None:
    nodes = torch.tensor([0, 4, 9])
    groups = label_agreement(case.model, case.x, case.edges, y, 5, nodes=nodes)
    assert groups[-1].nodes == 2  # node 4 has no label


def test_cutting_the_strongest_of_every_node(case: Case, y: Tensor) -> None:
    found = cut_shortcuts(case.model, case.x, case.edges, y, 3)
    others = find(case.model, case.x, case.edges, torch.arange(NODES), 3).others
    near = (case.hops() == 0) | (case.hops() == 1)
    whole, cut, alone = case.predict(), [], []
    for node in range(NODES):
        allowed = torch.ones(NODES, NODES, dtype=torch.bool)
        allowed[:, others[node]] = False
        cut.append(case.predict(allowed_1=allowed, allowed_2=allowed)[node])
        allowed = near[node].expand(NODES, NODES).clone()
        allowed[~near[node]] = True
        alone.append(case.predict(allowed_1=allowed, allowed_2=allowed)[node])
    known = y >= 0
    predicted = whole.argmax(1)
    for name, rows in (("without", torch.stack(cut)), ("near", torch.stack(alone))):
        accuracy = (rows.argmax(1) == y)[known].double().mean().item()
        assert getattr(found, f"accuracy_{name}") == pytest.approx(accuracy)
        suffix = "" if name == "without" else "_near"
        changed = (rows.argmax(1) != predicted)[known].double().mean().item()
        assert getattr(found, f"changed{suffix}") == pytest.approx(changed)
        moved = (rows - whole).gather(1, predicted[:, None])[known].mean().item()
        assert getattr(found, f"probability{suffix}") == pytest.approx(moved, abs=1e-9)
    assert found.nodes == int(known.sum())
    assert found.accuracy == pytest.approx((predicted == y)[known].double().mean().item())


def test_random_cuts_are_drawn_from_distant_nodes_by_seed(case: Case, y: Tensor) -> None:
    graph = (case.model, case.x, case.edges, y, 3)
    assert cut_shortcuts(*graph, seed=1) == cut_shortcuts(*graph, seed=1)
    first, second = (cut_shortcuts(*graph, seed=seed) for seed in (1, 2))
    assert first.probability_random != second.probability_random
    assert first.probability == second.probability
    every = cut_shortcuts(*graph[:-1], NODES)  # all distant ones are the same whoever draws them
    assert every.probability_random == pytest.approx(every.probability, abs=1e-9)
    assert every.probability_near == pytest.approx(every.probability, abs=1e-9)
