"""What is measured of a model's shortcuts, against dense formulas and networkx."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from bagcn.ops import normalized_adjacency
from bagcn.reproduce.measure import ego_case, measure
from explain import dense_attention as dense
from explain.case import NODES, Case
from nn.dense import Switches

TOP = 6


@pytest.fixture(scope="module")
def case() -> Case:
    return Case(Switches())


@pytest.fixture(scope="module")
def arguments(case: Case) -> tuple[Any, ...]:
    y = torch.arange(NODES) % 3
    return case.model, case.x, normalized_adjacency(case.edges, num_nodes=NODES), y


@pytest.fixture(scope="module")
def s1(case: Case) -> np.ndarray[Any, Any]:
    scores, _ = dense.attention(case.w, case.x.double(), case.a, case.s)
    weights: np.ndarray[Any, Any] = scores.softmax(dim=1).numpy()
    return weights


@pytest.fixture(scope="module")
def far(case: Case) -> np.ndarray[Any, Any]:
    """Which pairs are more than three hops apart or not joined at all."""
    hops = dict(nx.all_pairs_shortest_path_length(case.graph, cutoff=3))
    return np.array([[j not in hops[i] for j in range(NODES)] for i in range(NODES)])


def test_the_reach_of_the_largest_entries(
    case: Case,
    arguments: tuple[Any, ...],
    s1: np.ndarray[Any, Any],
    far: np.ndarray[Any, Any],
) -> None:
    reach = measure(*arguments, top=TOP)["reach"]
    largest = np.argsort(-s1.round(12), axis=1, kind="stable")[:, :TOP]
    share = np.take_along_axis(far, largest, axis=1).mean(axis=1)
    assert reach["far"] == pytest.approx(share.mean())
    assert reach["all_far"] == pytest.approx((share == 1).mean())
    assert reach["without_far"] == (share == 0).sum()
    degree = np.array([case.graph.degree(node) for node in range(NODES)])
    assert reach["degree"]["mean"] == pytest.approx(degree.mean())
    assert reach["degree"]["others"] == pytest.approx(degree[share > 0].mean())
    around = [np.mean([degree[n] for n in case.graph[i]] or [np.nan]) for i in range(NODES)]
    relative = np.nan_to_num(degree / np.array(around), nan=1.0)
    assert reach["relative_degree"]["others"] == pytest.approx(relative[share > 0].mean())
    found = reach["rank_correlation"]["degree"]
    assert found == pytest.approx(spearmanr(degree, share).statistic)


def test_the_mass_is_all_there_is(
    arguments: tuple[Any, ...], s1: np.ndarray[Any, Any], far: np.ndarray[Any, Any]
) -> None:
    found = measure(*arguments, top=TOP)
    assert sum(found["mass"].values()) == pytest.approx(1)
    beyond = found["mass"]["beyond"] + found["mass"]["elsewhere"]
    assert beyond == pytest.approx((s1 * far).sum(axis=1).mean())
    blind = found["uniform"]["beyond"] + found["uniform"]["elsewhere"]
    assert blind == pytest.approx(far.mean())


@pytest.mark.parametrize("node", [1, 39])
def test_a_case_is_the_ego_graph_and_its_shortcuts(
    case: Case, arguments: tuple[Any, ...], s1: np.ndarray[Any, Any], node: int
) -> None:
    found = ego_case(*arguments, node=node, top=TOP)
    ego = nx.ego_graph(case.graph, node, radius=3)
    weight = s1[node].copy()
    weight[node] = -1
    others = np.argsort(-weight.round(12), kind="stable")[:TOP].tolist()
    assert found["shortcuts"] == others
    assert found["weights"] == pytest.approx(s1[node][others].tolist())
    assert found["nodes"] == sorted({*ego.nodes, *others})
    assert sorted(map(tuple, found["edges"])) == sorted(tuple(sorted(e)) for e in ego.edges)
    assert found["classes"] == [other % 3 for other in found["nodes"]]
    lengths = nx.single_source_shortest_path_length(case.graph, node)
    assert found["hops"] == [lengths.get(other, -1) for other in found["nodes"]]
