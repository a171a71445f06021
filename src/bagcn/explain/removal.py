r"""Predictions with some of the attention masked.

B nodes, R ways to cut, K nodes cut in each, C classes, D hidden, P rows of the attention that are
read, N nodes.

Masking the keys J of a row and normalising again gives

.. math::
    \frac{\sum_j S_{mj} h_j - \sum_{j \in J} S_{mj} h_j}{1 - \sum_{j \in J} S_{mj}}

which costs K products instead of N for each way to cut. Where next to nothing of the row is left,
the difference would lose its digits, and the masked softmax is computed instead.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from bagcn.explain.opened import Direction, Opened, Weights, entries
from bagcn.nn import attention_weights

__all__ = ["probabilities", "probabilities_with_only", "probabilities_without"]

LITTLE = 1e-6


def probabilities(opened: Opened, nodes: Tensor) -> Tensor:
    """Return the class probabilities of some nodes, (B, C), as the whole model gives them."""
    nothing = nodes.new_empty(len(nodes), 1, 0)
    return probabilities_without(opened, nodes, nothing)[:, 0]


@torch.no_grad()
def probabilities_without(
    opened: Opened, nodes: Tensor, cut: Tensor, weights: Weights = "prediction"
) -> Tensor:
    """Return the class probabilities with shortcuts cut, (B, R, C).

    Args:
        opened: the model on its graph.
        nodes: whose predictions, (B,).
        cut: (B, R, K); in each of R ways, these K nodes are masked and the attention is normalised
            again. -1 stands for no node.
        weights: in which rows: ``"prediction"`` masks them in all rows that the prediction reads
            (those of the node and its neighbours in S1; in S2, which the mean of both views
            reads, the node's own), ``"S1"`` and ``"S2"`` in the node's own row of that matrix.
    """
    gcn = _gcn_logits(opened, nodes, cut, weights)
    if not opened.uses_both:
        return gcn.softmax(-1)
    own = torch.arange(len(nodes), device=nodes.device)
    cut = cut if weights != "S1" else torch.full_like(cut, -1)
    attended = _Rows(opened, "S2", nodes).without(own, cut)  # (B, R, D)
    return (gcn.softmax(-1) + _fc_logits(opened, nodes, attended).softmax(-1)) / 2


def _gcn_logits(opened: Opened, nodes: Tensor, cut: Tensor, weights: Weights) -> Tensor:
    owner, reads, value = entries(opened.adjacency, nodes)
    unique, place = torch.unique(reads, return_inverse=True)
    out = value.new_zeros(len(nodes), cut.shape[1], opened.local.shape[1])
    step = opened.rows_at_once
    for start in range(0, len(unique), step):
        rows = _Rows(opened, "S1", unique[start : start + step])
        here = ((place >= start) & (place < start + step)).nonzero().flatten()
        masked = cut[owner[here]]  # (P, R, K)
        if weights != "prediction":
            own = (reads == nodes[owner])[here] & (weights == "S1")
            masked = torch.where(own[:, None, None], masked, -1)
        attended = rows.without(place[here] - start, masked)  # (P, R, D)
        hidden = _fused(opened, opened.local[reads[here]], attended, local=True)
        out.index_add_(0, owner[here], hidden * value[here, None, None])
    logits: Tensor = opened.model.gcn_predictor(out)
    return logits


class _Rows:
    """Some rows of the attention, and what their queries receive."""

    def __init__(self, opened: Opened, which: Direction, nodes: Tensor) -> None:
        self.query, self.keys = opened.query(which, nodes), opened.keys(which)
        self.scale = opened.model.layer.scale
        self.weights = attention_weights(self.query, self.keys, self.scale)
        self.attended = self.weights @ self.keys  # (U, D)

    def without(self, place: Tensor, cut: Tensor) -> Tensor:
        """Return what the rows at ``place`` (P,) receive without the keys ``cut`` (P, R, K)."""
        mass = self.weights[place[:, None, None], cut.clamp_min(0)] * (cut >= 0)
        removed = torch.einsum("prk,prkd->prd", mass, self.keys[cut.clamp_min(0)])
        left = 1 - mass.sum(-1, keepdim=True)  # (P, R, 1)
        out = (self.attended[place][:, None] - removed) / left.clamp_min(LITTLE)
        for row, way in (left[..., 0] < LITTLE).nonzero().tolist():
            masked = cut[row, way]
            out[row, way] = self._masked(int(place[row]), masked[masked >= 0])
        return out

    def _masked(self, row: int, cut: Tensor) -> Tensor:
        scores = self.query[row] @ self.keys.T * self.scale
        return scores.index_fill(0, cut, -math.inf).softmax(-1) @ self.keys


@torch.no_grad()
def probabilities_with_only(opened: Opened, node: int, keep: Tensor) -> Tensor:
    """Return the node's class probabilities if the attention sees the nodes ``keep`` only, (C,).

    The masks are those of :func:`probabilities_without`, for all nodes but these.
    """
    own = torch.tensor([node], device=keep.device)
    _, reads, value = entries(opened.adjacency, own)
    attended = _attend(opened, "S1", reads, keep)[:, None]  # (P, 1, D)
    hidden = _fused(opened, opened.local[reads], attended, local=True)[:, 0]
    gcn: Tensor = opened.model.gcn_predictor(value @ hidden).softmax(-1)  # (C,)
    if not opened.uses_both:
        return gcn
    fc = _fc_logits(opened, own, _attend(opened, "S2", own, keep)[:, None])[0, 0]
    return (gcn + fc.softmax(-1)) / 2


def _attend(opened: Opened, which: Direction, nodes: Tensor, keep: Tensor) -> Tensor:
    keys = opened.keys(which)[keep]
    query = opened.query(which, nodes)
    return attention_weights(query, keys, opened.model.layer.scale) @ keys


def _fc_logits(opened: Opened, nodes: Tensor, attended: Tensor) -> Tensor:
    logits: Tensor = opened.model.fc_predictor(
        _fused(opened, opened.ego[nodes], attended, local=False)
    )
    return logits


def _fused(opened: Opened, view: Tensor, attended: Tensor, *, local: bool) -> Tensor:
    """Fuse, normalise and activate as the layer does, row by row: (P, R, D)."""
    layer = opened.model.layer
    norm = layer.local_norm if local else layer.ego_norm
    fused = layer._fuse(view[:, None], attended)
    hidden: Tensor = norm(fused.flatten(0, 1)).view(fused.shape)
    return hidden.relu() if layer.activation == "relu" else hidden
