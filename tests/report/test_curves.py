# R runs, T epochs.
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from bagcn.report import curves
from bagcn.report.curves import draw_curves, over_epochs


def run_of(epochs: int, shift: float = 0.0, best: int = 0) -> dict[str, Any]:
    each = [i / epochs + shift for i in range(1, epochs + 1)]
    return {
        "epoch": list(range(1, epochs + 1)),
        "loss": [2 - value for value in each],
        "val_loss": [3 - value for value in each],
        "val": [value / 2 for value in each],
        "test": [value / 4 for value in each],
        "best_epoch": best,
    }


@pytest.fixture
def figure(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are saved."""
    saved: list[Figure] = []
    save = Figure.savefig

    def keep(self: Figure, *arguments: Any, **options: Any) -> None:
        saved.append(self)
        save(self, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return saved


def test_runs_of_different_lengths_and_those_of_which_little_is_known() -> None:
    short = {"epoch": [1, 2], "val": [0.1, 0.2]}
    summary = {"epoch": [2, 4], "val": [0.4, 0.8]}
    unknown = {"epoch": [1, 2], "val": [None, 0.5]}
    found = over_epochs([short, summary, unknown], "val")
    nan = math.nan
    expected = [[0.1, 0.2, nan, nan], [nan, 0.4, 0.6, 0.8], [nan, 0.5, nan, nan]]
    np.testing.assert_allclose(found, expected)


def test_lines_are_means_and_bands_one_deviation(tmp_path: Path, figure: list[Figure]) -> None:
    runs = [run_of(8, best=2), run_of(8, shift=0.2, best=5)]
    draw_curves(runs, tmp_path / "c.png", "Model on Graph", 81.5)
    losses, accuracies = figure[0].axes
    lines = {line.get_label(): line for line in losses.get_lines()}
    mean = np.mean([run["loss"] for run in runs], axis=0)
    np.testing.assert_allclose(lines["training"].get_ydata(), mean)
    assert lines["training"].get_xdata().tolist() == list(range(1, 9))
    band = losses.collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == pytest.approx((mean[-1] - 0.1, mean[0] + 0.1))
    shown = {line.get_label(): line for line in accuracies.get_lines()}
    expected = 100 * np.mean([run["val"] for run in runs], axis=0)
    np.testing.assert_allclose(shown["validation"].get_ydata(), expected)
    assert [text.get_text() for text in accuracies.texts] == ["published 81.5"]
    assert figure[0].get_suptitle() == "Model on Graph"


def test_a_dot_marks_the_chosen_epoch_of_every_run(tmp_path: Path, figure: list[Figure]) -> None:
    runs = [run_of(8, best=2), run_of(8, shift=0.2, best=7)]
    draw_curves(runs, tmp_path / "c.png", "title")
    dots = [
        (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        for line in figure[0].axes[1].get_lines()
        if line.get_marker() == "o"
    ]
    expected = [(run["best_epoch"] + 1, 100 * run[name][run["best_epoch"]])
                for name in ("val", "test") for run in runs]  # fmt: skip
    assert dots == [pytest.approx(point) for point in expected]


def test_curves_that_no_epoch_has_are_left_out(tmp_path: Path, figure: list[Figure]) -> None:
    """A model that learns without labels is validated once, at the end."""
    run = {**run_of(5), "val": [None] * 5, "val_loss": [None] * 5, "test": [None] * 5}
    draw_curves([run], tmp_path / "c.png", "title")
    losses, accuracies = figure[0].axes
    assert [line.get_label() for line in losses.get_lines()] == ["training"]
    assert list(accuracies.get_lines()) == []
    assert accuracies.get_legend() is None


@pytest.mark.parametrize(("name", "start"), [("c.png", b"\x89PNG"), ("c.pdf", b"%PDF")])
def test_the_ending_says_which_kind(tmp_path: Path, name: str, start: bytes) -> None:
    draw_curves([run_of(3)], tmp_path / name, "title")
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_how_to_read_it_is_said() -> None:
    assert curves._reading(1).startswith("dot: the epoch of the best validation accuracy")
    assert curves._reading(5).startswith("line: mean of 5 seeds, band: one standard deviation")
