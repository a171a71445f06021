"""What the shortcuts of one trained model do, over all nodes of its graph (section 4.3).

N nodes, K shortcuts of each.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from scipy.stats import spearmanr
from torch import Tensor, nn

from bagcn.explain import (
    Distances,
    attention_mass,
    cut_shortcuts,
    iter_shortcuts,
    label_agreement,
    shortcuts,
)
from bagcn.ops import Matrix, SparseMatrix

__all__ = ["FAR", "ego_case", "measure"]

FAR = 3
"""The paper calls nodes outside the 3-hop neighbourhood distant."""


def measure(
    model: nn.Module, x: Matrix, adjacency: SparseMatrix, y: Tensor, top: int = 10
) -> dict[str, Any]:
    """Return all numbers about the model's shortcuts, as plain data.

    Args:
        model: a trained BAGCN.
        x: features, as it was trained on.
        adjacency: prepared.
        y: classes (N,).
        top: K.
    """
    mass = attention_mass(model, x, adjacency, max_hops=FAR)
    parts = (model, x, adjacency, y, top)
    return {
        "top": top,
        "nodes": len(y),
        "mass": mass.summary()["mass"],
        "uniform": mass.summary()["uniform"],
        "spread": {
            "mean": mass.spread.mean().item(),
            "median": mass.spread.median().item(),
        },
        "reach": _reach(model, x, adjacency, top),
        "agreement": {
            str(least): [asdict(group) for group in label_agreement(*parts, min_hops=least)]
            for least in (2, FAR + 1)
        },
        "cut": asdict(cut_shortcuts(*parts, min_hops=FAR + 1)),
    }


def _reach(model: nn.Module, x: Matrix, adjacency: SparseMatrix, top: int) -> dict[str, Any]:
    """Say how far the K largest entries of every row of S1 reach, and in which nodes not far.

    The paper draws these, whichever their distance, and remarks that nodes without distant ones
    have more neighbours than others, also in comparison with their neighbours.
    """
    hops = torch.cat(
        [found.hops for found in iter_shortcuts(model, x, adjacency, top, weights="S1", min_hops=0)]
    )  # (N, K)
    far = ((hops > FAR) | (hops < 0)).double().mean(1)  # (N,)
    degree, relative = _degrees(adjacency)
    without = far == 0
    return {
        "far": far.mean().item(),
        "all_far": (far == 1).double().mean().item(),
        "without_far": int(without.sum()),
        "degree": {
            "mean": degree.mean().item(),
            "without_far": _mean(degree[without]),
            "others": _mean(degree[~without]),
        },
        "relative_degree": {
            "without_far": _mean(relative[without].nan_to_num(1.0)),
            "others": _mean(relative[~without].nan_to_num(1.0)),
        },
        "rank_correlation": {
            "degree": _correlation(degree, far),
            "relative_degree": _correlation(relative.nan_to_num(1.0), far),
        },
    }


def _degrees(adjacency: SparseMatrix) -> tuple[Tensor, Tensor]:
    """Return the number of neighbours, and its ratio to the mean of the neighbours' own."""
    row, col = adjacency.pattern.row.long(), adjacency.pattern.col.long()
    other = row != col
    row, col = row[other], col[other]
    size = adjacency.shape[0]
    degree = torch.bincount(row, minlength=size).double()
    around = torch.zeros(size, dtype=torch.float64).index_add_(0, row, degree[col])
    return degree, degree * degree / around


def _mean(values: Tensor) -> float | None:
    return values.mean().item() if len(values) else None


def _correlation(first: Tensor, second: Tensor) -> float | None:
    """Return Spearman's rank correlation; nothing where one of both is constant."""
    if (first == first[0]).all() or (second == second[0]).all():
        return None
    return float(spearmanr(first.numpy(), second.numpy()).statistic)


def ego_case(
    model: nn.Module, x: Matrix, adjacency: SparseMatrix, y: Tensor, node: int, top: int = 10
) -> dict[str, Any]:
    """Return what the figure draws: the 3-hop ego graph of a node and its K largest of S1.

    Args:
        model: see :func:`measure`, like the arguments that are not listed here.
        x: features.
        adjacency: prepared.
        y: classes.
        node: in the middle.
        top: K.
    """
    hops = Distances(adjacency)(torch.tensor([node]))[0]
    inside = (hops >= 0) & (hops <= FAR)
    found = shortcuts(model, x, adjacency, torch.tensor([node]), top, weights="S1", min_hops=1)
    others = [other for other in found.others[0].tolist() if other >= 0]
    row, col = adjacency.pattern.row.long(), adjacency.pattern.col.long()
    drawn = inside[row] & inside[col] & (row < col)
    nodes = sorted({*inside.nonzero()[:, 0].tolist(), *others})
    return {
        "node": node,
        "nodes": nodes,
        "classes": y[nodes].tolist(),
        "hops": hops[nodes].tolist(),
        "edges": torch.stack([row[drawn], col[drawn]], dim=1).tolist(),
        "shortcuts": others,
        "weights": found.weight[0, : len(others)].tolist(),
    }
