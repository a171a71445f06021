"""Figures of studies, drawn with Matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bagcn.reproduce.definition import Line
    from bagcn.reproduce.drawn import Drawn, Value

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
    figure.savefig(path, dpi=120, format="png", metadata={"Software": None})


def draw_curves(drawn: Drawn, rows: Sequence[Line], path: Path) -> None:
    """Draw a curve with a band of ± sd for each row, a panel for each group of rows or columns.

    Where the paper prints numbers, they are dotted.
    """
    lines, columns = _groups(rows), _groups(drawn.study.columns)
    panels = [(own, part) for own in lines.values() for part in columns.values()]
    across = min(4, len(panels))
    down = -(-len(panels) // across)
    with saved(path, down, across, (5.0 if len(panels) > 1 else 7.5, 4.0)) as axes:
        for place, (own, part) in zip(axes.flat, panels, strict=False):
            for colour, row in zip(PALETTE, own, strict=False):
                _curve(place, [drawn.value(row, c, drawn.variants[0]) for c in part], colour)
            _dress(place, drawn, own, part)
            if place is axes.flat[0] or own is not panels[0][0]:
                _explain(place, own)
        for place in axes.flat[len(panels) :]:
            place.set_axis_off()


def _groups(lines: Sequence[Line]) -> dict[str, list[Line]]:
    groups: dict[str, list[Line]] = {}
    for line in lines:
        groups.setdefault(line.group, []).append(line)
    return groups


def _curve(place: Any, values: Sequence[Value], colour: str) -> None:
    found = [(v.cell.column.at, v.summary) for v in values if v.summary.mean is not None]
    if found:
        x = [at for at, _ in found]
        mean = [s.mean or 0.0 for _, s in found]
        sd = [s.sd or 0.0 for _, s in found]
        name = values[0].cell.row.name
        width = 2.4 if name.startswith("BAGCN") else 1.4
        place.plot(x, mean, color=colour, marker="o", markersize=4, linewidth=width, label=name)
        low = [m - s for m, s in zip(mean, sd, strict=True)]
        high = [m + s for m, s in zip(mean, sd, strict=True)]
        place.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
    printed = [(v.cell.column.at, v.paper) for v in values if v.paper is not None]
    if printed:
        place.plot(*zip(*printed, strict=True), color=colour, linestyle=":", linewidth=1.2)


def _dress(place: Any, drawn: Drawn, rows: Sequence[Line], columns: Sequence[Line]) -> None:
    figure = drawn.study.figure
    assert figure is not None
    options = {"linthresh": figure.linear} if figure.scale == "symlog" else {}
    place.set_xscale(figure.scale, **options)
    place.set_xticks([c.at for c in columns], _names(columns, figure.scale))
    place.minorticks_off()
    place.set_xlabel(columns[0].group or figure.x)
    place.set_ylabel("test accuracy (%)")
    if rows[0].group:
        place.set_title(rows[0].group)
    place.grid(alpha=0.25, linewidth=0.6)
    place.spines[["top", "right"]].set_visible(False)


def _names(columns: Sequence[Line], scale: str) -> list[str]:
    """Return the names of the ticks; on a plain axis one too near to the last one is left out."""
    at = [column.at or 0.0 for column in columns]
    names: list[str] = []
    last = at[0]
    for column, here in zip(columns, at, strict=True):
        near = scale == "linear" and names and here - last < 0.06 * (at[-1] - at[0])
        names.append("" if near else column.name)
        last = last if near else here
    return names


def _explain(place: Any, rows: Sequence[Line]) -> None:
    """Add the legend."""
    if any(row.paper for row in rows):
        place.plot([], [], color="#666666", linestyle=":", label="the paper")
    if place.get_legend_handles_labels()[0]:
        place.legend(frameon=False, fontsize=9)
