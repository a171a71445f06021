"""The classifier of models that learn without labels: logistic regression on their embeddings.

N nodes, D embedding, C classes.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from bagcn.data import Split

__all__ = ["STRENGTHS", "fit_probe"]

STRENGTHS = tuple(4.0**k for k in range(-8, 5))
"""The inverse regularisations that validation chooses among.

Hundreds of columns of some hundred nodes want strong ones: on Citeseer 4^-6 is often the best.
"""

NEVER = -1e9
"""The logit of a class without a training node: it is not predicted, and its loss is finite."""


def fit_probe(embedding: Tensor, y: Tensor, split: Split, classes: int) -> tuple[Tensor, Tensor]:
    """Return weight (D, C) and bias (C,) of the classifier that validates best.

    Every strength is fitted on the training nodes; the highest validation accuracy wins, ties go
    to the stronger regularisation. The columns are standardised by the training nodes, which the
    returned map undoes.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    values, labels = embedding.double().cpu().numpy(), y.cpu().numpy()
    train, val = split.train.numpy(), split.val.numpy()
    scaler = StandardScaler().fit(values[train])
    scaled = {"train": scaler.transform(values[train]), "val": scaler.transform(values[val])}
    best, best_accuracy = None, -1.0
    for strength in STRENGTHS:
        candidate = LogisticRegression(C=strength, max_iter=1000)
        candidate.fit(scaled["train"], labels[train])
        accuracy = float((candidate.predict(scaled["val"]) == labels[val]).mean())
        if accuracy > best_accuracy:
            best, best_accuracy = candidate, accuracy
    assert best is not None
    weight = np.zeros((values.shape[1], classes))
    bias = np.full(classes, NEVER)
    coefficients, intercept = _one_row_a_class(best.coef_, best.intercept_)
    weight[:, best.classes_] = (coefficients / scaler.scale_).T
    bias[best.classes_] = intercept - (coefficients / scaler.scale_) @ scaler.mean_
    return torch.from_numpy(weight).to(embedding), torch.from_numpy(bias).to(embedding)


def _one_row_a_class(coefficients: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, ...]:
    """Write scikit-learn's single row for two classes as one row for each."""
    if len(coefficients) > 1:
        return coefficients, intercept
    return np.concatenate([-coefficients, coefficients]) / 2, np.concatenate(
        [-intercept, intercept]
    ) / 2
