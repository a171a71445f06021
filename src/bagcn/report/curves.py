"""Learning curves of several runs as one picture.

R runs, T epochs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bagcn._folder import replaced_file

__all__ = ["draw_curves", "over_epochs"]

Array = np.ndarray
Run = Mapping[str, Any]

GREY = "#5f6670"
LOSSES = (("loss", "training", "#009E73"), ("val_loss", "validation", "#0072B2"))
ACCURACIES = (("val", "validation", "#0072B2"), ("test", "test", "#D55E00"))


def over_epochs(runs: Sequence[Run], name: str) -> Array:
    """Return a curve of every run at the epochs 1 to T, (R, T).

    A run that knows only some epochs is drawn straight between them; it is NaN before the first
    and after the last, and where its values are not numbers.
    """
    grid = np.arange(1, max(run["epoch"][-1] for run in runs) + 1)
    rows = []
    for run in runs:
        values = np.array(run[name], dtype=float)  # None becomes NaN
        rows.append(np.interp(grid, run["epoch"], values, left=np.nan, right=np.nan))
    return np.stack(rows)


def draw_curves(
    runs: Sequence[Run], path: Path, title: str, published: float | None = None
) -> None:
    """Draw loss and accuracy over the epochs: the mean over the runs, and one sd around it.

    A dot marks each run's chosen epoch.

    Args:
        runs: ``epoch``, ``loss``, ``val_loss``, ``val`` and ``test`` as lists of one length
            (accuracies are fractions), and ``best_epoch``, counted from 0.
        path: the file; its ending says which kind.
        title: what was trained on what.
        published: an accuracy (%) to compare with.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pip install 'bagcn[plot]'") from None

    figure = Figure(figsize=(10, 4), layout="constrained")
    losses, accuracies = figure.subplots(1, 2)
    for name, label, colour in LOSSES:
        _band(losses, over_epochs(runs, name), label, colour)
    for name, label, colour in ACCURACIES:
        curves = 100 * over_epochs(runs, name)
        _band(accuracies, curves, label, colour)
        _chosen(accuracies, runs, curves, colour)
    if published is not None:
        accuracies.axhline(published, color=GREY, linestyle=":", linewidth=1.2)
        accuracies.annotate(
            f"published {published:g}", (0.01, published), xycoords=("axes fraction", "data"),
            xytext=(0, 3), textcoords="offset points", color=GREY, fontsize=8,
        )  # fmt: skip
    _finish(losses, "Loss")
    _finish(accuracies, "Accuracy (%)")
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    figure.supxlabel(_reading(len(runs)), x=0.01, ha="left", fontsize=8, color=GREY)
    with replaced_file(path) as partial:
        figure.savefig(partial, format=path.suffix.lstrip(".") or "png", dpi=150)


def _band(axes: Any, curves: Array, label: str, colour: str) -> None:
    known = np.isfinite(curves).any(axis=0)
    if not known.any():
        return
    grid = np.flatnonzero(known) + 1
    curves = curves[:, known]
    mean = np.nanmean(curves, axis=0)
    axes.plot(grid, mean, color=colour, linewidth=1.8, label=label)
    if len(curves) > 1:
        sd = np.nanstd(curves, axis=0)
        axes.fill_between(grid, mean - sd, mean + sd, color=colour, alpha=0.18, linewidth=0)


def _chosen(axes: Any, runs: Sequence[Run], curves: Array, colour: str) -> None:
    for run, curve in zip(runs, curves, strict=True):
        best = run["best_epoch"]
        if 0 <= best < len(curve) and np.isfinite(curve[best]):
            axes.plot(
                best + 1, curve[best], "o", color=colour, markersize=4.5,
                markeredgecolor="white", markeredgewidth=0.8, zorder=3,
            )  # fmt: skip


def _reading(runs: int) -> str:
    """Say how to read the picture."""
    dot = "dot: the epoch of the best validation accuracy, whose test accuracy counts"
    return dot if runs == 1 else f"line: mean of {runs} seeds, band: one standard deviation, {dot}"


def _finish(axes: Any, name: str) -> None:
    axes.set_title(name, loc="left", fontsize=10, color=GREY)
    axes.set_xlabel("epoch", color=GREY)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.tick_params(colors=GREY, length=0)
    axes.grid(axis="y", color="0.92")
    axes.set_axisbelow(True)
    axes.margins(x=0.01)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color("0.8")
    if axes.get_legend_handles_labels()[0]:
        # beside the title: within the axes it would cover a curve sooner or later
        axes.legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2, frameon=False
        )
