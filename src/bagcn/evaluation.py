"""How good a fitted classifier is, and what the graph brought: against three simple baselines.

N nodes, F features, C classes.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch

from bagcn._folder import replaced_file
from bagcn.calibration import reliability

if TYPE_CHECKING:
    from bagcn.estimator import NodeClassifier

__all__ = ["evaluate", "label_propagation", "logistic_regression", "picture"]

Array = np.ndarray


def evaluate(classifier: NodeClassifier) -> dict[str, Any]:
    """Return accuracy, macro-F1, per-class numbers, confusion and calibration as plain data.

    They are of the test nodes; of the validation nodes, which chose the epoch, where none test.
    """
    part = "test" if len(classifier.split_.test) else "val"
    nodes = getattr(classifier.split_, part).numpy()
    y = classifier.task_.y.numpy()[nodes]
    probabilities = classifier.predict_proba()[nodes]
    predicted = probabilities.argmax(axis=1)
    curve = reliability(probabilities, y)
    classes = [str(name) for name in classifier.classes_.tolist()]
    return {
        "part": part,
        "nodes": len(nodes),
        "classes": classes,
        **_scores(y, predicted),
        "per_class": _per_class(y, predicted, classes),
        "confusion": _confusion(y, predicted, len(classes)),
        "calibration_error": curve.error,
        "reliability": vars(curve),
        "baselines": {
            name: _scores(y, guess[nodes]) for name, guess in _baselines(classifier).items()
        },
    }


def _scores(y: Array, predicted: Array) -> dict[str, float]:
    from sklearn.metrics import f1_score

    present = np.unique(y)
    macro = f1_score(y, predicted, labels=present, average="macro", zero_division=0)
    return {"accuracy": float((y == predicted).mean()), "macro_f1": float(macro)}


def _per_class(y: Array, predicted: Array, classes: list[str]) -> list[dict[str, Any]]:
    from sklearn.metrics import precision_recall_fscore_support

    numbers = precision_recall_fscore_support(
        y, predicted, labels=np.arange(len(classes)), zero_division=0
    )
    names = ("precision", "recall", "f1", "nodes")
    return [
        {
            "class": name,
            **{key: column[i].item() for key, column in zip(names, numbers, strict=True)},
        }
        for i, name in enumerate(classes)
    ]


def _confusion(y: Array, predicted: Array, classes: int) -> list[list[int]]:
    """Return how many nodes of the row's class were predicted as the column's."""
    table = np.bincount(y * classes + predicted, minlength=classes**2).reshape(classes, classes)
    rows: list[list[int]] = table.tolist()
    return rows


def _baselines(classifier: NodeClassifier) -> dict[str, Array]:
    """Return what each baseline predicts for every node, (N,), learnt from the training nodes."""
    task, split = classifier.task_, classifier.split_
    y, train, val = task.y.numpy(), split.train.numpy(), split.val.numpy()
    usual = np.bincount(y[train]).argmax()
    return {
        "majority class": np.full(task.num_nodes, usual),
        "logistic regression": logistic_regression(_features(task.x), y, train, val),
        "label propagation": label_propagation(
            task.edge_index.numpy(), y, train, val, task.num_classes
        ),
    }


def _features(x: Any) -> Array | sp.csr_matrix:
    from bagcn.data._csr import to_scipy

    features: Array | sp.csr_matrix = to_scipy(x) if x.layout == torch.sparse_csr else x.numpy()
    return features


def logistic_regression(x: Array | sp.csr_matrix, y: Array, train: Array, val: Array) -> Array:
    """Return the classes by the features alone, (N,); its strength is chosen on validation."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    def guess(strength: float) -> Array:
        model = LogisticRegression(C=strength, max_iter=500)
        with warnings.catch_warnings():  # not converged is good enough for a baseline
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(x[train], y[train])
        predicted: Array = model.predict(x)
        return predicted

    guesses = [guess(strength) for strength in (0.01, 0.1, 1.0, 10.0)]
    return max(guesses, key=lambda predicted: (predicted[val] == y[val]).mean())


def label_propagation(
    edge_index: Array, y: Array, train: Array, val: Array, classes: int, steps: int = 50
) -> Array:
    r"""Return the classes by the edges alone, (N,).

    :math:`Z \leftarrow \alpha D^{-1/2} A D^{-1/2} Z + (1 - \alpha) Y` (Zhou et al., 2004), with
    :math:`\alpha` chosen on validation; what no label reaches gets the most frequent class.
    """
    size = len(y)
    ones = np.ones(edge_index.shape[1])
    adjacency = sp.csr_matrix((ones, (edge_index[1], edge_index[0])), shape=(size, size))
    degree = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1)
    root = sp.diags(degree**-0.5)
    step = root @ adjacency @ root
    start = np.zeros((size, classes))
    start[train, y[train]] = 1
    usual = np.bincount(y[train]).argmax()

    def guess(alpha: float) -> Array:
        spread = start
        for _ in range(steps):
            spread = alpha * (step @ spread) + (1 - alpha) * start
        return np.where(spread.any(axis=1), spread.argmax(axis=1), usual)

    guesses = [guess(alpha) for alpha in (0.5, 0.9, 0.99)]
    return max(guesses, key=lambda predicted: (predicted[val] == y[val]).mean())


def picture(evaluation: dict[str, Any], path: Path) -> None:
    """Draw confusion, reliability and the baselines side by side into a file."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ValueError("a picture needs one more package: pip install 'bagcn[plot]'") from None

    figure = Figure(figsize=(14, 4.6), layout="constrained")
    confusion, calibration, baselines = figure.subplots(1, 3)
    part = "test" if evaluation["part"] == "test" else "validation"
    figure.suptitle(
        f"{evaluation['nodes']:,} {part} nodes: accuracy {evaluation['accuracy']:.1%}, "
        f"macro-F1 {evaluation['macro_f1']:.1%}"
    )
    _draw_confusion(confusion, evaluation)
    _draw_reliability(calibration, evaluation)
    _draw_baselines(baselines, evaluation)
    with replaced_file(path) as partial:
        figure.savefig(partial, format=path.suffix.lstrip(".") or "png", dpi=120)


def _draw_confusion(axes: Any, evaluation: dict[str, Any]) -> None:
    table = np.array(evaluation["confusion"])
    classes = [_short(name) for name in evaluation["classes"]]
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1)
    step = 1 + len(classes) // 40  # of hundreds of classes, not all names fit
    axes.set_xticks(range(len(classes))[::step], classes[::step], rotation=45, ha="right")
    axes.set_yticks(range(len(classes))[::step], classes[::step])
    axes.set(title="Confusion (nodes; shade: share of the row)", xlabel="predicted", ylabel="true")
    if len(classes) <= 12:
        for i, j in np.ndindex(table.shape):
            dark = table[i, j] > table[i].sum() / 2
            axes.text(j, i, table[i, j], ha="center", va="center", color="w" if dark else "k")


def _draw_reliability(axes: Any, evaluation: dict[str, Any]) -> None:
    """Draw accuracy against confidence; the area of a point is the share of nodes in its bin."""
    curve = evaluation["reliability"]
    area = 600 * np.array(curve["count"]) / sum(curve["count"])
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="perfect calibration")
    axes.scatter(
        curve["confidence"],
        curve["accuracy"],
        area + 10,
        color="tab:blue",
        alpha=0.7,
        clip_on=False,
        zorder=3,
        label="a bin; area: its nodes",
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="confidence", ylabel="accuracy")
    axes.set_title(f"Calibration (error {evaluation['calibration_error']:.3f})")
    axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 0.05))


def _draw_baselines(axes: Any, evaluation: dict[str, Any]) -> None:
    rows = {**evaluation["baselines"], "this model": evaluation}
    colours = ["0.7"] * (len(rows) - 1) + ["tab:blue"]
    bars = axes.barh(list(rows), [100 * row["accuracy"] for row in rows.values()], color=colours)
    axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set(title="Accuracy (%) on the same split", xlim=(0, 112), xticks=range(0, 101, 20))
    axes.spines[["top", "right"]].set_visible(False)


def _short(name: str) -> str:
    return name if len(name) <= 20 else f"{name[:19]}…"
