"""From runs to numbers: means and spreads, paired tests, and what cannot be told from the best.

Accuracies are fractions in records and per cent here.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, ttest_1samp, wilcoxon

from bagcn.study.store import Record

__all__ = ["ALPHA", "Standing", "Summary", "against_best", "holm", "paired_p", "summary", "well"]

ALPHA = 0.05
"""Below this adjusted p-value, a model is said to be worse than the best one."""

FEW = 10
"""With fewer differences that are not zero, ranks say too little, and the t-test is asked."""


@dataclass(frozen=True)
class Summary:
    """What the runs of one cell say.

    Args:
        n: runs that ended well; the numbers below are theirs.
        diverged: runs whose loss became NaN or infinite.
        mean: of the test accuracies (%).
        sd: their standard deviation (n - 1 below); ``None`` of a single run.
        se: the mean's standard error, sd / √n.
        val: mean of the validation accuracies (%).
        seconds: mean time of a run, its share where several were trained together.
        memory: most bytes of a run, its share where several were trained together.
        hardware: names of the devices.
    """

    n: int
    diverged: int
    mean: float | None = None
    sd: float | None = None
    se: float | None = None
    val: float | None = None
    seconds: float | None = None
    memory: int | None = None
    hardware: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the mean, its spread and the number of runs as text."""
        if self.mean is None:
            return "the loss of every run became NaN or infinite"
        spread = "" if self.sd is None else f" ± {self.sd:.2f}"
        lost = f", {self.diverged} more diverged" if self.diverged else ""
        return f"{self.mean:.2f}{spread} over {self.n} run{'s' if self.n > 1 else ''}{lost}"


@dataclass(frozen=True)
class Standing:
    """How a model stands against the best one of the same data set.

    Args:
        best: whether it has the highest mean of several.
        pairs: runs that both have, of the same seed and split.
        p: two-sided; ``None`` of the best itself, and where there are fewer than two pairs.
        adjusted: the same after Holm's correction.
    """

    best: bool = False
    pairs: int = 0
    p: float | None = None
    adjusted: float | None = None

    @property
    def indistinguishable(self) -> bool:
        """Return whether the runs do not tell it from the best one."""
        return self.adjusted is not None and self.adjusted >= ALPHA


def well(records: Sequence[Record]) -> list[Record]:
    """Return the runs that ended well."""
    return [r for r in records if r["diverged"] is None and r["test"] is not None]


def summary(records: Sequence[Record]) -> Summary:
    """Summarise the runs of one cell."""
    good = well(records)
    diverged = len(records) - len(good)
    if not good:
        return Summary(0, diverged)
    tests = [100 * r["test"] for r in good]
    sd = statistics.stdev(tests) if len(tests) > 1 else None
    return Summary(
        n=len(good),
        diverged=diverged,
        mean=statistics.fmean(tests),
        sd=sd,
        se=None if sd is None else sd / math.sqrt(len(tests)),
        val=100 * statistics.fmean(r["val"] for r in good),
        seconds=statistics.fmean(r["seconds"] for r in good),
        memory=max(r["peak_memory"] for r in good),
        hardware=tuple(sorted({r["hardware"]["name"] for r in good})),
    )


def paired_p(differences: Sequence[float]) -> float | None:
    """Return the two-sided p-value of paired differences being centred on zero.

    The rule: no test for fewer than two pairs; p = 1 where all differences are zero. Zeros are
    then left out, and Wilcoxon's signed-rank test is used if ten or more remain. With fewer, the
    paired t-test on all differences; where these are all equal it knows no spread, and the p-value
    is that of their signs, 2^(1 - n).

    Equal accuracies differ by rounding errors as floats, which would break ties at random: the
    differences are rounded first.
    """
    d = np.round(np.asarray(differences, dtype=float), 9)
    if len(d) < 2:
        return None
    if not d.any():
        return 1.0
    changed = d[d != 0]
    if len(changed) >= FEW:
        return _signed_rank_p(changed)
    if np.ptp(d) == 0:
        return float(2.0 ** (1 - len(d)))
    return float(ttest_1samp(d, 0.0).pvalue)


def _signed_rank_p(d: np.ndarray) -> float:
    """Return the p-value of Wilcoxon's signed-rank test.

    Of fewer than 14 differences with ties SciPy goes through all signs one by one, for up to a
    second. To count the signs that lead to each sum of ranks gives the same number at once.
    """
    size = np.abs(d)
    if len(d) >= 14 or len(np.unique(size)) == len(size):
        return float(wilcoxon(d).pvalue)
    ranks = (2 * rankdata(size)).astype(int)  # twice: ties share half ranks
    total = ranks.sum()
    ways = np.zeros(total + 1)
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    far = np.abs(2 * np.arange(total + 1) - total) >= abs(2 * ranks[d > 0].sum() - total)
    return float(ways[far].sum() / ways.sum())


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for there being several, by Holm's step-down method."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def against_best(runs: Mapping[str, Sequence[Record]]) -> dict[str, Standing]:
    """Compare every model of a data set with the one of the highest mean, over common runs.

    A model with less than half as many runs as another is not called the best, nor is one that
    stands alone.

    Runs are pairs if they have the same seed and the same split. Where the split is drawn from the
    seed, the pairs share what is hard about it, and the test speaks of splits of this kind. On a
    public split all seeds share the split; a pair then is two models with the same seed, which have
    nothing else in common: the test is as good as an unpaired one, and it speaks of new initial
    weights on this one split, not of other splits.

    Args:
        runs: records of each model; models without a run that ended well are left out.
    """
    scores = {name: _scores(records) for name, records in runs.items()}
    scores = {name: score for name, score in scores.items() if score}
    if not scores:
        return {}
    most = max(map(len, scores.values()))
    able = [name for name, score in scores.items() if 2 * len(score) >= most]
    best = max(able, key=lambda name: statistics.fmean(scores[name].values()))
    standings = {name: _standing(scores[best], score) for name, score in scores.items()}
    standings[best] = Standing(best=len(scores) > 1, pairs=len(scores[best]))
    tested = {name: s.p for name, s in standings.items() if s.p is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {
        name: Standing(s.best, s.pairs, s.p, corrected.get(name)) for name, s in standings.items()
    }


def _scores(records: Sequence[Record]) -> dict[tuple[int, str], float]:
    return {(r["seed"], r["split"]["hash"]): r["test"] for r in well(records)}


def _standing(
    best: Mapping[tuple[int, str], float], other: Mapping[tuple[int, str], float]
) -> Standing:
    common = sorted(best.keys() & other.keys())
    return Standing(pairs=len(common), p=paired_p([best[key] - other[key] for key in common]))
