"""Means, paired tests and Holm's correction, against formulas written out here."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import wilcoxon

from bagcn.study.statistics import Standing, against_best, holm, paired_p, summary


def run(test: float | None, seed: int = 0, split: str = "s", **more: Any) -> dict[str, Any]:
    return {
        "test": test,
        "val": 0.5,
        "seed": seed,
        "split": {"name": "public", "hash": split},
        "diverged": None,
        "seconds": 2.0,
        "peak_memory": 100,
        "hardware": {"name": "a processor"},
        **more,
    }


def runs(tests: Any, **more: Any) -> list[dict[str, Any]]:
    return [run(float(test), seed, **more) for seed, test in enumerate(tests)]


def exact_signed_rank(d: list[float]) -> float:
    """Go through all signs: how often the rank sum is as far from its centre as it is here."""
    size = np.abs(d)
    ranks = [(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size]
    centre = sum(ranks) / 2
    far = abs(sum(r for r, x in zip(ranks, d, strict=True) if x > 0) - centre)
    signs = itertools.product([0, 1], repeat=len(d))
    sums = np.array([np.dot(ranks, sign) for sign in signs])
    return float((np.abs(sums - centre) >= far - 1e-9).mean())


def t_test(d: list[float]) -> float:
    n, mean = len(d), sum(d) / len(d)
    variance = sum((x - mean) ** 2 for x in d) / (n - 1)
    t = mean / math.sqrt(variance / n)
    return float(betainc((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t)))


def test_a_cell_is_the_mean_and_spread_of_what_ended_well() -> None:
    found = summary(
        [
            run(0.80, seconds=1.0, peak_memory=10, val=0.6),
            run(0.83, seconds=2.0, peak_memory=30, val=0.7),
            run(0.86, seconds=6.0, peak_memory=20, val=0.8, hardware={"name": "another"}),
            run(0.10, diverged=7),
            run(None, diverged=0),
        ]
    )
    assert (found.n, found.diverged) == (3, 2)
    assert found.mean == pytest.approx(83.0)
    assert found.sd == pytest.approx(3.0)  # √((9 + 0 + 9) / 2)
    assert found.se == pytest.approx(3 / math.sqrt(3))
    assert found.val == pytest.approx(70.0)
    assert found.seconds == pytest.approx(3.0)
    assert found.memory == 30
    assert found.hardware == ("a processor", "another")


def test_one_run_has_no_spread_and_none_has_nothing() -> None:
    single = summary([run(0.8)])
    assert (single.n, single.mean, single.sd, single.se) == (1, 80.0, None, None)
    nothing = summary([run(0.8, diverged=3)])
    assert (nothing.n, nothing.diverged, nothing.mean, nothing.hardware) == (0, 1, None, ())


def test_ten_differences_or_more_are_ranked() -> None:
    d = [0.011, -0.002, 0.013, 0.004, 0.025, 0.006, -0.007, 0.018, 0.009, 0.01]
    assert paired_p(d) == pytest.approx(exact_signed_rank(d), rel=1e-9)
    assert paired_p([-x for x in d]) == pytest.approx(paired_p(d), rel=1e-9)
    assert paired_p([*d, 0.0, 0.0]) == pytest.approx(paired_p(d), rel=1e-12)


def test_equal_differences_tie_although_floats_tell_them_apart() -> None:
    steps = [0.001, 0.001, -0.001, 0.001, 0.002, 0.002, 0.001, -0.002, 0.001, 0.003]
    d = [step + k * 1e-16 for k, step in enumerate(steps)]
    assert len(set(np.abs(d))) == len(d)
    assert exact_signed_rank(d) != pytest.approx(exact_signed_rank(steps), rel=1e-3)
    assert paired_p(d) == pytest.approx(exact_signed_rank(steps), rel=1e-9)


@pytest.mark.parametrize("count", [10, 11, 13])
def test_ties_are_counted_to_scipys_own_number(count: int) -> None:
    generator = np.random.default_rng(count)
    steps = generator.choice([-0.002, -0.001, 0.001, 0.002, 0.003], count)
    assert paired_p(list(steps)) == pytest.approx(wilcoxon(np.round(steps, 9)).pvalue, rel=1e-9)


def test_few_differences_are_asked_by_the_t_test() -> None:
    d = [0.01, 0.02, 0.005, -0.002, 0.0]
    assert paired_p(d) == pytest.approx(t_test(d), rel=1e-9)
    mostly_equal = [0.0] * 15 + [0.01, 0.02, -0.01]
    assert paired_p(mostly_equal) == pytest.approx(t_test(mostly_equal), rel=1e-9)


def test_what_has_no_spread_or_no_pairs() -> None:
    assert paired_p([]) is None
    assert paired_p([0.1]) is None
    assert paired_p([0.0, 0.0]) == 1.0
    assert paired_p([0.833 - 0.832, 0.811 - 0.810, 0.825 - 0.824]) == 0.25
    assert paired_p([0.5 - 0.5 + 1e-17, 0.0]) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.5]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


def test_only_runs_of_one_seed_and_split_are_pairs() -> None:
    best = [run(0.9, 0), run(0.8, 1), run(0.7, 2), run(0.6, 3)]
    other = [run(0.8, 0), run(0.75, 1), run(0.1, 2, split="another"), run(0.2, 9)]
    found = against_best({"best": best, "other": other})
    assert found["best"] == Standing(best=True, pairs=4)
    assert found["other"].pairs == 2
    assert found["other"].p == pytest.approx(t_test([0.1, 0.05]))
    assert against_best({"alone": best})["alone"] == Standing(best=False, pairs=4)


def test_holm_counts_the_models_of_a_data_set() -> None:
    generator = np.random.default_rng(0)
    base = 0.8 + 0.01 * generator.standard_normal(12)
    models = {
        "best": runs(base),
        "near": runs(base - 0.0005 + 0.01 * generator.standard_normal(12)),
        "far": runs(base - 0.05 - 0.001 * np.arange(12)),
        "alone": runs([0.5]),
        "failed": [run(0.9, diverged=3)],
    }
    found = against_best(models)
    assert set(found) == {"best", "near", "far", "alone"}
    assert found["far"].p == pytest.approx(2 / 2**12)  # every sign is the same
    assert found["far"].adjusted == pytest.approx(2 * 2 / 2**12)
    assert not found["far"].indistinguishable
    near = found["near"]
    assert near.p is not None
    assert near.p > 0.05
    assert near.adjusted == pytest.approx(near.p)  # the larger of two
    assert near.indistinguishable
    assert found["alone"] == Standing(pairs=1)
    assert not found["alone"].indistinguishable  # nothing is known of it
    assert not found["best"].indistinguishable


def test_a_lucky_single_run_is_not_the_best() -> None:
    found = against_best({"lucky": runs([0.99]), "full": runs([0.8, 0.81, 0.82])})
    assert found["full"].best
    assert not found["lucky"].best
    assert against_best({}) == {}
