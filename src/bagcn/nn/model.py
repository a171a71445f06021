"""BAGCN: the network of the paper, its two predictors and its objective.

N nodes, F features, D hidden, C classes, E edges.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from bagcn.nn.attention import Precision
from bagcn.nn.layer import Attention, BiaffineLayer, Field, Fusion, Pair, _one_of
from bagcn.nn.loss import Target, consistency
from bagcn.ops import (
    Linear,
    Matrix,
    SparseMatrix,
    as_matrix,
    cross_entropy,
    dropout,
    normalized_adjacency,
    sharpened_cross_entropy,
)

__all__ = ["BAGCN"]


class BAGCN(nn.Module):
    r"""The biaffine graph convolutional network from "Building Shortcuts between Distant Nodes
    with Biaffine Mapping for Graph Convolutional Networks".

    .. math::
        \hat Y_{gcn} = \mathrm{softmax}(\hat A H_c' W_c), \qquad
        \hat Y_{fc} = \mathrm{softmax}(f_{MLP}(H_{ego}')), \qquad
        \mathcal L = \mathcal L_{GCN} + \lambda \mathcal L_{con}

    with :math:`H_c', H_{ego}'` from :class:`~bagcn.nn.BiaffineLayer`.

    =====================  ==========================  ==========================================
    argument               in the paper                values
    =====================  ==========================  ==========================================
    ``in_channels``        :math:`f`
    ``hidden_channels``    :math:`d`                   32, 64, 128
    ``out_channels``       :math:`C`
    ``fusion``             :math:`+` or :math:`\odot`  ``"add"`` (default), ``"mul"``
    ``pair``               section 4.3                 ``"ego-local"``, ``"ego-ego"``,
                                                       ``"local-local"``
    ``attention``          :math:`S_1, S_2`            ``"exact"``, ``"none"`` (w/o BA)
    ``scale``              1                           ``None`` for :math:`1/\sqrt d`
    ``num_hops``           1                           hops of the local field
    ``input_dropout``      dropout ratio               of the features
    ``dropout``            dropout ratio               before the two predictors
    ``inference``          :math:`\hat Y_{gcn}`        ``"gcn"``, ``"mean"`` of both views
    ``consistency``        :math:`\lambda`             1; 0 is w/o CL
    ``temperature``        :math:`\mathcal T`          0.7; 1 is w/o S
    ``target``             Eq. 12, or CL2              ``"mean"``, ``"pairwise"``
    =====================  ==========================  ==========================================

    The paper divides the cross-entropy of the labelled nodes by C, here it is their mean: with
    Adam the two differ by a factor on :math:`\lambda` only.

    Args:
        in_channels: see the table, like the arguments that are not listed here.
        hidden_channels: see the table.
        out_channels: see the table.
        activation: after the fused normalisation, ``"relu"`` or ``"none"``.
        warmup: epochs over which :math:`\lambda` grows linearly from 0.
        confidence: the consistency is asked only of nodes predicted with more than this.
        field: ``"last"`` or ``"mean"`` of the hops, see :class:`~bagcn.nn.BiaffineLayer`.
        node_dropout: of whole nodes' features in the local field.
        passes: through the network in every step, each with its own dropout; both views of all
            passes take part in the consistency.
        ego_supervision: weight of the labelled nodes' cross-entropy in the ego view.
        sharpening: weight of transductive sharpening in the GCN view, see
            :func:`bagcn.ops.sharpened_cross_entropy`.
        precision: of the attention's products, ``"auto"``, ``"fp32"`` or ``"bf16"``.
    """

    def __init__(
        self,
        in_channels: int,
        hidden_channels: int,
        out_channels: int,
        *,
        fusion: Fusion = "add",
        pair: Pair = "ego-local",
        attention: Attention = "exact",
        scale: float | None = None,
        num_hops: int = 1,
        field: Field = "last",
        node_dropout: float = 0.0,
        input_dropout: float = 0.6,
        dropout: float = 0.4,
        activation: Literal["relu", "none"] = "none",
        inference: Literal["gcn", "mean"] = "gcn",
        consistency: float = 1.0,
        temperature: float = 0.7,
        target: Target = "mean",
        warmup: int = 0,
        confidence: float = 0.0,
        passes: int = 1,
        ego_supervision: float = 0.0,
        sharpening: float = 0.0,
        precision: Precision = "auto",
    ) -> None:
        super().__init__()
        _one_of("inference", inference, ("gcn", "mean"))
        _one_of("target", target, ("mean", "pairwise"))
        if temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {temperature}")
        if passes < 1:
            raise ValueError(f"passes must be at least 1, got {passes}")
        if warmup < 0:
            raise ValueError(f"warmup must not be negative, got {warmup}")
        self.layer = BiaffineLayer(
            in_channels,
            hidden_channels,
            fusion=fusion,
            pair=pair,
            attention=attention,
            scale=scale,
            num_hops=num_hops,
            field=field,
            node_dropout=node_dropout,
            input_dropout=input_dropout,
            activation=activation,
            precision=precision,
        )
        self.gcn_predictor = Linear(hidden_channels, out_channels)  # W_c
        self.fc_predictor = Linear(hidden_channels, out_channels)  # f_MLP
        self.dropout, self.inference = dropout, inference
        self.consistency, self.temperature, self.target = consistency, temperature, target
        self.warmup, self.confidence = warmup, confidence
        self.passes = passes
        self.ego_supervision: float | Tensor = ego_supervision
        self.sharpening: float | Tensor = sharpening

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        for module in (self.layer, self.gcn_predictor, self.fc_predictor):
            module.reset_parameters()

    def prepare(
        self, x: Matrix, edge_index: Tensor, edge_weight: Tensor | None = None
    ) -> tuple[Matrix, SparseMatrix]:
        """Return what is computed from the graph once: features fit for products, and Â."""
        size = x.shape[0]
        dtype = self.gcn_predictor.weight.dtype
        return as_matrix(x), normalized_adjacency(edge_index, edge_weight, size, dtype=dtype)

    def predict_views(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        r"""Return the logits of both views, :math:`\hat Y_{gcn}` and :math:`\hat Y_{fc}`."""
        if isinstance(edge_index, Tensor):
            x, edge_index = self.prepare(x, edge_index, edge_weight)
        local, ego = self.layer(x, edge_index)
        local = dropout(local, self.dropout, self.training)
        ego = dropout(ego, self.dropout, self.training)
        gcn = edge_index @ (local @ self.gcn_predictor.weight) + self.gcn_predictor.bias
        return gcn, self.fc_predictor(ego)

    def forward(
        self, x: Matrix, edge_index: Tensor | SparseMatrix, edge_weight: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, C): the GCN view's, or the log of both views' mean probability.

        Args:
            x: features (N, F): dense, sparse CSR or a prepared matrix.
            edge_index: edges (2, E), or the adjacency that :meth:`prepare` returned.
            edge_weight: weights (E,) of the edges; unused with a prepared adjacency.
        """
        gcn, fc = self.predict_views(x, edge_index, edge_weight)
        if self.inference == "gcn":
            return gcn
        return torch.logaddexp(gcn.log_softmax(-1), fc.log_softmax(-1)) - math.log(2)

    def objective(
        self, x: Matrix, edge_index: SparseMatrix, y: Tensor, labelled: Tensor, epoch: Tensor
    ) -> Tensor:
        r"""Return the loss of one training step, :math:`\mathcal L_{GCN}+\lambda\mathcal L_{con}`.

        Args:
            x: features (N, F).
            edge_index: the prepared adjacency.
            y: classes (N,).
            labelled: which nodes' classes may be used, (N,) bool.
            epoch: the epoch, from 0, as a scalar tensor.
        """
        pairs = [self.predict_views(x, edge_index) for _ in range(self.passes)]
        disagreement = consistency(
            *(logits for pair in pairs for logits in pair),
            temperature=self.temperature,
            target=self.target,
            confidence=self.confidence,
        )
        ramp: float | Tensor = 1.0
        if self.warmup:
            ramp = ((epoch + 1).to(disagreement.dtype) / self.warmup).clamp(max=1.0)
        supervised = (
            sum(sharpened_cross_entropy(gcn, y, labelled, self.sharpening) for gcn, _ in pairs)
            / self.passes
        )
        if isinstance(self.ego_supervision, Tensor) or self.ego_supervision > 0:
            ego = sum(cross_entropy(fc, y, labelled) for _, fc in pairs) / self.passes
            supervised = supervised + self.ego_supervision * ego
        return supervised + self.consistency * ramp * disagreement
