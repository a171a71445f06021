"""Calibration against formulas written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

from bagcn.calibration import expected_calibration_error, fit_temperature, reliability

GENERATOR = np.random.default_rng(0)
LOGITS = 3 * GENERATOR.standard_normal((2000, 4))
Y = np.array([GENERATOR.choice(4, p=softmax(row / 2)) for row in LOGITS])


def loss(temperature: float, logits: np.ndarray, y: np.ndarray) -> float:
    """Negative log-likelihood of the nodes, and of one more that may be of any class."""
    chances = softmax(logits / temperature, axis=1)
    own = -np.log(np.take_along_axis(chances, y[:, None], axis=1)).sum()
    return float(own - np.log(chances).mean())


def test_the_temperature_is_the_most_likely() -> None:
    found = fit_temperature(LOGITS, Y)
    grid = np.geomspace(0.05, 20, 2001)
    best = grid[np.argmin([loss(t, LOGITS, Y) for t in grid])]
    assert found == pytest.approx(best, rel=3e-3)
    assert found == pytest.approx(2, abs=0.15)  # what the classes were drawn with


def test_a_multiple_of_the_logits_is_a_multiple_of_the_temperature() -> None:
    assert fit_temperature(3 * LOGITS, Y) == pytest.approx(3 * fit_temperature(LOGITS, Y), rel=1e-4)


def test_a_few_nodes_that_are_all_right_do_not_make_certain() -> None:
    logits, y = np.array([[2.0, 0.0]] * 5), np.zeros(5, dtype=int)
    confidence = softmax(logits[0] / fit_temperature(logits, y))[0]
    # 5 nodes count for class 0, and half a node for each class: 5.5 of 6
    assert confidence == pytest.approx(5.5 / 6, abs=1e-4)


def test_the_curve() -> None:
    chances = np.array([[0.95, 0.05], [0.1, 0.9], [0.55, 0.45], [0.4, 0.6], [1.0, 0.0]])
    curve = reliability(chances, np.array([0, 0, 0, 1, 0]), bins=10)
    assert curve.confidence == pytest.approx([0.55, 0.6, 0.95])
    assert curve.accuracy == pytest.approx([1, 1, 2 / 3])
    assert curve.count == [1, 1, 3]
    assert curve.error == pytest.approx((0.45 + 0.4 + 3 * (0.95 - 2 / 3)) / 5)


def test_the_error_against_a_loop() -> None:
    chances = softmax(LOGITS / 1.7, axis=1)
    expected = 0.0
    for low in np.arange(15) / 15:
        inside = [(low <= row.max() < low + 1 / 15) for row in chances]
        nodes = np.flatnonzero(inside)
        if len(nodes):
            right = np.mean([chances[i].argmax() == Y[i] for i in nodes])
            expected += (
                len(nodes) / len(Y) * abs(right - np.mean([chances[i].max() for i in nodes]))
            )
    assert expected_calibration_error(LOGITS, Y, 1.7) == pytest.approx(expected)


def test_scaling_mends_the_error() -> None:
    before = expected_calibration_error(LOGITS, Y)
    after = expected_calibration_error(LOGITS, Y, fit_temperature(LOGITS, Y))
    assert after < before / 2


def test_no_nodes() -> None:
    with pytest.raises(ValueError, match="calibration needs at least one node with a known class"):
        reliability(np.empty((0, 2)), np.empty(0, dtype=int))
