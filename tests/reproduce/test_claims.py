"""Claims as rules over made-up numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from bagcn.reproduce import grid as grid_module
from bagcn.reproduce.claims import Outcome
from bagcn.reproduce.drawn import draw_grid
from bagcn.reproduce.grid import Pool
from bagcn.study.recipe import Recipe, load_recipe
from reproduce.made import STUDY, stored, study

CLAIM = '[[claims]]\nsays = "x"\nbetter = ["GCN"]\nthan = ["SGC"]\n'
LOW, HIGH = [70, 71, 72, 71, 70, 71], [74, 75, 76, 76, 73, 75]


def outcome(folder: Path, claim: str, tests: dict[tuple[str, str], Any]) -> Outcome:
    made = study(STUDY + claim)
    stored(folder, made, tests)
    return draw_grid(made, Pool(folder), range(6)).outcomes[0]


def grid(*rows: list[int]) -> dict[tuple[str, str], list[int]]:
    """GCN and SGC on Cora, then on Citeseer."""
    places = [("GCN", "Cora"), ("SGC", "Cora"), ("GCN", "Citeseer"), ("SGC", "Citeseer")]
    return dict(zip(places, rows, strict=True))


def test_a_difference_everywhere_holds(tmp_path: Path) -> None:
    found = outcome(tmp_path, CLAIM, grid(HIGH, LOW, HIGH, LOW))
    assert found.verdict == "holds"
    place = found.places[0]
    differences = [a - b for a, b in zip(HIGH, LOW, strict=True)]
    assert (place.better, place.than) == ("GCN", "SGC")
    assert place.difference == pytest.approx(sum(differences) / 6, abs=1e-3)
    assert place.p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-2)


def test_one_place_where_it_fails_is_enough(tmp_path: Path) -> None:
    assert outcome(tmp_path, CLAIM, grid(HIGH, LOW, LOW, HIGH)).verdict == "does not hold"


def test_it_may_be_said_of_some_places_or_of_so_many(tmp_path: Path) -> None:
    numbers = grid(HIGH, LOW, LOW, HIGH)
    assert outcome(tmp_path, CLAIM + 'places = ["Cora"]', numbers).verdict == "holds"
    assert outcome(tmp_path, CLAIM + "least = 1", numbers).verdict == "holds"
    assert outcome(tmp_path, CLAIM + "least = 2", numbers).verdict == "does not hold"


def test_a_difference_that_chance_explains_is_noise(tmp_path: Path) -> None:
    wide = [60, 81, 72, 71, 65, 79]
    found = outcome(tmp_path, CLAIM, grid(HIGH, LOW, wide, LOW))
    assert found.places[1].difference == pytest.approx(0.5, abs=1e-3)
    assert found.places[1].verdict == found.verdict == "holds, within noise"


def test_equal_means_are_not_better(tmp_path: Path) -> None:
    assert outcome(tmp_path, CLAIM, grid(LOW, LOW, HIGH, LOW)).verdict == "does not hold"


def test_margins_are_held_to_exactly(tmp_path: Path) -> None:
    numbers = grid([74] * 6, [72] * 6, [74] * 6, [72] * 6)  # two points
    for margin, verdict in (("2.0", "holds"), ("2.1", "does not hold"), ("-0.5", "holds")):
        assert outcome(tmp_path, f"{CLAIM}margin = {margin}", numbers).verdict == verdict
    by_place = CLAIM + "margin = { Cora = 2.0, Citeseer = 2.5 }"
    found = outcome(tmp_path, by_place, numbers)
    assert [place.verdict for place in found.places] == ["holds", "does not hold"]


def test_a_negative_margin_forgives_so_much(tmp_path: Path) -> None:
    numbers = grid([71] * 6, [72] * 6, [71] * 6, [72] * 6)
    assert outcome(tmp_path, CLAIM + "margin = -1", numbers).verdict == "holds"
    assert outcome(tmp_path, CLAIM + "margin = -0.9", numbers).verdict == "does not hold"


def test_within_goes_either_way(tmp_path: Path) -> None:
    numbers = grid([71] * 6, [72] * 6, [72] * 6, [71] * 6)
    assert outcome(tmp_path, CLAIM + "within = 1", numbers).verdict == "holds"
    assert outcome(tmp_path, CLAIM + "within = 0.9", numbers).verdict == "does not hold"


def test_columns_can_be_compared_in_each_row(tmp_path: Path) -> None:
    claim = '[[claims]]\nsays = "x"\nbetter = ["Cora"]\nthan = ["Citeseer"]\ncompare = "columns"\n'
    found = outcome(tmp_path, claim, grid(HIGH, HIGH, LOW, LOW))
    assert [place.place for place in found.places] == ["GCN", "SGC"]
    assert found.verdict == "holds"


def test_four_runs_decide_nothing_unless_another_place_does(tmp_path: Path) -> None:
    few = grid(HIGH[:4], LOW, HIGH, LOW)
    assert outcome(tmp_path / "open", CLAIM, few).verdict == "not enough runs"
    lost = grid(HIGH[:4], LOW, LOW, HIGH)
    assert outcome(tmp_path / "lost", CLAIM, lost).verdict == "does not hold"


def test_the_paper_s_own_numbers_are_judged_as_well(tmp_path: Path) -> None:
    text = STUDY.replace('note = "no hidden layer"', "paper = [80.0, 71.0]")
    made = study(text + CLAIM)
    (found,) = draw_grid(made, Pool(tmp_path), range(6)).outcomes
    assert (found.paper, found.verdict) == ("does not hold", "not enough runs")
    made = study(text + CLAIM + 'places = ["Cora"]')
    (found,) = draw_grid(made, Pool(tmp_path), range(6)).outcomes
    assert found.paper == "holds"


def test_of_variants_that_not_all_have_nothing_is_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = {"gcn"}

    def stored_recipe(model: str, dataset: str, variant: str) -> Recipe | None:
        there = variant == "official" or model in tuned
        return load_recipe(model, dataset).changed({"lr": 0.5}) if there else None

    monkeypatch.setattr(grid_module, "_stored", stored_recipe)
    made = study(STUDY.replace("seeds = 6", 'variants = ["official", "tuned"]') + CLAIM)
    found = draw_grid(made, Pool(tmp_path), range(6)).outcomes
    assert [outcome.variant for outcome in found] == ["official"]
    tuned.add("sgc")
    found = draw_grid(made, Pool(tmp_path), range(6)).outcomes
    assert [outcome.variant for outcome in found] == ["official", "tuned"]
