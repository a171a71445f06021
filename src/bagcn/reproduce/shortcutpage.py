"""The study of shortcuts as a page: what holds of section 4.3, from all nodes and several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from statistics import fmean, stdev
from typing import Any

from bagcn.reproduce.casefigure import draw_cases
from bagcn.reproduce.definition import Study
from bagcn.reproduce.measure import FAR
from bagcn.reproduce.page import CLAIMS, Page, Table
from bagcn.reproduce.running import Plan
from bagcn.reproduce.shortcuts import measured, shortcut_recipes

__all__ = ["found_cases", "shortcut_page"]

Found = Sequence[Mapping[str, Any]]
_PLACES = {
    "0": "the node itself",
    "1": "1 hop",
    "2": "2 hops",
    "3": "3 hops",
    "beyond": "further, same component",
    "elsewhere": "other components",
}


def shortcut_page(study: Study, plan: Plan) -> Page:
    """Return the page from the measures that are there."""
    found = _found(study, plan)
    there = sum(map(len, found.values()))
    whole = {name: runs for name, runs in found.items() if runs}
    cases = found_cases(study, plan)
    each = [table for name, runs in whole.items() for table in _tables(_title(name), runs)]
    tables = [*_verdicts(whole), *each]
    wanted = len(plan.seeds) * len(found)
    return Page(
        name=study.name,
        title=study.title,
        where=study.where,
        about=study.about,
        state=f"{there} of {wanted} models are measured ({len(plan.seeds)} seeds a data set).",
        tables=tables,
        notes=_notes(study.settings["top"]),
        figures={study.name: partial(draw_cases, cases)} if cases else {},
        plain={
            "study": study.name,
            "title": study.title,
            "where": study.where,
            "runs": there,
            "missing": wanted - there,
            "tables": [asdict(table) for table in tables],
        },
        there=there,
        wanted=wanted,
    )


def found_cases(study: Study, plan: Plan) -> list[dict[str, Any]]:
    """Return what the figure shows: the nodes of the paper, with the first model's shortcuts."""
    return [
        case | {"dataset": name}
        for name, runs in _found(study, plan).items()
        for case in (runs[0]["cases"] if runs else ())
    ]


def _found(study: Study, plan: Plan) -> dict[str, list[dict[str, Any]]]:
    """Return the measures of every data set, one a seed."""
    recipes, folders = shortcut_recipes(study, plan.changes), plan.folders(study)
    return {
        name: [m for seed in plan.seeds if (m := measured(folders, recipe, seed)) is not None]
        for name, recipe in recipes.items()
    }


def _title(name: str) -> str:
    from bagcn.data import DATASETS

    return DATASETS[name].title


def _notes(top: int) -> list[str]:
    return [
        "Numbers are means over all nodes, ± the sd over the seeds.",
        "Uniform attention knows nothing: its share in a place is the share of the nodes there.",
        f"Shortcuts are a node's {top} largest entries of S1 among the nodes that are far enough; "
        "chance is a node drawn blindly from all.",
        f"Cut are the {top} strongest of what the prediction reads (the rows of Â S1) beyond "
        f"{FAR} hops; as many blindly drawn ones; or all beyond {FAR} hops.",
        "The attention is spread over the exponential of its entropy nodes: N if it is even, 1 if "
        "it is on one node.",
    ]


def _said(values: Sequence[float | None], form: str = "%") -> str:
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


def _each(found: Found, *path: Any) -> list[Any]:
    """Follow a path of keys in the numbers of every seed."""
    out = list(found)
    for key in path:
        out = [value[key] for value in out]
    return out


def _tables(title: str, found: Found) -> list[Table]:
    return [_mass(title, found), _agreement(title, found), _cut(title, found), _reach(title, found)]


def _mass(title: str, found: Found) -> Table:
    places = [name for name in _PLACES if name in found[0]["mass"]]
    rows = [
        [_PLACES[name], _said(_each(found, "mass", name)), _said(_each(found, "uniform", name))]
        for name in places
    ]
    for least in (1, 2, FAR):
        beyond = [[n for n in places if not (n.isdigit() and int(n) <= least)]] * len(found)
        sums = [
            [sum(run[kind][n] for n in names) for run, names in zip(found, beyond, strict=True)]
            for kind in ("mass", "uniform")
        ]
        rows.append([f"all beyond {least} hop{'s' if least > 1 else ''}", *map(_said, sums)])
    nodes = found[0]["nodes"]
    spread = _said(_each(found, "spread", "mean"), "plain")
    rows.append([f"spread over so many of the {nodes:,} nodes", spread, f"{nodes:,}"])
    return Table(f"{title}: where the attention goes", ["", "attention", "uniform"], rows)


def _agreement(title: str, found: Found) -> Table:
    rows = []
    for place, group in enumerate(found[0]["agreement"]["2"]):
        first, last = group["degrees"]
        overall = place == len(found[0]["agreement"]["2"]) - 1
        degrees = "all" if overall else (f"{first}" if first == last else f"{first}–{last}")
        near, far = (_each(found, "agreement", least, place) for least in ("2", str(FAR + 1)))
        rows.append(
            [
                degrees,
                f"{group['nodes']:,}",
                _said(_each(near, "shortcuts")),
                _said(_each(far, "shortcuts")),
                _said(_each(near, "neighbours")),
                _said(_each(near, "chance")),
            ]
        )
    header = ["neighbours", "nodes", "shortcuts beyond 1 hop", f"beyond {FAR} hops"]
    return Table(
        f"{title}: who has the node's own class", [*header, "its neighbours", "chance"], rows
    )


def _cut(title: str, found: Found) -> Table:
    cut = _each(found, "cut")
    rows = [
        [words, *(_said(_each(cut, f"{kind}{suffix}"), "points") for kind in kinds)]
        for words, suffix, kinds in (
            ("the strongest", "_without", ("accuracy",)),
            ("as many blindly drawn", "_random", ("accuracy",)),
            (f"all beyond {FAR} hops", "_near", ("accuracy",)),
        )
    ]
    for row, suffix in zip(rows, ("", "_random", "_near"), strict=True):
        row.append(_said(_each(cut, f"changed{suffix}")))
        row.append(_said(_each(cut, f"probability{suffix}"), "points"))
    rows.insert(0, ["nothing", _said(_each(cut, "accuracy"), "points"), "–", "–"])
    header = ["cut", "accuracy, all nodes (%)", "predictions changed", "predicted class (points)"]
    return Table(f"{title}: what it is worth", header, rows)


def _reach(title: str, found: Found) -> Table:
    reach = _each(found, "reach")
    rows = [
        ["of a node's largest entries of S1, beyond 3 hops", _said(_each(reach, "far"))],
        ["nodes whose largest entries are all beyond 3 hops", _said(_each(reach, "all_far"))],
        ["nodes with none beyond 3 hops", _said(_each(reach, "without_far"), "plain")],
        ["mean number of neighbours", _said(_each(reach, "degree", "mean"), "plain")],
        ["… of nodes with none", _said(_each(reach, "degree", "without_far"), "plain")],
        ["… of the others", _said(_each(reach, "degree", "others"), "plain")],
        [
            "neighbours in comparison with the neighbours' own, of nodes with none",
            _said(_each(reach, "relative_degree", "without_far"), "plain"),
        ],
        ["… of the others", _said(_each(reach, "relative_degree", "others"), "plain")],
        [
            "rank correlation of the number of neighbours with the share beyond 3 hops",
            _said(_each(reach, "rank_correlation", "degree"), "plain"),
        ],
    ]
    return Table(f"{title}: how far the largest entries reach", ["", ""], rows)


def _verdicts(found: Mapping[str, Found]) -> list[Table]:
    """Hold the sentences of section 4.3 to the numbers, for every data set."""
    rows = [
        [says, _title(name), *verdict(runs)]
        for says, verdict in _RULES.items()
        for name, runs in found.items()
    ]
    return [Table(CLAIMS, ["claim", "data set", "from all nodes", "why"], rows, 4)] if rows else []


def _beyond(run: Mapping[str, Any], kind: str) -> float:
    return float(run[kind]["beyond"] + run[kind]["elsewhere"])


def _far(found: Found) -> tuple[str, str]:
    share, uniform = _each(found, "reach", "far"), [_beyond(run, "uniform") for run in found]
    ok = all(s > 0.5 for s in share)
    ways = {s > u for s, u in zip(share, uniform, strict=True)}
    how = "not clearly more than" if len(ways) > 1 else "more than" if True in ways else "less than"
    little = ways != {True}
    return (
        "holds, but says little" if ok and little else "holds" if ok else "does not hold",
        f"{_said(share)} of them, {how} the {_said(uniform)} of blindly drawn nodes",
    )


def _same_class(found: Found) -> tuple[str, str]:
    rows = [run["agreement"][str(FAR + 1)][-1] for run in found]
    own, near, chance = (_each(rows, key) for key in ("shortcuts", "neighbours", "chance"))
    if all(value >= 0.9 for value in own):
        verdict = "holds"
    else:
        above = all(o > c for o, c in zip(own, chance, strict=True))
        verdict = "does not hold: more than chance, not almost all" if above else "does not hold"
    return (
        verdict,
        f"{_said(own)} against {_said(near)} of neighbours and {_said(chance)} by chance",
    )


def _homophily(found: Found) -> tuple[str, str]:
    rows = [run["agreement"][str(FAR + 1)][-1] for run in found]
    own, near = (_each(rows, key) for key in ("shortcuts", "neighbours"))
    ok = all(o > n for o, n in zip(own, near, strict=True))
    return (
        "holds" if ok else "does not hold",
        f"shortcuts agree {_said(own)}, the neighbours themselves {_said(near)}",
    )


def _degree(found: Found) -> tuple[str, str]:
    reach = _each(found, "reach")
    several = [r for r in reach if r["without_far"] >= 10]
    if len(several) < len(reach):
        return "not enough nodes", f"{_said(_each(reach, 'without_far'), 'plain')} nodes have none"
    own, others = (_each(several, "degree", key) for key in ("without_far", "others"))
    first, second = (_each(several, "relative_degree", key) for key in ("without_far", "others"))
    ok = all(a > b for a, b in zip(own, others, strict=True))
    ok = ok and all(a > b for a, b in zip(first, second, strict=True))
    return (
        "holds" if ok else "does not hold",
        f"{_said(own, 'plain')} neighbours against {_said(others, 'plain')}; in comparison with "
        f"their neighbours {_said(first, 'plain')} against {_said(second, 'plain')}",
    )


def _matter(found: Found) -> tuple[str, str]:
    cut = _each(found, "cut")
    changed, blind = _each(cut, "changed"), _each(cut, "changed_random")
    lost = [c["accuracy"] - c["accuracy_without"] for c in cut]
    ok = all(value >= 0.05 for value in changed)
    return (
        "holds" if ok else "does not hold",
        f"without them {_said(changed)} of the predictions change ({_said(blind)} without as many "
        f"blindly drawn), and the accuracy falls by {_said(lost, 'points')} points",
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
