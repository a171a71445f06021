"""What section 4.3 says of shortcuts, as rules over what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

from bagcn.data import DATASETS
from bagcn.reproduce.measure import FAR
from bagcn.reproduce.page import CLAIMS, Table

__all__ = ["Found", "each", "said", "verdicts"]

Found = Sequence[Mapping[str, Any]]
"""The measures of several models."""


def said(values: Sequence[float | None], form: str = "%") -> str:
    """Return mean ± sd as a share in percent, in points, or as a plain number."""
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    factor = 1 if form == "plain" else 100
    mean, sd = factor * fmean(known), factor * stdev(known) if len(known) > 1 else None
    digits = 1 if abs(mean) >= 1 else 2
    unit = " %" if form == "%" else ""
    spread = "" if sd is None else f" ± {sd:.{digits}f}"
    return f"{mean:,.{digits}f}{spread}{unit}".replace("-", "−")


def each(found: Found, *path: Any) -> list[Any]:
    """Follow a path of keys in the numbers of every seed."""
    out = list(found)
    for key in path:
        out = [value[key] for value in out]
    return out


def verdicts(found: Mapping[str, Found]) -> list[Table]:
    """Hold the sentences of section 4.3 to the numbers, for every data set."""
    rows = [
        [says, DATASETS[name].title, *verdict(runs)]
        for says, verdict in _RULES.items()
        for name, runs in found.items()
    ]
    return [Table(CLAIMS, ["claim", "data set", "from all nodes", "why"], rows, 4)] if rows else []


def _beyond(run: Mapping[str, Any], kind: str) -> float:
    return float(run[kind]["beyond"] + run[kind]["elsewhere"])


def _far(found: Found) -> tuple[str, str]:
    share, uniform = each(found, "reach", "far"), [_beyond(run, "uniform") for run in found]
    ok = all(s > 0.5 for s in share)
    ways = {s > u for s, u in zip(share, uniform, strict=True)}
    how = "not clearly more than" if len(ways) > 1 else "more than" if True in ways else "less than"
    little = ways != {True}
    return (
        "holds, but says little" if ok and little else "holds" if ok else "does not hold",
        f"{said(share)} of them, {how} the {said(uniform)} of blindly drawn nodes",
    )


def _same_class(found: Found) -> tuple[str, str]:
    rows = [run["agreement"][str(FAR + 1)][-1] for run in found]
    own, near, chance = (each(rows, key) for key in ("shortcuts", "neighbours", "chance"))
    if all(value >= 0.9 for value in own):
        verdict = "holds"
    else:
        above = all(o > c for o, c in zip(own, chance, strict=True))
        verdict = "does not hold: more than chance, not almost all" if above else "does not hold"
    return (
        verdict,
        f"{said(own)} against {said(near)} of neighbours and {said(chance)} by chance",
    )


def _homophily(found: Found) -> tuple[str, str]:
    rows = [run["agreement"][str(FAR + 1)][-1] for run in found]
    own, near = (each(rows, key) for key in ("shortcuts", "neighbours"))
    ok = all(o > n for o, n in zip(own, near, strict=True))
    return (
        "holds" if ok else "does not hold",
        f"shortcuts agree {said(own)}, the neighbours themselves {said(near)}",
    )


def _degree(found: Found) -> tuple[str, str]:
    reach = each(found, "reach")
    several = [r for r in reach if r["without_far"] >= 10]
    if len(several) < len(reach):
        return "not enough nodes", f"{said(each(reach, 'without_far'), 'plain')} nodes have none"
    own, others = (each(several, "degree", key) for key in ("without_far", "others"))
    first, second = (each(several, "relative_degree", key) for key in ("without_far", "others"))
    ok = all(a > b for a, b in zip(own, others, strict=True))
    ok = ok and all(a > b for a, b in zip(first, second, strict=True))
    return (
        "holds" if ok else "does not hold",
        f"{said(own, 'plain')} neighbours against {said(others, 'plain')}; in comparison with "
        f"their neighbours {said(first, 'plain')} against {said(second, 'plain')}",
    )


def _matter(found: Found) -> tuple[str, str]:
    cut = each(found, "cut")
    changed, blind = each(cut, "changed"), each(cut, "changed_random")
    lost = [c["accuracy"] - c["accuracy_without"] for c in cut]
    ok = all(value >= 0.05 for value in changed)
    return (
        "holds" if ok else "does not hold",
        f"without them {said(changed)} of the predictions change ({said(blind)} without as many "
        f"blindly drawn), and the accuracy falls by {said(lost, 'points')} points",
    )


_RULES = {
    "The strongest dependencies lie outside the 3-hop neighbourhood (most of them).": _far,
    "Almost all of these distant nodes have the node's own class (90 %).": _same_class,
    "So shortcuts raise the local homophily: they agree more often than neighbours do.": _homophily,
    "Nodes without distant shortcuts have more neighbours than others, also compared with their "
    "neighbours.": _degree,
    "Predictions rest on single shortcuts: at least one in twenty changes without the strongest "
    "(our rule).": _matter,
}
