"""The paper's equations, written plainly: what the fast implementation is measured against.

N nodes, F features, D hidden, C classes. Features, adjacency and attention are dense N × F and
N × N matrices; nothing is prepared beyond Â itself.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class DenseBAGCN(nn.Module):
    """BAGCN-add with the same switches as the package's recipe, from dense matrices."""

    def __init__(
        self, in_channels: int, hidden: int, classes: int, input_dropout: float, dropout: float
    ) -> None:
        super().__init__()
        self.local = nn.Linear(in_channels, hidden, bias=False)
        self.ego = nn.Linear(in_channels, hidden, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(4))
        self.metrics = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(hidden, hidden)) for _ in range(2)
        )
        self.gcn, self.fc = nn.Linear(hidden, classes), nn.Linear(hidden, classes)
        self.rates = input_dropout, dropout
        self.scale = 1 / math.sqrt(hidden)

    def forward(self, x: Tensor, adjacency: Tensor) -> tuple[Tensor, Tensor]:
        """Return both views' logits from X (N, F) and Â (N, N)."""
        first = F.dropout(x, self.rates[0], self.training)
        second = F.dropout(x, self.rates[0], self.training)
        local = self.norms[0](adjacency @ self.local(first)).relu()  # (N, D)
        ego = self.norms[1](self.ego(second)).relu()
        s1 = (local @ self.metrics[0] @ ego.T * self.scale).softmax(-1)  # (N, N)
        s2 = (ego @ self.metrics[1] @ local.T * self.scale).softmax(-1)
        fused_local = F.dropout(self.norms[2](local + s1 @ ego), self.rates[1], self.training)
        fused_ego = F.dropout(self.norms[3](ego + s2 @ local), self.rates[1], self.training)
        return self.gcn(adjacency @ fused_local), self.fc(fused_ego)


def dense_loss(gcn: Tensor, fc: Tensor, y: Tensor, train: Tensor) -> Tensor:
    """Return cross-entropy plus the two-view consistency with T = 0.7."""
    p, q = gcn.softmax(-1), fc.softmax(-1)
    target = ((p + q) / 2).detach() ** (1 / 0.7)
    target = target / target.sum(-1, keepdim=True)
    distance = ((target - p) ** 2 + (target - q) ** 2).sum(-1) / 2
    return F.cross_entropy(gcn[train], y[train]) + distance.mean()


def dense_epoch(
    model: DenseBAGCN,
    optimizer: torch.optim.Optimizer,
    x: Tensor,
    adjacency: Tensor,
    y: Tensor,
    train: Tensor,
) -> Tensor:
    """Take a training step, then predict all nodes in evaluation mode."""
    model.train()
    optimizer.zero_grad()
    dense_loss(*model(x, adjacency), y, train).backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        return model(x, adjacency)[0].argmax(-1)
