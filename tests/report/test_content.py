from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from bagcn.report.content import report_content
from bagcn.report.numbers import command
from bagcn.reproduce import NAMES, load_study
from bagcn.reproduce.grid import cells_of
from bagcn.study.recipe import load_recipe
from report.store import GPU, TESTS, cell, write_store


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return report_content(write_store(tmp_path_factory.mktemp("store")))[0]


def study(content: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in content["studies"] if each["name"] == name)


def test_every_study_is_there_even_without_runs(content: dict[str, Any]) -> None:
    assert [each["name"] for each in content["studies"]] == ["bench", *NAMES]
    assert content["runs"] == sum(map(len, TESTS.values()))
    large = study(content, "table-large")
    assert large["runs"] == 0
    assert "0 of" in large["state"]
    assert study(content, "shortcuts")["state"].startswith("0 of 10 models are measured")


def test_a_number_knows_its_runs_wherever_it_is_shown(content: dict[str, Any]) -> None:
    (small,) = study(content, "table-small")["tables"]
    row = next(r for r in small["rows"] if (r["name"], r["variant"]) == ("GCN", "official"))
    shown = row["cells"][0]
    assert (shown["mean"], shown["n"], shown["wanted"], shown["paper"]) == (81.333, 6, 20, 81.7)
    number = content["numbers"][shown["number"]]
    recipe = cell(load_study("table-small"), "GCN", "Cora").recipes[0]
    assert number["recipes"] == [recipe.hash]
    assert number["source"] == recipe.source
    assert [(run[1], run[2]) for run in number["runs"]] == [
        (seed, test / 100) for seed, test in enumerate(TESTS["table-small", "GCN", "Cora"])
    ]
    assert {content["words"][run[6]] for run in number["runs"]} == {GPU}
    (bench,) = study(content, "bench")["tables"]
    elsewhere = next(r for r in bench["rows"] if (r["name"], r["variant"]) == ("GCN", "official"))
    assert elsewhere["cells"][0]["number"] == shown["number"]
    assert {r["name"] for r in bench["rows"]} == {"GCN", "MLP", "BAGCN-add"}  # that have runs
    robust = study(content, "robustness")["tables"][0]
    clean = next(r for r in robust["rows"] if r["name"] == "GCN")["cells"][0]
    assert clean["number"] == shown["number"]


def test_numbers_of_several_random_graphs_name_all_recipes(content: dict[str, Any]) -> None:
    robust = study(content, "robustness")
    glance = robust["tables"][0]
    assert (glance["group"], glance["part"]) == ("Cora", "at a glance")
    row = next(r for r in glance["rows"] if r["name"] == "GCN")
    added, fooled = (content["numbers"][row["cells"][k]["number"]] for k in (1, -2))
    assert len(added["recipes"]) == 2
    assert (fooled["attack"], fooled["command"]) == ("adaptive:0.25", "bagcn reproduce robustness")


def test_the_commands_make_these_runs() -> None:
    plain = load_recipe("bagcn-add", "citeseer")
    assert command(plain, 20) == "bagcn train citeseer --model bagcn-add --seeds 20"
    changed = plain.changed({"consistency": 0.25, "target": "pairwise", "lr": 0.5})
    assert command(changed, 3) == (
        "bagcn train citeseer --model bagcn-add --seeds 3 --set lr=0.5 --set consistency=0.25 "
        "--set target=pairwise"
    )
    split = plain.changed({"split": "per-class:5/30"})
    assert command(split, 1).endswith("--split per-class:5/30")
    attacked = load_recipe("gcn", "cora").changed({"graph": "metattack:0.05"})
    assert command(attacked, 1).endswith("--seeds 1 --set graph=metattack:0.05")


@pytest.mark.parametrize("name", ["ablation", "ego-local", "train-size", "lambda"])
def test_a_command_says_all_that_a_cell_changes(name: str) -> None:
    from bagcn.study.values import parse_settings

    for made in cells_of(load_study(name)):
        (recipe,) = made.recipes
        words = shlex.split(command(recipe, 20))
        pairs = [words[k + 1] for k, word in enumerate(words) if word == "--set"]
        again = load_recipe(recipe.model, recipe.dataset).changed(parse_settings(pairs))
        if "--split" in words:
            again = again.changed({"split": words[words.index("--split") + 1]})
        assert again.hash == recipe.hash


def test_an_empty_store_is_no_error(tmp_path: Path) -> None:
    content, pages = report_content(tmp_path)
    assert content["numbers"] == []
    assert len(pages) == len(NAMES) + 1
