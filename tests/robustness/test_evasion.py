from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

from bagcn.data import public_split
from bagcn.robustness.evasion import Attack, Search, flip_edges
from bagcn.study.models import build_model
from bagcn.training import Member, Task, train
from bagcn.training.settings import TrainSettings

SEARCH = Search(block=1_000, steps=25)


def pairs(edges: Tensor) -> set[tuple[int, int]]:
    found = {(int(i), int(j)) for i, j in edges.T}
    assert {(j, i) for i, j in found} == found, "one direction is missing"
    assert len(found) == edges.shape[1], "an edge is there twice"
    return {(i, j) for i, j in found if i <= j}


def trained(name: str, graph: Data) -> tuple[nn.Module, Tensor]:
    split = public_split(graph)
    task = Task(graph.x, graph.edge_index, graph.y)

    def build(features: int, classes: int) -> nn.Module:
        return build_model(name, {"hidden_channels": 8}, features, classes)

    settings = TrainSettings(epochs=40, lr=0.05)
    (result,) = train(build, task, [Member(0, split)], settings, keep_weights=True)
    model = build(task.num_features, task.num_classes)
    model.load_state_dict(result.weights or {})
    return model.eval(), torch.as_tensor(split.test)


def right(model: nn.Module, graph: Data, edges: Tensor, nodes: Tensor) -> float:
    with torch.no_grad():
        found = model(graph.x, edges).argmax(-1) == graph.y
    return float(found[nodes].double().mean())


@pytest.mark.parametrize("name", ["gcn", "bagcn-add", "bagcn-mul", "gat", "sgformer"])
def test_it_flips_no_more_than_it_may_and_fools_the_model(name: str, tiny_graph: Data) -> None:
    model, nodes = trained(name, tiny_graph)
    before, edges = pairs(tiny_graph.edge_index), tiny_graph.edge_index
    changed = flip_edges(
        model, tiny_graph.x, edges, tiny_graph.y, nodes, 0.2, seed=1, search=SEARCH
    )
    after = pairs(changed)
    assert 0 < len(before ^ after) <= len(before) // 5
    assert all(i != j for i, j in after)
    clean, fooled = (right(model, tiny_graph, e, nodes) for e in (edges, changed))
    assert fooled < clean - 0.05
    if name == "gcn":
        again = flip_edges(
            model, tiny_graph.x, edges, tiny_graph.y, nodes, 0.2, seed=1, search=SEARCH
        )
        assert torch.equal(changed, again)
        blind = flip_edges(
            model, tiny_graph.x, edges, tiny_graph.y, nodes, 0.2, search=Search(1_000, 25, lr=0.0)
        )
        assert fooled < right(model, tiny_graph, blind, nodes)


def test_attacks_are_read_by_name() -> None:
    assert Attack.parse("adaptive:0.05") == Attack("adaptive", 0.05)
    assert Attack.parse("transfer:1") == Attack("transfer", 1.0)
    with pytest.raises(ValueError, match="did you mean 'adaptive'"):
        Attack.parse("adaptiv:0.05")
    for text in ("adaptive", "adaptive:much", "adaptive:0", "transfer:1.5"):
        with pytest.raises(ValueError, match=f"cannot read the attack '{text}'"):
            Attack.parse(text)
