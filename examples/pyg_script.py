"""Train BAGCN, and a network of your own around its layer, in a PyTorch Geometric script.

    python examples/pyg_script.py [EPOCHS]

The batches are subgraphs around some labelled nodes, as ``NeighborLoader`` makes them. It needs
pyg-lib or torch-sparse; where neither is installed, ``k_hop_subgraph`` does the same without
leaving out any neighbour. In training the shortcuts lead to the nodes of a batch, in the
evaluation to all nodes of the graph.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric import typing as installed
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import GCNConv
from torch_geometric.utils import k_hop_subgraph

from bagcn import BAGCN, BiaffineLayer
from bagcn.data import load
from bagcn.nn import consistency
from bagcn.ops import normalized_adjacency

Loss = Callable[[nn.Module, Data], Tensor]
BATCH = 70


class OwnNetwork(nn.Module):
    """A network of one's own: the biaffine layer, then a graph convolution on both its views."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int) -> None:
        super().__init__()
        self.layer = BiaffineLayer(in_channels, hidden_channels, input_dropout=0.6)
        self.conv = GCNConv(2 * hidden_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Return logits, (N, C)."""
        local, ego = self.layer(x, normalized_adjacency(edge_index, num_nodes=len(x)))
        hidden = F.dropout(torch.cat([local, ego], dim=1), 0.5, self.training)
        return self.conv(hidden, edge_index)


def batches(data: Data) -> Iterator[Data]:
    """Yield subgraphs around the training nodes; their first ``batch_size`` nodes are these."""
    if installed.WITH_PYG_LIB or installed.WITH_TORCH_SPARSE:
        yield from NeighborLoader(
            data, [15, 15], input_nodes=data.train_mask, batch_size=BATCH, shuffle=True
        )
        return
    nodes = data.train_mask.nonzero()[:, 0]
    for seeds in nodes[torch.randperm(len(nodes))].split(BATCH):
        around, _, _, _ = k_hop_subgraph(seeds, 2, data.edge_index)
        order = torch.cat([seeds, around[~torch.isin(around, seeds)]])
        batch = data.subgraph(order)
        batch.batch_size = len(seeds)
        yield batch


def own_loss(model: nn.Module, batch: Data) -> Tensor:
    """The usual loss: the cross-entropy of the batch's training nodes."""
    logits = model(batch.x, batch.edge_index)
    return F.cross_entropy(logits[: batch.batch_size], batch.y[: batch.batch_size])


def two_views_loss(model: nn.Module, batch: Data) -> Tensor:
    """The paper's loss: its two views are to agree, on the nodes without labels too."""
    gcn, fc = model.predict_views(batch.x, batch.edge_index)
    supervised = F.cross_entropy(gcn[: batch.batch_size], batch.y[: batch.batch_size])
    return supervised + consistency(gcn, fc, temperature=0.7)


def train(model: nn.Module, data: Data, loss_of: Loss, epochs: int) -> float:
    """Train, and return the test accuracy where the validation accuracy was best."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best = (0.0, 0.0)
    for epoch in range(1, epochs + 1):
        model.train()
        for batch in batches(data):
            optimizer.zero_grad()
            loss_of(model, batch).backward()
            optimizer.step()
        if epoch % 5 == 0:
            best = max(best, accuracies(model, data), key=lambda found: found[0])
    return best[1]


@torch.no_grad()
def accuracies(model: nn.Module, data: Data) -> tuple[float, float]:
    """Return the accuracies on the validation and on the test nodes of the whole graph."""
    right = model.eval()(data.x, data.edge_index).argmax(1) == data.y
    return float(right[data.val_mask].float().mean()), float(right[data.test_mask].float().mean())


def main(epochs: int = 40) -> dict[str, float]:
    """Train both networks on Cora, print and return their test accuracies."""
    torch.manual_seed(0)
    data = load("cora", offline=True)
    data.x = data.x.to_dense()
    classes = int(data.y.max()) + 1
    found = {
        "BAGCN": train(BAGCN(data.num_features, 64, classes), data, two_views_loss, epochs),
        "own network": train(OwnNetwork(data.num_features, 64, classes), data, own_loss, epochs),
    }
    for name, accuracy in found.items():
        print(f"{name}: {accuracy:.1%} of the test nodes are right")
    return found


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
