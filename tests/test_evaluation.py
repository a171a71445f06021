"""The evaluation against scikit-learn and dense formulas, and its picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from matplotlib.image import imread
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix, f1_score

from bagcn import NodeClassifier
from bagcn.evaluation import evaluate, label_propagation, logistic_regression, picture


@pytest.fixture(scope="module")
def fitted(_tiny: Any) -> NodeClassifier:
    names = np.array(["ash", "beech", "cedar"])[_tiny.y.numpy()]
    return NodeClassifier(epochs=6, hidden_channels=8, device="cpu").fit(_tiny, names)


@pytest.fixture(scope="module")
def found(fitted: NodeClassifier) -> dict[str, Any]:
    return evaluate(fitted)


def truth(fitted: NodeClassifier) -> tuple[list[str], list[str]]:
    nodes = fitted.split_.test
    return [fitted.classes_[i] for i in fitted.task_.y[nodes]], fitted.predict()[nodes].tolist()


def test_scores(fitted: NodeClassifier, found: dict[str, Any]) -> None:
    y, predicted = truth(fitted)
    assert (found["part"], found["nodes"]) == ("test", len(y))
    assert found["accuracy"] == accuracy_score(y, predicted) == fitted.score()
    assert found["macro_f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    report = classification_report(y, predicted, output_dict=True, zero_division=0)
    for row in found["per_class"]:
        expected = report[row["class"]]
        assert row["nodes"] == expected["support"]
        for key, name in (("precision",) * 2, ("recall",) * 2, ("f1", "f1-score")):
            assert row[key] == pytest.approx(expected[name])
    assert found["confusion"] == confusion_matrix(y, predicted).tolist()


def test_calibration_is_of_the_scaled_probabilities(
    fitted: NodeClassifier, found: dict[str, Any]
) -> None:
    chances = fitted.predict_proba()[fitted.split_.test.numpy()]
    curve = found["reliability"]
    assert np.average(curve["confidence"], weights=curve["count"]) == pytest.approx(
        chances.max(1).mean()
    )
    assert np.average(curve["accuracy"], weights=curve["count"]) == pytest.approx(found["accuracy"])
    expected = fitted.metrics_["test_calibration_error"]["after"]
    assert found["calibration_error"] == pytest.approx(expected)


def test_the_baselines_learn_from_the_same_nodes(
    fitted: NodeClassifier, found: dict[str, Any]
) -> None:
    y, split, x = fitted.task_.y.numpy(), fitted.split_, fitted.task_.x.numpy()
    train, val, test = (part.numpy() for part in (split.train, split.val, split.test))
    assert list(found["baselines"]) == [
        *("majority class", "logistic regression", "label propagation")
    ]
    usual = np.bincount(y[train]).argmax()
    assert found["baselines"]["majority class"]["accuracy"] == (y[test] == usual).mean()
    models = [
        LogisticRegression(C=c, max_iter=500).fit(x[train], y[train]) for c in (0.01, 0.1, 1, 10)
    ]
    best = max(models, key=lambda model: model.score(x[val], y[val]))
    expected = best.score(x[test], y[test])
    assert found["baselines"]["logistic regression"]["accuracy"] == expected
    assert np.array_equal(logistic_regression(x, y, train, val), best.predict(x))


def test_label_propagation_against_the_dense_limit() -> None:
    """A path of six and a pair; labels at the ends; the limit of many steps is an inverse."""
    edges = np.array([[0, 1, 2, 3, 4, 6], [1, 2, 3, 4, 5, 7]])
    edges = np.hstack([edges, edges[::-1]])
    y, train, val = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 5, 4]), np.array([1, 3])
    found = label_propagation(edges, y, train, val, 2, steps=2000)
    dense = np.zeros((8, 8))
    dense[edges[0], edges[1]] = 1
    root = np.diag(dense.sum(1) ** -0.5)
    start = np.zeros((8, 2))
    start[train, y[train]] = 1
    limit = np.linalg.inv(np.eye(8) - 0.5 * root @ dense @ root) @ start
    expected = np.where(limit.any(1), limit.argmax(1), 1)  # the pair gets the usual class
    assert found.tolist() == expected.tolist() == [0, 0, 1, 1, 1, 1, 1, 1]


def test_without_test_nodes_validation_is_reported(tiny_graph: Any) -> None:
    tiny_graph.test_mask = torch.zeros(60, dtype=torch.bool)
    fitted = NodeClassifier("gcn", epochs=2).fit(tiny_graph)
    found = evaluate(fitted)
    assert (found["part"], found["nodes"]) == ("val", int(tiny_graph.val_mask.sum()))
    assert found["accuracy"] == pytest.approx(fitted.metrics_["val_accuracy"])
    assert fitted.metrics_["test_accuracy"] is None


def test_the_picture(found: dict[str, Any], tmp_path: Path) -> None:
    names = [f"a class with a rather long name, number {i}" for i in range(60)]
    table = np.diag(np.arange(60)).tolist()
    picture({**found, "classes": names, "confusion": table}, tmp_path / "evaluation.png")
    pixels = imread(tmp_path / "evaluation.png")
    assert pixels.shape[1] > 1000
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50  # something is drawn
    assert [file.name for file in tmp_path.iterdir()] == ["evaluation.png"]
    picture(found, tmp_path / "evaluation.svg")
    assert (tmp_path / "evaluation.svg").read_text().startswith("<?xml")
