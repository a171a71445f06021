"""Whether the runs bear out what the paper says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from bagcn.reproduce.definition import Claim, Study
from bagcn.study.statistics import ALPHA, paired_p

if TYPE_CHECKING:
    from bagcn.reproduce.drawn import Value

__all__ = ["ENOUGH", "Outcome", "Place", "Verdict", "outcomes"]

ENOUGH = 5
"""Fewer runs of a cell than this decide nothing."""

Verdict = str
HOLDS, NOISE, FAILS, OPEN = "holds", "holds, within noise", "does not hold", "not enough runs"


@dataclass(frozen=True)
class Place:
    """The comparison in one row or column.

    Args:
        place: its key.
        better: the best of the claim's better lines.
        than: the best of the others.
        difference: of the means, in points.
        p: of this difference being 0, paired by seed. Where a claim must hold in all places, no
            correction for their number is called for.
        verdict: whether the claim holds here.
    """

    place: str
    better: str | None
    than: str | None
    difference: float | None
    p: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Outcome:
    """What became of a claim.

    Args:
        claim: which.
        variant: of the recipes.
        verdict: from our runs.
        paper: from the paper's own numbers, where it prints them.
        places: the comparisons.
    """

    claim: Claim
    variant: str
    verdict: Verdict
    paper: Verdict
    places: Sequence[Place]

    def plain(self) -> dict[str, Any]:
        """Return all as plain data."""
        return {
            "says": self.claim.says,
            "source": self.claim.source,
            "variant": self.variant,
            "verdict": self.verdict,
            "by_the_paper's_numbers": self.paper,
            "places": [asdict(place) for place in self.places],
        }


def outcomes(study: Study, values: Sequence[Value]) -> list[Outcome]:
    """Test every claim of a study, for every variant of which all that it compares have recipes."""
    out = []
    for variant in study.variants:
        own = [v for v in values if v.cell.variant == variant and v.cell.recipes]
        there = {line.key for v in own for line in (v.cell.row, v.cell.column)}
        claims = [c for c in study.claims if {*c.better, *c.than} <= there]
        out += [_outcome(study, claim, variant, own) for claim in claims]
    return out


def _outcome(study: Study, claim: Claim, variant: str, values: Sequence[Value]) -> Outcome:
    by_rows = claim.compare == "rows"
    cells = {
        (v.cell.row.key, v.cell.column.key) if by_rows else (v.cell.column.key, v.cell.row.key): v
        for v in values
    }
    everywhere = [line.key for line in (study.columns if by_rows else study.rows)]
    compared = [_compared(claim, place, cells) for place in claim.places or everywhere]
    needed = claim.least or len(compared)
    places = [place for place, _ in compared]
    return Outcome(
        claim,
        variant,
        _verdict([place.verdict for place in places], needed),
        _verdict([paper for _, paper in compared], needed),
        places,
    )


def _verdict(found: Sequence[Verdict], needed: int) -> Verdict:
    """Return what holds in so many places."""
    if found.count(HOLDS) >= needed:
        return HOLDS
    if found.count(HOLDS) + found.count(NOISE) >= needed:
        return NOISE
    return FAILS if len(found) - found.count(FAILS) < needed else OPEN


def _compared(
    claim: Claim, place: str, cells: Mapping[tuple[str, str], Value]
) -> tuple[Place, Verdict]:
    """Compare in one place: by our runs, and by the paper's numbers."""
    margin = claim.margin if isinstance(claim.margin, float | int) else claim.margin[place]
    sides = [[cells.get((line, place)) for line in lines] for lines in (claim.better, claim.than)]
    printed = [_most(v.paper if v else None for v in side) for side in sides]
    paper = OPEN if None in printed else _holds(claim, printed[0] - printed[1], margin, 0.0)  # type: ignore[operator]
    whole = [v for side in sides for v in side if v is not None and len(v.tests) >= ENOUGH]
    if len(whole) < len(claim.better) + len(claim.than):
        return Place(place, None, None, None, None, OPEN), paper
    first, second = (max((v for v in side if v), key=_mean) for side in sides)
    difference, p = _mean(first) - _mean(second), _p(first, second)
    verdict = _holds(claim, difference, margin, p)
    names = [
        (v.cell.row if claim.compare == "rows" else v.cell.column).key for v in (first, second)
    ]
    found = Place(place, names[0], names[1], round(difference, 3), float(f"{p:.3g}"), verdict)
    return found, paper


def _mean(value: Value) -> float:
    return value.summary.mean or 0.0


def _most(values: Iterable[float | None]) -> float | None:
    """Return the largest; nothing if one is not there."""
    found = list(values)
    return None if None in found else max(v for v in found if v is not None)


def _holds(claim: Claim, difference: float, margin: float, p: float) -> Verdict:
    slack = 1e-9  # the paper's numbers are decimal fractions
    if claim.within is not None:
        return HOLDS if abs(difference) <= claim.within + slack else FAILS
    if difference < margin - slack or (margin == 0 and difference <= slack):
        return FAILS
    return HOLDS if margin < 0 or p < ALPHA else NOISE


def _p(first: Value, second: Value) -> float:
    """Return the p-value of the difference, over the seeds that both have."""
    common = first.tests.keys() & second.tests.keys()
    p = paired_p([first.tests[seed] - second.tests[seed] for seed in sorted(common)])
    return 1.0 if p is None else p
