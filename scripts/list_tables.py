"""Print a table of the documentation in Markdown: ``list_tables.py datasets|models|…``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

CIRCUMSTANCES = ("benchmark", "date", "hardware", "threads", "versions", "commit")
REPOSITORY = Path(__file__).parents[1]
MEASURED, RESULTS = REPOSITORY / "benchmarks" / "results", REPOSITORY / "results"


def datasets() -> Iterable[str]:
    """The true statistics of the benchmark data sets."""
    from bagcn.data import DATASETS

    rows = [
        [
            f"`{info.name}`",
            f"{info.nodes:,}",
            f"{info.edges:,}",
            f"{info.features:,}",
            str(info.classes),
            info.default_split,
            info.scaling,
            f"[files]({info.homepage}), [paper]({info.paper})",
        ]
        for info in DATASETS.values()
    ]
    header = ["name", "nodes", "edges", "features", "classes", "split", "scaling", "source"]
    return table(header, rows, right=range(1, 5))


def differences() -> Iterable[str]:
    """Where the paper's table of data sets differs from the graphs."""
    from bagcn.data import DATASETS
    from bagcn.data.paper import PAPER_TABLE
    from bagcn.data.paper import differences as found

    for info in DATASETS.values():
        pairs = [f"{key} {p:,} instead of {g:,}" for key, (p, g) in found(info).items()]
        said = f"The paper prints {', '.join(pairs)}." if pairs else ""
        remark = PAPER_TABLE[info.name].remark
        if said or remark:
            yield f"- **{info.title}.** {' '.join(filter(None, [said, remark]))}"


def models() -> Iterable[str]:
    """All models, their papers, and how they were checked."""
    from bagcn.study.models import MODELS

    rows = [
        [f"`{card.name}`", card.title, f"[{card.paper}]({card.url})", card.checked]
        for card in MODELS.values()
    ]
    return table(["name", "title", "paper", "checked against"], rows)


def baselines() -> Iterable[str]:
    """Where the authors' settings give another accuracy on a public split than was published."""
    from bagcn.baselines import MODELS
    from bagcn.data import DATASETS
    from bagcn.report.tables import signed
    from bagcn.study.bench import cells
    from bagcn.study.store import Store
    from bagcn.study.table import results

    wanted = cells(list(MODELS), ["cora", "citeseer", "pubmed"])
    found = results(wanted, Store(RESULTS / "bench"), range(20))
    rows = []
    for entry in found.entries.values():
        recipe, runs, difference = entry.cell.recipe, entry.summary, entry.difference
        if recipe is None or not recipe.published or difference is None or not runs.se:
            continue
        if abs(difference) > 2 * runs.se:
            row = [MODELS[recipe.model].title, DATASETS[recipe.dataset].title, f"{runs.mean:.2f}"]
            row += [
                f"{recipe.published['value']:.2f}",
                signed(difference),
                signed(by_loss(entry.runs)),
            ]
            rows.append([*row, recipe.note or recipe.published["where"]])
    header = ["model", "data set", "ours", "published", "difference", "by loss", "why"]
    return table(header, sorted(rows), right=range(2, 6))


def by_loss(runs: Sequence[dict[str, Any]]) -> float | None:
    """Return what the lowest validation loss would add to the accuracy (%), by stored epochs."""
    gains = []
    for curve in (run["curve"] for run in runs):
        points = list(zip(curve["val"], curve["val_loss"], curve["test"], strict=True))
        if None not in curve["val_loss"]:
            by_accuracy = max(points, key=lambda point: (point[0], -point[1]))
            gains.append(min(points, key=lambda point: point[1])[2] - by_accuracy[2])
    return 100 * fmean(gains) if gains else None


def studies() -> Iterable[str]:
    """The studies that bagcn reproduce knows."""
    from bagcn.reproduce import NAMES, load_study

    rows = [[f"`{s.name}`", s.title, s.where] for s in map(load_study, NAMES)]
    return table(["study", "what it shows", "in the paper"], rows)


def claims() -> Iterable[str]:
    """What the studies' runs say of what the paper claims."""
    from bagcn.reproduce import NAMES

    rows = []
    for name in NAMES:
        file = RESULTS / name / f"{name}.json"
        found = json.loads(file.read_text("utf-8")) if file.exists() else {}
        for claim in found.get("claims", []):
            if claim["source"] == "paper":
                own = claim["by_the_paper's_numbers"].replace("not enough runs", "–")
                rows.append([f"`{name}`", claim["says"], claim["variant"], own, claim["verdict"]])
        for part in found.get("tables", []):
            if part["title"] == "What is claimed":
                for says, graph, verdict, _ in part["rows"]:
                    rows.append([f"`{name}`", f"{graph}: {says}", "official", "–", verdict])
    return table(["study", "claim", "recipes", "by the paper's numbers", "by our runs"], rows)


def benchmarks() -> Iterable[str]:
    """Every number that the scripts in benchmarks/ wrote down, newest of its kind last."""
    for file in sorted(MEASURED.glob("*.jsonl")):
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        for (name, machine, day), found in groupby(lines, key=occasion):
            measured = [numbers(line) for line in found]
            keys = list(dict.fromkeys(key for line in measured for key in line))
            rows = [[shown(line.get(key)) for key in keys] for line in measured]
            yield f"**{name}** on {machine}, {day}"
            yield ""
            yield from table(keys, rows, right=range(len(keys)))
            yield ""


def occasion(line: dict[str, Any]) -> tuple[str, str, str]:
    """Return what was measured, on what, and when."""
    return line["benchmark"], line["hardware"]["name"], line["date"][:10]


def numbers(line: dict[str, Any]) -> dict[str, Any]:
    """Return what was measured, without what it was measured with."""
    return {key: value for key, value in line.items() if key not in CIRCUMSTANCES}


def shown(value: Any) -> str:
    """Return a number with three digits that count."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else "–" if value is None else str(value)


def table(
    header: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()
) -> Iterable[str]:
    """Return the lines of a table."""
    numbers = set(right)
    yield f"| {' | '.join(header)} |"
    yield f"| {' | '.join('---:' if i in numbers else '---' for i in range(len(header)))} |"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    made.__name__: made
    for made in (datasets, differences, models, baselines, studies, claims, benchmarks)
}

if __name__ == "__main__":
    print("\n".join(TABLES[sys.argv[1]]()))
