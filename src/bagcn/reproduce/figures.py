"""Figures of studies, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagcn.reproduce.definition import Line
    from bagcn.reproduce.drawn import Drawn

__all__ = ["PALETTE", "draw_curves", "saved"]

PALETTE = (
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1",
    "#2aa5a0", "#d4a514", "#ec6fa0", "#9c755f", "#7d8794",
)  # fmt: skip
"""Of classes and of curves, as on the pages."""


@contextmanager
def saved(path: Path, rows: int, columns: int, size: tuple[float, float]) -> Iterator[Any]:
    """Give axes (rows, columns) to draw on and save them as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, squeeze=False)
    yield axes
    figure.savefig(path, dpi=150, format="png", metadata={"Software": None})


def draw_curves(drawn: Drawn, path: Path) -> None:
    """Draw a curve with a band of ± sd for each row, a panel for each group.

    Where the paper prints numbers, they are dashed.
    """
    study = drawn.study
    assert study.figure is not None
    groups = list(dict.fromkeys(row.group for row in study.rows))
    with saved(path, 1, len(groups), (5.4 if len(groups) > 1 else 7.5, 4.4)) as axes:
        for place, group in zip(axes[0], groups, strict=True):
            rows = [row for row in study.rows if row.group == group]
            for colour, row in zip(PALETTE, rows, strict=False):
                _curve(place, drawn, row, colour)
            _dress(place, drawn, group)


def _curve(place: Any, drawn: Drawn, row: Line, colour: str) -> None:
    values = [v for v in drawn.values if v.cell.row is row and v.cell.variant == drawn.variants[0]]
    found = [(v.cell.column.at, v.summary) for v in values if v.summary.mean is not None]
    if found:
        x = [at for at, _ in found]
        mean = [s.mean or 0.0 for _, s in found]
        sd = [s.sd or 0.0 for _, s in found]
        place.plot(x, mean, color=colour, marker="o", markersize=4, label=row.name)
        low = [m - s for m, s in zip(mean, sd, strict=True)]
        high = [m + s for m, s in zip(mean, sd, strict=True)]
        place.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    printed = [(v.cell.column.at, v.paper) for v in values if v.paper is not None]
    if printed:
        place.plot(*zip(*printed, strict=True), color=colour, linestyle=":", linewidth=1.2)


def _dress(place: Any, drawn: Drawn, group: str) -> None:
    figure = drawn.study.figure
    assert figure is not None
    at = [column.at for column in drawn.study.columns]
    options = {"linthresh": figure.linear} if figure.scale == "symlog" else {}
    place.set_xscale(figure.scale, **options)
    place.set_xticks(at, [column.name for column in drawn.study.columns])
    place.minorticks_off()
    place.set_xlabel(figure.x)
    place.set_ylabel("test accuracy (%)")
    if group:
        place.set_title(group)
    place.grid(alpha=0.25, linewidth=0.6)
    place.spines[["top", "right"]].set_visible(False)
    if any(value.paper is not None for value in drawn.values):
        place.plot([], [], color="#666666", linestyle=":", label="the paper")
    place.legend(frameon=False, fontsize=9)
