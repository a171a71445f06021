# N nodes. A model with random weights on a small graph, and what it does as dense formulas.
from __future__ import annotations

from dataclasses import asdict
from typing import Any

import networkx as nx
import torch
from torch import Tensor

from bagcn.data.synthetic import synthetic_graph
from bagcn.nn import BAGCN
from explain import dense_attention as dense
from nn.dense import Switches, adjacency

NODES, FEATURES, HIDDEN, CLASSES = 40, 7, 6, 3
EXACT = {"atol": 1e-10, "rtol": 1e-8}


class Case:
    """A small graph in two components, with an isolated node, and a model with random weights."""

    def __init__(self, switches: Switches) -> None:
        data = synthetic_graph(NODES, num_classes=2, regions_per_class=2, num_features=FEATURES)
        kept = (data.edge_index != 5).all(dim=0)
        self.x, self.edges, self.s = data.x, data.edge_index[:, kept], switches
        arguments: dict[str, Any] = asdict(switches)
        self.model = BAGCN(FEATURES, HIDDEN, CLASSES, **arguments)
        dense.trained_like(self.model, 3)
        self.w, self.a = dense.weights_of(self.model), adjacency(self.edges, NODES)
        self.graph = nx.Graph()
        self.graph.add_nodes_from(range(NODES))
        self.graph.add_edges_from(self.edges.T.tolist())

    def predict(self, **allowed: Tensor) -> Tensor:
        return dense.predict(self.w, self.x.double(), self.a, self.s, **allowed)

    def weights(self) -> Tensor:
        """The share of every node in every prediction, (N, N)."""
        s_1, s_2 = (
            scores.softmax(1) for scores in dense.attention(self.w, self.x.double(), self.a, self.s)
        )
        smoothed = self.a @ s_1 / self.a.sum(1, keepdim=True)
        return smoothed if self.s.inference == "gcn" else (smoothed + s_2) / 2

    def hops(self) -> Tensor:
        out = torch.full((NODES, NODES), -1)
        for node, found in nx.all_pairs_shortest_path_length(self.graph):
            out[node, list(found)] = torch.tensor(list(found.values()))
        return out
