"""How far confidence can be trusted, and one number that mends most of it.

N nodes, C classes, B bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax

__all__ = ["FEWEST", "Reliability", "expected_calibration_error", "fit_temperature", "reliability"]

Array = np.ndarray
LOWEST, HIGHEST = 0.05, 20.0
FEWEST = 10
"""Fewer validation nodes than this say too little to scale by."""


def fit_temperature(logits: Array, y: Array) -> float:
    r"""Return the T for which ``softmax(logits / T)`` is most likely (Guo et al., 2017).

    One more node, of which every class is equally likely to be true, is counted with the others:
    :math:`\sum_i -\log p_{i,y_i} + \frac{1}{NC} \sum_{i,c} -\log p_{i,c}` is least. It matters
    where validation nodes are few and all predicted rightly; without it they would make the model
    certain of everything.

    Args:
        logits: of validation nodes, (N, C).
        y: their classes, (N,).
    """
    from scipy.optimize import minimize_scalar

    def loss(log_temperature: float) -> float:
        logs = log_softmax(logits / np.exp(log_temperature), axis=1)
        return float(-logs[np.arange(len(y)), y].sum() - logs.mean())

    bounds = (np.log(LOWEST), np.log(HIGHEST))
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(found.x))


@dataclass(frozen=True)
class Reliability:
    """Confidence against accuracy in bins of equal width; empty bins are left out."""

    confidence: list[float]
    accuracy: list[float]
    count: list[int]

    @property
    def error(self) -> float:
        """Return the mean gap between the two, weighted by the bins' counts."""
        gaps = np.abs(np.subtract(self.confidence, self.accuracy))
        return float(np.average(gaps, weights=self.count))


def reliability(probabilities: Array, y: Array, bins: int = 15) -> Reliability:
    """Return the reliability curve of predictions (N, C) of nodes with the classes ``y`` (N,)."""
    if len(y) == 0:
        raise ValueError("calibration needs at least one node with a known class")
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == y
    number = np.minimum((confidence * bins).astype(int), bins - 1)  # (N,)
    count = np.bincount(number, minlength=bins)
    filled = count > 0
    sums = [np.bincount(number, weights, bins)[filled] for weights in (confidence, right)]
    means = [(total / count[filled]).tolist() for total in sums]
    return Reliability(means[0], means[1], count[filled].tolist())


def expected_calibration_error(logits: Array, y: Array, temperature: float = 1.0) -> float:
    """Return the calibration error of ``softmax(logits / temperature)``."""
    return reliability(softmax(logits / temperature, axis=1), y).error
